// SPDX-License-Identifier: BSD-3-Clause
// A rank kills itself at a certain place (the argument); the others notice, repair, and go on.
#include <mpi-ext.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

enum { kBig = 1 << 18 };
static int victim;
static MPI_Comm work;
static int big[kBig];

static void die(void) { raise(SIGKILL); }

static int is_failure(int code) {
  int class = class_of(code);
  return class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED;
}

// What every survivor does after a failure: a communicator of the living, which really works.
static void repair_and_use(int dead) {
  MPI_Comm left;
  int flag = 6 | (rank & 1), living = 0, sum = 0, left_size, is = 0;
  OK(MPIX_Comm_revoke(work));
  OK(MPIX_Comm_is_revoked(work, &is));
  EQUAL(is, 1);
  FAILS(MPIX_ERR_REVOKED, MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, work));
  FAILS(MPIX_ERR_REVOKED, MPI_Barrier(work));
  OK(MPIX_Comm_shrink(work, &left));
  OK(MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN));
  OK(MPI_Comm_size(left, &left_size));
  EQUAL(left_size, size - dead);
  // Agreement is still possible on the old one, and says what it must.
  OK(MPIX_Comm_failure_ack(work));
  int code = MPIX_Comm_agree(work, &flag);
  EQUAL(class_of(code), MPI_SUCCESS);
  EQUAL(flag & 6, 6);
  for (int round = 0; round < 20; ++round) {
    const int one = 1;
    OK(MPI_Allreduce(&one, &living, 1, MPI_INT, MPI_SUM, left));
    EQUAL(living, left_size);
    OK(MPI_Allreduce(MPI_IN_PLACE, big, kBig, MPI_INT, MPI_MAX, left));
  }
  int self, next;
  OK(MPI_Comm_rank(left, &self));
  next = (self + 1) % left_size;
  OK(MPI_Sendrecv(&self, 1, MPI_INT, next, 1, &sum, 1, MPI_INT, (self + left_size - 1) % left_size, 1, left,
                  MPI_STATUS_IGNORE));
  EQUAL(sum, (self + left_size - 1) % left_size);
  OK(MPI_Comm_free(&left));
}

typedef int (*Call)(void);

static int barrier(void) { return MPI_Barrier(work); }
static int small(void) {
  int one = 1, sum;
  return MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, work);
}
static int large(void) { return MPI_Allreduce(MPI_IN_PLACE, big, kBig, MPI_INT, MPI_MAX, work); }
static int bcast(void) { return MPI_Bcast(big, kBig, MPI_INT, size - 1 - victim % size, work); }
static int later(void) {
  MPI_Request request;
  int code = MPI_Ibarrier(work, &request);
  return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static int duplicate(void) {
  MPI_Comm copy;
  int code = MPI_Comm_dup(work, &copy);
  if (code == MPI_SUCCESS) MPI_Comm_free(&copy);
  return code;
}
static int split(void) {
  MPI_Comm half;
  int code = MPI_Comm_split(work, rank % 2, 0, &half);
  if (code == MPI_SUCCESS) MPI_Comm_free(&half);
  return code;
}

// Some rounds go well, then the victim is gone, before or after a part of the others has begun.
static void in_collective(Call call) {
  for (int round = 0; round < 8; ++round) OK(call());
  if (rank == victim) {
    usleep(20000);
    die();
  }
  int code = MPI_SUCCESS;
  for (int round = 0; round < 8 && code == MPI_SUCCESS; ++round) code = call();
  if (!is_failure(code)) failed(__FILE__, __LINE__, "the collective must fail;", class_name(code));
  repair_and_use(1);
}

static void in_receive(void) {
  MPI_Comm friends;
  OK(MPI_Comm_split(work, rank == victim, 0, &friends));
  if (rank == victim) {
    usleep(20000);
    die();
  }
  int value = 7, flag;
  MPI_Request request;
  MPI_Group gone;
  FAILS(MPIX_ERR_PROC_FAILED, MPI_Recv(&value, 1, MPI_INT, victim, 3, work, MPI_STATUS_IGNORE));
  FAILS(MPIX_ERR_PROC_FAILED, MPI_Recv(&value, 1, MPI_INT, victim, 3, work, MPI_STATUS_IGNORE));
  FAILS(MPIX_ERR_PROC_FAILED, MPI_Send(big, kBig, MPI_INT, victim, 3, work));
  FAILS(MPIX_ERR_PROC_FAILED, MPI_Probe(victim, 3, work, MPI_STATUS_IGNORE));
  FAILS(MPIX_ERR_PROC_FAILED, MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, work, MPI_STATUS_IGNORE));
  OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 4, work, &request));
  FAILS(MPIX_ERR_PROC_FAILED_PENDING, MPI_Wait(&request, MPI_STATUS_IGNORE));
  FAILS(MPIX_ERR_PROC_FAILED_PENDING, MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
  CHECK(request != MPI_REQUEST_NULL);
  OK(MPIX_Comm_get_failed(work, &gone));
  int count = -1, acked = -1;
  OK(MPI_Group_size(gone, &count));
  EQUAL(count, 1);
  OK(MPI_Group_free(&gone));
  OK(MPIX_Comm_ack_failed(work, 0, &acked));
  EQUAL(acked, 0);
  OK(MPIX_Comm_ack_failed(work, size, &acked));
  EQUAL(acked, 1);
  OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
  // The living go on talking, also from any source, and in communicators of their own.
  OK(MPI_Barrier(friends));
  const int next = (rank + 1) % size == victim ? (rank + 2) % size : (rank + 1) % size;
  OK(MPI_Send(&rank, 1, MPI_INT, next, 4, work));
  if (!flag) OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  EQUAL(value == rank, next == rank);
  OK(MPI_Barrier(friends));
  OK(MPI_Comm_free(&friends));
  repair_and_use(1);
}

