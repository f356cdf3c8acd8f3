// SPDX-License-Identifier: BSD-3-Clause
// The datatype constructors, commit and free as the doors call them (MPI 5.0, 5.1).
//
// Constructors whose small and large count forms cannot be told apart by the width of an array are
// `raw` in the specification: a type remembers by which form it was made.
#include "entry_object.h"
#include "object/datatype_create.h"

namespace vicinity::object::entry {
namespace {

Status give(Result<Datatype*> made, Datatype** type) {
  if (made.ok()) *type = *made;
  return made.status();
}

// For raw entries: finds the old type, makes the new one of it, gives its handle.
template <class F>
Status build(MPI_Datatype oldtype, MPI_Datatype* newtype, F make) {
  if (!newtype) return fail(MPI_ERR_ARG, "argument `newtype` is a null pointer");
  Result<Datatype*> old = valid_type(oldtype, "oldtype");
  if (!old.ok()) return old.status();
  Result<Datatype*> made = make(**old);
  if (made.ok()) *newtype = handle_of(**made);
  return made.status();
}

Status hindexed_block(MPI_Count count, MPI_Count blocklength, CountArray displacements, MPI_Datatype oldtype,
                      MPI_Datatype* newtype, bool large) {
  if (count > 0 && !displacements)
    return fail(MPI_ERR_ARG, "argument `array_of_displacements` is a null pointer");
  return build(oldtype, newtype, [&](Datatype& old) {
    return type_hindexed_block(count, blocklength, displacements, old, large);
  });
}

}  // namespace

Status type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return build(oldtype, newtype, [&](Datatype& old) { return object::type_contiguous(count, old, false); });
}
Status type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return build(oldtype, newtype, [&](Datatype& old) { return object::type_contiguous(count, old, true); });
}

Status type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return build(oldtype, newtype,
               [&](Datatype& old) { return object::type_vector(count, blocklength, stride, old, false); });
}
Status type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                     MPI_Datatype* newtype) {
  return build(oldtype, newtype,
               [&](Datatype& old) { return object::type_vector(count, blocklength, stride, old, true); });
}

Status type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                           MPI_Datatype* newtype) {
  return build(oldtype, newtype,
               [&](Datatype& old) { return type_hvector(count, blocklength, stride, old, false); });
}
Status type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                             MPI_Datatype* newtype) {
  return build(oldtype, newtype,
               [&](Datatype& old) { return type_hvector(count, blocklength, stride, old, true); });
}

Status type_create_hindexed_block(int count, int blocklength, const MPI_Aint* displacements,
                                  MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return hindexed_block(count, blocklength, reinterpret_cast<const MPI_Count*>(displacements), oldtype,
                        newtype, false);
}
Status type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count* displacements,
                                    MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return hindexed_block(count, blocklength, displacements, oldtype, newtype, true);
}

Status type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype* newtype) {
  return build(oldtype, newtype, [&](Datatype& old) { return type_resized(old, lb, extent, false); });
}
Status type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype* newtype) {
  return build(oldtype, newtype, [&](Datatype& old) { return type_resized(old, lb, extent, true); });
}

Status type_indexed(MPI_Count count, CountArray blocklengths, CountArray displacements, Datatype& oldtype,
                    Datatype** newtype) {
  return give(object::type_indexed(count, blocklengths, displacements, oldtype, blocklengths.wide()),
              newtype);
}

Status type_create_hindexed(MPI_Count count, CountArray blocklengths, CountArray displacements,
                            Datatype& oldtype, Datatype** newtype) {
  return give(type_hindexed(count, blocklengths, displacements, oldtype, blocklengths.wide()), newtype);
}

Status type_create_indexed_block(MPI_Count count, MPI_Count blocklength, CountArray displacements,
                                 Datatype& oldtype, Datatype** newtype) {
  return give(type_indexed_block(count, blocklength, displacements, oldtype, displacements.wide()), newtype);
}

Status type_create_struct(MPI_Count count, CountArray blocklengths, CountArray displacements,
                          const MPI_Datatype* types, Datatype** newtype) {
  return give(type_struct(count, blocklengths, displacements, types, blocklengths.wide()), newtype);
}

Status type_create_subarray(int ndims, CountArray sizes, CountArray subsizes, CountArray starts, int order,
                            Datatype& oldtype, Datatype** newtype) {
  return give(type_subarray(ndims, sizes, subsizes, starts, order, oldtype, sizes.wide()), newtype);
}

Status type_create_darray(int size, int rank, int ndims, CountArray gsizes, const int* distribs,
                          const int* dargs, const int* psizes, int order, Datatype& oldtype,
                          Datatype** newtype) {
  return give(
      type_darray({size, rank, ndims, gsizes, distribs, dargs, psizes, order}, oldtype, gsizes.wide()),
      newtype);
}

Status type_create_f90_real(int p, int r, Datatype** newtype) { return give(type_f90_real(p, r), newtype); }
Status type_create_f90_complex(int p, int r, Datatype** newtype) {
  return give(type_f90_complex(p, r), newtype);
}
Status type_create_f90_integer(int r, Datatype** newtype) { return give(type_f90_integer(r), newtype); }
Status type_match_size(int typeclass, int size, Datatype** datatype) {
  return give(object::type_match_size(typeclass, size), datatype);
}
Status type_get_value_index(Datatype& value_type, Datatype& index_type, Datatype** pair_type) {
  return give(type_value_index(value_type, index_type), pair_type);
}

Status type_dup(Datatype& oldtype, Datatype** newtype) {
  Result<Datatype*> made = object::type_dup(oldtype);
  if (!made.ok()) return made.status();
  if (Status copied = attributes_copy(oldtype, oldtype.attributes, (*made)->attributes); !copied.ok()) {
    (void)attributes_delete_all(**made, (*made)->attributes);
    release(*made);
    return copied;
  }
  *newtype = *made;
  return kOk;
}

Status type_commit(MPI_Datatype* datatype) {
  Result<Datatype*> type = valid_type(*datatype, "datatype");
  if (type.ok()) commit(**type);
  return type.status();
}

// Attributes go when the last handle of the user goes, even if the type lives on in others.
Status type_free(MPI_Datatype* datatype) {
  Result<Datatype*> type = valid_type(*datatype, "datatype");
  if (!type.ok()) return type.status();
  if ((*type)->permanent) return fail(MPI_ERR_TYPE, "a predefined datatype cannot be freed");
  if ((*type)->owners == 1) VICINITY_TRY(attributes_delete_all(**type, (*type)->attributes));
  (*type)->owners--;
  release(*type);
  *datatype = MPI_DATATYPE_NULL;
  return kOk;
}

}  // namespace vicinity::object::entry
