! SPDX-License-Identifier: BSD-3-Clause
! Module mpi (MPI 5.0, 19.1.3): buffers of any type and rank, statuses as arrays, memory, info, parametrised types.
program f90
  use, intrinsic :: iso_c_binding
  use mpi
  implicit none
  integer :: ierror, rank, n, status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2), requests(2), newtype, info, length
  integer :: indices(2), outcount
  double precision :: there(2, 2), back(4)
  double precision, pointer :: memory(:)
  type(c_ptr) :: address
  character(len=20) :: value
  logical :: flag

  call MPI_INIT(ierror)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, n, ierror)

  there = rank
  call MPI_IRECV(back, 4, MPI_DOUBLE_PRECISION, modulo(rank - 1, n), 3, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_ISEND(there, 4, MPI_DOUBLE_PRECISION, modulo(rank + 1, n), 3, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_WAITALL(2, requests, statuses, ierror)
  call expect(all(back == modulo(rank - 1, n)) .and. statuses(MPI_TAG, 1) == 3, 'arrays of statuses')
  call expect(requests(1) == MPI_REQUEST_NULL, 'request is null')
  call MPI_ISEND(rank, 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_IRECV(length, 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_WAITSOME(2, requests, outcount, indices, MPI_STATUSES_IGNORE, ierror)
  call expect(outcount >= 1 .and. all(indices(1:outcount) >= 1), 'indices begin at one')
  call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, ierror)

  call MPI_ALLOC_MEM(int(8 * 10, MPI_ADDRESS_KIND), MPI_INFO_NULL, address, ierror)
  call c_f_pointer(address, memory, [10])
  memory = 1
  call MPI_ALLREDUCE(MPI_IN_PLACE, memory, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  call expect(all(memory == n), 'allocated memory')
  call MPI_FREE_MEM(memory, ierror)

  call MPI_INFO_CREATE(info, ierror)
  call MPI_INFO_SET(info, '  colour ', ' deep blue ', ierror)
  call MPI_INFO_GET(info, 'colour', 20, value, flag, ierror)
  call expect(flag .and. value == 'deep blue', 'info without blanks around')
  length = 20
  call MPI_INFO_GET_STRING(info, 'colour', length, value, flag, ierror)
  call expect(flag .and. length == 9, 'length of an info value')
  call MPI_INFO_GET(info, 'shape', 20, value, flag, ierror)
  call expect(.not. flag .and. value == 'deep blue', 'a value that is not there changes nothing')
  call MPI_INFO_FREE(info, ierror)

  call MPI_TYPE_CREATE_F90_REAL(15, 30, newtype, ierror)
  call MPI_TYPE_SIZE(newtype, length, ierror)
  call expect(length == 8, 'parametrised type')
  call MPI_RECV(length, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, status, ierror)
  call expect(status(MPI_SOURCE) == MPI_PROC_NULL, 'status of no process')
  call expect(MPI_WTIME() > 0 .and. PMPI_WTIME() > 0 .and. MPI_WTICK() == PMPI_WTICK(), 'clocks, by both names')
  if (rank == 0) print '(a)', 'ok'
  call MPI_FINALIZE(ierror)

contains

  include 'fortran/expect.inc'
end program f90
