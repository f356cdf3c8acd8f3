// SPDX-License-Identifier: BSD-3-Clause
// Deaths among processes that have spawned others, and among those (mpiexec -enable-recovery). The argument
// says who dies, and when; the children are the same program with a second word.
#include <mpi-ext.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

enum { kChildren = 3, kRounds = 8 };
static const char* what;
static char program[4096];
static int is_child;

static void die(void) { raise(SIGKILL); }

static int is_failure(int code) {
  const int class = class_of(code);
  return class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED;
}

static int spawn(const char* words, MPI_Comm* inter) {
  char* argv[] = {(char*)what, (char*)words, NULL};
  int codes[kChildren];
  const int code = MPI_Comm_spawn(program, argv, kChildren, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, codes);
  if (code == MPI_SUCCESS) OK(MPI_Comm_set_errhandler(*inter, MPI_ERRORS_RETURN));
  return code;
}

// Collectives go well, then one process is gone, and none goes well any more. Who leaves the last barrier
// late may hear of the death in it: the victim has left it, so everybody has left the one before.
static void lose_one(MPI_Comm comm, int victim) {
  for (int round = 1; round < kRounds; ++round) OK(MPI_Barrier(comm));
  int code = MPI_Barrier(comm);
  if (victim) die();
  for (int round = 0; round < kRounds && code == MPI_SUCCESS; ++round) code = MPI_Barrier(comm);
  if (!is_failure(code)) failed(__FILE__, __LINE__, "the barrier must fail;", class_name(code));
}

static MPI_Comm repaired(MPI_Comm comm, int living) {
  MPI_Comm left = MPI_COMM_NULL;
  int count = -1, others = 0, inter = 0;
  OK(MPIX_Comm_revoke(comm));
  OK(MPIX_Comm_shrink(comm, &left));
  OK(MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN));
  OK(MPI_Comm_size(left, &count));
  OK(MPI_Comm_test_inter(left, &inter));
  if (inter) OK(MPI_Comm_remote_size(left, &others));
  EQUAL(count + others, living);
  return left;
}

// A communicator of all that really works; returns what all have found wrong.
static int use(MPI_Comm comm) {
  int inter = 0, me, count, got = -1, wrong = 0;
  MPI_Comm all = comm;
  OK(MPI_Comm_test_inter(comm, &inter));
  if (inter) OK(MPI_Intercomm_merge(comm, is_child, &all));
  MPI_Comm_rank(all, &me);
  MPI_Comm_size(all, &count);
  for (int round = 0; round < 20; ++round) {
    OK(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % count, 0, &got, 1, MPI_INT, (me + count - 1) % count, 0, all,
                    MPI_STATUS_IGNORE));
    EQUAL(got, (me + count - 1) % count);
  }
  OK(MPI_Allreduce(&failures, &wrong, 1, MPI_INT, MPI_SUM, all));
  if (inter) OK(MPI_Comm_free(&all));
  return wrong;
}

