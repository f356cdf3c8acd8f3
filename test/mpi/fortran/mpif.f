! SPDX-License-Identifier: BSD-3-Clause
! mpif.h in fixed form: messages, MPI-1's attributes, sums, time.
      program main
      implicit none
      include 'mpif.h'
      integer ierr, rank, n, x, total, keyval, extra, val
      integer status(MPI_STATUS_SIZE)
      logical flag, good
      double precision began
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, n, ierr)
      good = .true.
      began = MPI_WTIME()
      x = rank
      if (rank .eq. 0) call MPI_SEND(x, 1, MPI_INTEGER, 1, 9,
     &    MPI_COMM_WORLD, ierr)
      if (rank .eq. 1) then
        call MPI_RECV(x, 1, MPI_INTEGER, MPI_ANY_SOURCE, 9,
     &    MPI_COMM_WORLD, status, ierr)
        good = x .eq. 0 .and. status(MPI_SOURCE) .eq. 0
      endif
      call MPI_ALLREDUCE(rank, total, 1, MPI_INTEGER, MPI_SUM,
     &    MPI_COMM_WORLD, ierr)
      good = good .and. total .eq. n * (n - 1) / 2
      extra = 1
      call MPI_KEYVAL_CREATE(MPI_DUP_FN, MPI_NULL_DELETE_FN, keyval,
     &    extra, ierr)
      val = 17
      call MPI_ATTR_PUT(MPI_COMM_WORLD, keyval, val, ierr)
      val = 0
      call MPI_ATTR_GET(MPI_COMM_WORLD, keyval, val, flag, ierr)
      good = good .and. flag .and. val .eq. 17
      good = good .and. MPI_WTIME() .ge. began
      if (.not. good) call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) print '(a)', 'ok'
      call MPI_FINALIZE(ierr)
      end
