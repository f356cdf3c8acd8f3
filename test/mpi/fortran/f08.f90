! SPDX-License-Identifier: BSD-3-Clause
! Module mpi_f08 (MPI 5.0, 19.1.2, 19.1.12): sections with gaps as buffers, statuses, requests, large counts.
program f08
  use mpi_f08
  implicit none
  integer :: rank, n, i, whole(4, 4), part(2, 2), total, length, right, left, index
  integer, allocatable :: counts(:), displs(:), many(:)
  type(MPI_Status) :: status, statuses(2)
  type(MPI_Request) :: requests(2)
  type(MPI_Datatype) :: column
  type(MPI_Comm) :: half
  character(len=MPI_MAX_PROCESSOR_NAME) :: name
  character(len=12) :: short
  integer(kind=MPI_COUNT_KIND) :: elements, large
  logical :: flag

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  right = modulo(rank + 1, n)
  left = modulo(rank - 1, n)
  call MPI_Get_processor_name(name, length)
  call expect(length > 0 .and. len_trim(name) == length, 'processor name')

  ! Sections: nonblocking by a datatype, blocking by a copy.
  whole = reshape([(100 * rank + i, i = 1, 16)], [4, 4])
  part = -1
  call MPI_Irecv(part, 4, MPI_INTEGER, left, 5, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(whole(1:3:2, 2:4:2), 4, MPI_INTEGER, right, 5, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, statuses)
  call expect(all(part == reshape(100 * left + [5, 7, 13, 15], [2, 2])), 'section sent')
  call expect(statuses(1)%MPI_SOURCE == left .and. statuses(1)%MPI_TAG == 5, 'status')
  call expect(requests(1) == MPI_REQUEST_NULL, 'request is null')
  call MPI_Get_count(statuses(1), MPI_INTEGER, length)
  call expect(length == 4, 'count')
  call MPI_Get_count(statuses(1), MPI_INTEGER, elements)
  call expect(elements == 4, 'large count')

  whole = 0
  call MPI_Irecv(whole(2, ::2), 2, MPI_INTEGER, left, 6, MPI_COMM_WORLD, requests(1))
  call MPI_Send([7, 8], 2, MPI_INTEGER, right, 6, MPI_COMM_WORLD)
  call MPI_Waitany(1, requests, index, status)
  call expect(index == 1, 'indices begin at one')
  call expect(whole(2, 1) == 7 .and. whole(2, 3) == 8 .and. sum(whole) == 15, 'section received')

  whole = 0
  call MPI_Sendrecv([1, 2], 2, MPI_INTEGER, right, 7, whole(3, 2:4:2), 2, MPI_INTEGER, left, 7, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call expect(whole(3, 2) == 1 .and. whole(3, 4) == 2 .and. sum(whole) == 3, 'blocking section')

  ! Collectives, in place, with the large form of a count.
  total = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call expect(total == n * (n + 1) / 2, 'in place')
  large = 1
  call MPI_Allreduce(rank, total, large, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
  call expect(total == n - 1, 'large count in a collective')
  allocate (counts(n), displs(n), many(2 * n))
  counts = 1
  displs = [(2 * (i - 1), i = 1, n)]
  many = -1
  call MPI_Allgatherv(rank, 1, MPI_INTEGER, many, counts, displs, MPI_INTEGER, MPI_COMM_WORLD)
  call expect(all(many(1::2) == [(i - 1, i = 1, n)]) .and. all(many(2::2) == -1), 'allgatherv')

  ! Datatypes and communicators are values that can be compared.
  call MPI_Type_vector(2, 1, 4, MPI_INTEGER, column)
  call MPI_Type_commit(column)
  call expect(column /= MPI_DATATYPE_NULL, 'datatypes differ')
  call MPI_Type_size(column, length)
  call expect(length == 8, 'size')
  call MPI_Type_free(column)
  call expect(column == MPI_DATATYPE_NULL, 'freed')
  call MPI_Comm_split(MPI_COMM_WORLD, modulo(rank, 2), rank, half)
  call MPI_Comm_set_name(half, '  half ')
  short = 'xxxxxxxxxxxx'
  call MPI_Comm_get_name(half, short, length)
  call expect(short == '  half' .and. length == 6, 'names keep leading blanks')
  call MPI_Comm_free(half)

  call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, status)
  call expect(.not. flag, 'nothing to probe')
  call MPI_Sizeof(whole, length)
  call expect(length == 4, 'sizeof')
  deallocate (counts, displs, many)
  if (rank == 0) print '(a)', 'ok'
  call MPI_Finalize()

contains

  include 'fortran/expect.inc'
end program f08
