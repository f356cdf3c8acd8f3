/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that old programs use and the standard ABI does not have.
 *
 * With `mpicc -fmpi-removed` mpi.h includes this file; a program may also include it itself, and not mpi.h.
 *  - functions of MPI-1 that MPI-3.0 removed, in terms of their successors;
 *  - MPI_Fint and the MPI_*_c2f / MPI_*_f2c conversions, in terms of MPI_*_toint / MPI_*_fromint.
 * What has no successor (MPI_LB and MPI_UB as members of a structure) is not here. */
#ifndef VICINITY_MPI_REMOVED_H
#define VICINITY_MPI_REMOVED_H

#include <mpi.h>

/* Removed in MPI-3.0 (chapter "Removed Interfaces" of the standard). */
#define MPI_Address(location, address) MPI_Get_address(location, address)
#define MPI_Type_struct(count, lengths, displacements, types, newtype) \
    MPI_Type_create_struct(count, lengths, displacements, types, newtype)
#define MPI_Type_hvector(count, length, stride, oldtype, newtype) \
    MPI_Type_create_hvector(count, length, stride, oldtype, newtype)
#define MPI_Type_hindexed(count, lengths, displacements, oldtype, newtype) \
    MPI_Type_create_hindexed(count, lengths, displacements, oldtype, newtype)
#define MPI_Errhandler_create(function, errhandler) MPI_Comm_create_errhandler(function, errhandler)
#define MPI_Errhandler_set(comm, errhandler) MPI_Comm_set_errhandler(comm, errhandler)
#define MPI_Errhandler_get(comm, errhandler) MPI_Comm_get_errhandler(comm, errhandler)
#define MPI_Handler_function MPI_Comm_errhandler_function
/* No datatype has these combiners. They differ, so that a switch may have them all as cases. */
#define MPI_COMBINER_HVECTOR_INTEGER (MPI_UNDEFINED - 1)
#define MPI_COMBINER_HINDEXED_INTEGER (MPI_UNDEFINED - 2)
#define MPI_COMBINER_STRUCT_INTEGER (MPI_UNDEFINED - 3)

#ifdef __cplusplus
#define VICINITY_REMOVED_INLINE inline
#else
#define VICINITY_REMOVED_INLINE static __inline__ __attribute__((unused))
#endif

VICINITY_REMOVED_INLINE int MPI_Type_extent(MPI_Datatype type, MPI_Aint *extent) {
    MPI_Aint lb;
    return MPI_Type_get_extent(type, &lb, extent);
}

VICINITY_REMOVED_INLINE int MPI_Type_lb(MPI_Datatype type, MPI_Aint *lb) {
    MPI_Aint extent;
    return MPI_Type_get_extent(type, lb, &extent);
}

VICINITY_REMOVED_INLINE int MPI_Type_ub(MPI_Datatype type, MPI_Aint *ub) {
    MPI_Aint lb, extent;
    int error = MPI_Type_get_extent(type, &lb, &extent);
    if (error == MPI_SUCCESS) *ub = lb + extent;
    return error;
}

/* Fortran's handles are the integers of MPI_*_toint. */
typedef int MPI_Fint;
#define MPI_Comm_c2f(handle) ((MPI_Fint)MPI_Comm_toint(handle))
#define MPI_Comm_f2c(handle) MPI_Comm_fromint((int)(handle))
#define MPI_Errhandler_c2f(handle) ((MPI_Fint)MPI_Errhandler_toint(handle))
#define MPI_Errhandler_f2c(handle) MPI_Errhandler_fromint((int)(handle))
#define MPI_File_c2f(handle) ((MPI_Fint)MPI_File_toint(handle))
#define MPI_File_f2c(handle) MPI_File_fromint((int)(handle))
#define MPI_Group_c2f(handle) ((MPI_Fint)MPI_Group_toint(handle))
#define MPI_Group_f2c(handle) MPI_Group_fromint((int)(handle))
#define MPI_Info_c2f(handle) ((MPI_Fint)MPI_Info_toint(handle))
#define MPI_Info_f2c(handle) MPI_Info_fromint((int)(handle))
#define MPI_Message_c2f(handle) ((MPI_Fint)MPI_Message_toint(handle))
#define MPI_Message_f2c(handle) MPI_Message_fromint((int)(handle))
#define MPI_Op_c2f(handle) ((MPI_Fint)MPI_Op_toint(handle))
#define MPI_Op_f2c(handle) MPI_Op_fromint((int)(handle))
#define MPI_Request_c2f(handle) ((MPI_Fint)MPI_Request_toint(handle))
#define MPI_Request_f2c(handle) MPI_Request_fromint((int)(handle))
#define MPI_Session_c2f(handle) ((MPI_Fint)MPI_Session_toint(handle))
#define MPI_Session_f2c(handle) MPI_Session_fromint((int)(handle))
#define MPI_Type_c2f(handle) ((MPI_Fint)MPI_Type_toint(handle))
#define MPI_Type_f2c(handle) MPI_Type_fromint((int)(handle))
#define MPI_Win_c2f(handle) ((MPI_Fint)MPI_Win_toint(handle))
#define MPI_Win_f2c(handle) MPI_Win_fromint((int)(handle))

#endif /* VICINITY_MPI_REMOVED_H */