// Both sides, parents and children, after one of `count` processes of both is lost in `inter`.
static void go_on(MPI_Comm inter, int dies, int count, int own_living) {
  lose_one(inter, dies);
  int flag = 1;
  MPI_Comm left = repaired(inter, count - 1);
  OK(MPIX_Comm_agree(left, &flag));
  EQUAL(flag, 1);
  // The dead is in our world, or it is not.
  if (own_living < size) {
    int code = MPI_SUCCESS;
    for (int round = 0; round < kRounds && code == MPI_SUCCESS; ++round) code = MPI_Barrier(MPI_COMM_WORLD);
    CHECK(is_failure(code));
    MPI_Comm world = repaired(MPI_COMM_WORLD, own_living);
    use(world);
    OK(MPI_Comm_free(&world));
  } else {
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  // The old communicator can be left although one of its members is gone.
  OK(MPI_Comm_disconnect(&inter));
  const int wrong = use(left);
  if (!is_child) EQUAL(wrong, failures);
  OK(MPI_Comm_disconnect(&left));
}

static int child(MPI_Comm parent) {
  OK(MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN));
  int parents = 0;
  OK(MPI_Comm_remote_size(parent, &parents));
  if (!strcmp(what, "child")) go_on(parent, rank == 1, parents + kChildren, kChildren - 1);
  if (!strcmp(what, "parent") || !strcmp(what, "root")) go_on(parent, 0, parents + kChildren, kChildren);
  if (!strcmp(what, "early")) {
    use(parent);
    OK(MPI_Comm_disconnect(&parent));
  }
  if (!strcmp(what, "orphans")) {
    lose_one(parent, 0);
    OK(MPI_Comm_disconnect(&parent));
    use(MPI_COMM_WORLD);
    if (rank == 0 && failures == 0) printf("ok\n");
  }
  if (!strcmp(what, "abort")) {
    OK(MPI_Barrier(parent));
    if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 9);
    MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (!strcmp(what, "alone")) {
    OK(MPI_Comm_disconnect(&parent));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    usleep(300000);
    if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 9);
    for (;;) MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return failures != 0;
}

// Children that never come make MPI_Comm_spawn fail, soon, and that is all.
static void early(void) {
  MPI_Comm inter;
  for (const char* how = "kx"; *how; ++how) {
    const char word[] = {*how, '\0'};
    const double begun = MPI_Wtime();
    FAILS(MPI_ERR_SPAWN, spawn(word, &inter));
    CHECK(MPI_Wtime() - begun < 60);
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  OK(spawn("", &inter));
  EQUAL(use(inter), failures);
  OK(MPI_Comm_disconnect(&inter));
}

int main(int argc, char** argv) {
  what = argc > 1 ? argv[1] : "child";
  const char* how = argc > 2 ? argv[2] : "";
  const char* number = getenv("PMI_RANK");
  if (*how == 'k' && number && *number == '1') die();
  if (*how == 'x') return 0;
  begin(&argc, &argv);
  MPI_Comm parent, inter;
  OK(MPI_Comm_get_parent(&parent));
  is_child = parent != MPI_COMM_NULL;
  if (is_child) return child(parent);
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  CHECK(length > 0);
  if (!strcmp(what, "early")) early();
  // A parent that has died before MPI_Comm_spawn, or dies while the others are in it.
  if (!strcmp(what, "before") || !strcmp(what, "during")) {
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (!strcmp(what, "during")) usleep(rank == size - 1 ? 100000 : 0);
    if (rank == size - 1) die();
    if (!strcmp(what, "before")) usleep(500000);
    FAILS(MPIX_ERR_PROC_FAILED, spawn("", &inter));
  }
  if (!strcmp(what, "child") || !strcmp(what, "parent") || !strcmp(what, "root")) {
    const int victim = !strcmp(what, "parent") ? size - 1 : !strcmp(what, "root") ? 0 : -1;
    OK(spawn("", &inter));
    go_on(inter, rank == victim, size + kChildren, victim < 0 ? size : size - 1);
    if (victim == 0 && rank == 1 && failures == 0) printf("ok\n");
  }
  if (!strcmp(what, "orphans")) {
    OK(spawn("", &inter));
    for (int round = 0; round < kRounds; ++round) OK(MPI_Barrier(inter));
    die();
  }
  if (!strcmp(what, "abort")) {
    OK(spawn("", &inter));
    OK(MPI_Barrier(inter));
    MPI_Recv(NULL, 0, MPI_INT, 1, 0, inter, MPI_STATUS_IGNORE);
    usleep(20000000);
  }
  if (!strcmp(what, "alone")) {
    OK(spawn("", &inter));
    OK(MPI_Comm_disconnect(&inter));
    const double begun = MPI_Wtime();
    for (int on = 1; on;) {
      on = MPI_Wtime() - begun < 1.5;
      OK(MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
  }
  return finish();
}
