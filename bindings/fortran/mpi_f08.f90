! SPDX-License-Identifier: BSD-3-Clause
! Module mpi_f08 (MPI 5.0, 19.1.2): types from mpi_f08_types; constants and interfaces are generated.
module mpi_f08
  use, intrinsic :: iso_c_binding, only : C_PTR
  use mpi_f08_types
  implicit none
  private :: C_PTR

  include 'mpi_f08_constants.inc'
  character(len=1), dimension(1), bind(C, name="mpi_fortran_argv_null_"), target :: MPI_ARGV_NULL
  character(len=1), dimension(1, 1), bind(C, name="mpi_fortran_argvs_null_"), target :: MPI_ARGVS_NULL

  procedure(MPI_Comm_copy_attr_function) :: MPI_COMM_NULL_COPY_FN, MPI_COMM_DUP_FN
  procedure(MPI_Comm_delete_attr_function) :: MPI_COMM_NULL_DELETE_FN
  procedure(MPI_Type_copy_attr_function) :: MPI_TYPE_NULL_COPY_FN, MPI_TYPE_DUP_FN
  procedure(MPI_Type_delete_attr_function) :: MPI_TYPE_NULL_DELETE_FN
  procedure(MPI_Win_copy_attr_function) :: MPI_WIN_NULL_COPY_FN, MPI_WIN_DUP_FN
  procedure(MPI_Win_delete_attr_function) :: MPI_WIN_NULL_DELETE_FN
  procedure(MPI_Datarep_conversion_function) :: MPI_CONVERSION_FN_NULL
  procedure(MPI_Datarep_conversion_function_c) :: MPI_CONVERSION_FN_NULL_C

  include 'mpi_f08_interfaces.inc'

  interface
    subroutine MPI_Status_f2f08(f_status, f08_status, ierror)
      import
      integer, intent(in) :: f_status(MPI_STATUS_SIZE)
      type(MPI_Status), intent(out) :: f08_status
      integer, optional, intent(out) :: ierror
    end subroutine
    subroutine MPI_Status_f082f(f08_status, f_status, ierror)
      import
      type(MPI_Status), intent(in) :: f08_status
      integer, intent(out) :: f_status(MPI_STATUS_SIZE)
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPI_Sizeof
    subroutine MPI_Sizeof_f08ts(x, size, ierror) bind(C, name="mpi_sizeof_f08ts_")
      type(*), dimension(..) :: x
      integer, intent(out) :: size
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPI_F_sync_reg
    subroutine MPI_F_sync_reg_f08ts(buf) bind(C, name="mpi_f_sync_reg_f08ts_")
      type(*), dimension(..), asynchronous :: buf
    end subroutine
  end interface
end module mpi_f08
