! SPDX-License-Identifier: BSD-3-Clause
! Callbacks of mpi_f08 (MPI 5.0, 19.3.5): operations, error handlers, attributes, generalised requests.
module callbacks
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
  integer :: handled = 0, deleted = 0, queried = 0
  type(MPI_Comm) :: handled_for

contains

  subroutine twice_the_sum(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    if (datatype /= MPI_INTEGER) error stop 'the operation got another datatype'
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    inout = inout + 2 * in
  end subroutine

  subroutine note_error(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    integer :: class
    call MPI_Error_class(error_code, class)
    handled = class
    handled_for = comm
  end subroutine

  subroutine copy_plus(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = attribute_val_in + extra_state
    flag = comm_keyval /= MPI_KEYVAL_INVALID .and. oldcomm /= MPI_COMM_NULL
    ierror = MPI_SUCCESS
  end subroutine

  subroutine count_deletes(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    if (comm /= MPI_COMM_NULL .and. comm_keyval > 0) deleted = deleted + int(attribute_val - extra_state)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine query(extra_state, status, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    queried = int(extra_state)
    call MPI_Status_set_elements(status, MPI_INTEGER, 3, ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
    status%MPI_SOURCE = 11
    status%MPI_TAG = 12
  end subroutine

  subroutine forget(extra_state, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    extra_state = 0
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra_state, complete, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    if (.not. complete) extra_state = extra_state + 1
    ierror = MPI_SUCCESS
  end subroutine
end module callbacks

program f08_callbacks
  use callbacks
  implicit none
  integer :: rank, n, value, keyval, code, length
  integer(kind=MPI_ADDRESS_KIND) :: attribute
  logical :: flag
  type(MPI_Op) :: op
  type(MPI_Errhandler) :: handler
  type(MPI_Comm) :: copy
  type(MPI_Request) :: request
  type(MPI_Status) :: status

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)

  call MPI_Op_create(twice_the_sum, .false., op)
  call MPI_Reduce(1, value, 1, MPI_INTEGER, op, 0, MPI_COMM_WORLD)
  if (rank == 0) call expect(value == 2 * (n - 1) + 1, 'operation')
  call MPI_Op_free(op)

  call MPI_Comm_dup(MPI_COMM_WORLD, copy)
  call MPI_Comm_create_errhandler(note_error, handler)
  call MPI_Comm_set_errhandler(copy, handler)
  call MPI_Send(value, 1, MPI_INTEGER, n + 7, 0, copy, code)
  call expect(code /= MPI_SUCCESS .and. handled == MPI_ERR_RANK .and. handled_for == copy, 'error handler')
  call MPI_Errhandler_free(handler)
  call MPI_Comm_free(copy)

  call MPI_Comm_create_keyval(copy_plus, count_deletes, keyval, 5_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, 30_MPI_ADDRESS_KIND)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy)
  call MPI_Comm_get_attr(copy, keyval, attribute, flag)
  call expect(flag .and. attribute == 35, 'attribute copied')
  call MPI_Comm_free(copy)
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval)
  call expect(deleted == 30 + 25, 'attributes deleted')
  call MPI_Comm_free_keyval(keyval)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, attribute, flag)
  call expect(flag .and. attribute >= 32767, 'predefined attribute')

  call MPI_Grequest_start(query, forget, cancel, 77_MPI_ADDRESS_KIND, request)
  call MPI_Grequest_complete(request)
  call MPI_Wait(request, status)
  call MPI_Get_count(status, MPI_INTEGER, length)
  call expect(queried == 77 .and. length == 3 .and. status%MPI_TAG == 12, 'generalised request')
  if (rank == 0) print '(a)', 'ok'
  call MPI_Finalize()

contains

  include 'fortran/expect.inc'
end program f08_callbacks
