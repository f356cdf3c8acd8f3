! SPDX-License-Identifier: BSD-3-Clause
! Module mpi (MPI 5.0, 19.1.3): handles are integers; constants and interfaces are generated.
module mpi
  use, intrinsic :: iso_c_binding, only : C_PTR
  use mpi_f08_types, only : MPI_Status
  implicit none
  private :: C_PTR

  include 'mpi_constants.inc'

  external :: MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, MPI_DUP_FN
  external :: MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, MPI_COMM_DUP_FN
  external :: MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, MPI_TYPE_DUP_FN
  external :: MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, MPI_WIN_DUP_FN
  external :: MPI_CONVERSION_FN_NULL

  include 'mpi_interfaces.inc'

  interface
    subroutine MPI_STATUS_F2F08(f_status, f08_status, ierror)
      import
      integer, intent(in) :: f_status(MPI_STATUS_SIZE)
      type(MPI_Status), intent(out) :: f08_status
      integer, intent(out) :: ierror
    end subroutine
    subroutine MPI_STATUS_F082F(f08_status, f_status, ierror)
      import
      type(MPI_Status), intent(in) :: f08_status
      integer, intent(out) :: f_status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine
    subroutine MPI_F_SYNC_REG(buf)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
      type(*), dimension(*) :: buf
    end subroutine
  end interface
  interface MPI_SIZEOF
    subroutine MPI_SIZEOF_CFI(x, size, ierror) bind(C, name="mpi_sizeof_f08ts_")
      type(*), dimension(..) :: x
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine
  end interface
end module mpi