// The first sends after which it dies are lost in the middle of an agreement or a shrink.
static void in_agreement(int shrinking) {
  int round = 0, code = MPI_SUCCESS, flag = 0;
  for (; round < 40 && code == MPI_SUCCESS; ++round) {
    if (rank == victim && round == 5) {
      MPI_Request request;
      flag = 1;
      if (shrinking) {
        MPI_Comm never;
        MPIX_Comm_ishrink(work, &never, &request);
      } else {
        MPIX_Comm_iagree(work, &flag, &request);
      }
      die();
    }
    if (shrinking) {
      MPI_Comm left;
      int left_size;
      OK(MPIX_Comm_shrink(work, &left));
      OK(MPI_Comm_size(left, &left_size));
      CHECK(left_size == size || left_size == size - 1);
      code = left_size == size ? MPI_SUCCESS : MPIX_ERR_PROC_FAILED;
      OK(MPI_Comm_free(&left));
    } else {
      flag = round == 5 ? 3 : 1 << round % 30;
      code = MPIX_Comm_agree(work, &flag);
      CHECK(flag == (1 << round % 30) || round == 5);
    }
  }
  CHECK(is_failure(code));
  int rounds[2] = {round, -round};
  OK(MPIX_Comm_failure_ack(work));
  OK(MPIX_Comm_agree(work, &rounds[0]));
  OK(MPIX_Comm_agree(work, &rounds[1]));
  EQUAL(rounds[0], round);  // all have heard of it in the same round
  EQUAL(rounds[1], -round);
  repair_and_use(1);
}

// All but two die, one after the other, while the rest repairs.
static void in_repair(void) {
  MPI_Comm now = work, next;
  int now_size = size;
  for (int round = 0; now_size > 2; ++round) {
    int now_rank, flag = 1;
    OK(MPI_Comm_rank(now, &now_rank));
    if (rank > 1 && now_rank == (round % 2 ? now_size - 1 : 0) + (round % 2 ? 0 : 2)) {
      if (round % 3 == 0) MPIX_Comm_revoke(now);
      die();
    }
    MPI_Barrier(now);
    MPIX_Comm_revoke(now);
    OK(MPIX_Comm_shrink(now, &next));
    OK(MPI_Comm_set_errhandler(next, MPI_ERRORS_RETURN));
    OK(MPIX_Comm_agree(next, &flag));
    if (now != work) MPI_Comm_free(&now);
    now = next;
    OK(MPI_Comm_size(now, &now_size));
  }
  int one = 1, sum = 0;
  OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, now));
  EQUAL(sum, 2);
  if (now != work) OK(MPI_Comm_free(&now));
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    Call call;
  } collectives[] = {{"barrier", barrier}, {"small", small}, {"large", large}, {"bcast", bcast},
                     {"later", later},     {"dup", duplicate},     {"split", split}};
  const char* where = argc > 1 ? argv[1] : "barrier";
  begin(&argc, &argv);
  victim = argc > 2 ? atoi(argv[2]) : size - 1;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &work));
  OK(MPI_Comm_set_errhandler(work, MPI_ERRORS_RETURN));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (size_t i = 0; i < sizeof collectives / sizeof *collectives; ++i)
    if (!strcmp(where, collectives[i].name)) in_collective(collectives[i].call);
  if (!strcmp(where, "receive")) in_receive();
  if (!strcmp(where, "agree")) in_agreement(0);
  if (!strcmp(where, "shrink")) in_agreement(1);
  if (!strcmp(where, "repair")) in_repair();
  OK(MPI_Comm_free(&work));
  if (victim == 0 && rank == 1 && failures == 0) printf("ok\n");
  return finish();
}
