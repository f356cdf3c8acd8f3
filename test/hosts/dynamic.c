// SPDX-License-Identifier: BSD-3-Clause
// Processes that meet across hosts: spawned ones, and those of another job by accept and connect.
//
//   dynamic spawn HOST    spawns two on that host, talks with them, and lets them go
//   dynamic death HOST    one of those kills itself: errors on both sides, and no hang (mpiexec
//   -enable-recovery) dynamic serve NAME    publishes a port, accepts one job after another until one says
//   that it was the last dynamic visit NAME    connects to it, talks, and disconnects; three times
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "../mpi/check.h"

enum { kChildren = 2, kLarge = 300000, kRounds = 3 };

// Sums over the bridge, then a large message round all of both groups.
static void talk(MPI_Comm inter) {
  int mine = rank + 1, sum = 0, others = 0, me, all;
  OK(MPI_Comm_remote_size(inter, &others));
  OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter));
  EQUAL(sum, others * (others + 1) / 2);
  MPI_Comm merged;
  OK(MPI_Intercomm_merge(inter, 0, &merged));
  MPI_Comm_rank(merged, &me);
  MPI_Comm_size(merged, &all);
  EQUAL(all, size + others);
  static double out[kLarge], in[kLarge];
  const int next = (me + 1) % all, last = (me + all - 1) % all;
  for (int i = 0; i < kLarge; ++i) out[i] = me + i;
  OK(MPI_Sendrecv(out, kLarge, MPI_DOUBLE, next, 7, in, kLarge, MPI_DOUBLE, last, 7, merged,
                  MPI_STATUS_IGNORE));
  for (int i = 0; i < kLarge; i += 999) CHECK(in[i] == last + i);
  OK(MPI_Comm_free(&merged));
}

static int spawn(const char* program, const char* word, const char* host, MPI_Comm* inter) {
  char* words[] = {(char*)word, (char*)host, NULL};
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "host", host);
  const int code =
      MPI_Comm_spawn(program, words, kChildren, info, 0, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE);
  MPI_Info_free(&info);
  return code;
}

static void check_host(const char* host) {
  char name[MPI_MAX_PROCESSOR_NAME];
  int length;
  MPI_Get_processor_name(name, &length);
  CHECK(!strcmp(name, host));
}

// Who waits for the dead is told.
static void after_death(MPI_Comm inter, int victims_side) {
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  int word = 0;
  if (!victims_side) FAILS(MPI_ERR_PROC_ABORTED, MPI_Recv(&word, 1, MPI_INT, 1, 3, inter, MPI_STATUS_IGNORE));
  int code = MPI_SUCCESS;
  for (int i = 0; i < 5 && code == MPI_SUCCESS; ++i) code = MPI_Barrier(inter);
  EQUAL(class_of(code), MPI_ERR_PROC_ABORTED);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const char *what = argc > 1 ? argv[1] : "", *name = argc > 2 ? argv[2] : "";
  char program[4096] = "", port[MPI_MAX_PORT_NAME] = "";
  CHECK(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
  MPI_Comm inter, parent;
  MPI_Comm_get_parent(&parent);
  if (!strcmp(what, "spawn")) {
    if (parent == MPI_COMM_NULL)
      OK(spawn(program, what, name, &inter));
    else
      inter = parent, check_host(name);
    talk(inter);
    OK(MPI_Comm_disconnect(&inter));
  } else if (!strcmp(what, "death")) {
    if (parent == MPI_COMM_NULL)
      OK(spawn(program, what, name, &inter));
    else
      inter = parent;
    talk(inter);
    if (parent != MPI_COMM_NULL && rank == 1) kill(getpid(), SIGKILL);
    after_death(inter, parent != MPI_COMM_NULL);
    OK(MPI_Comm_disconnect(&inter));
  } else if (!strcmp(what, "serve")) {
    if (rank == 0) {
      OK(MPI_Open_port(MPI_INFO_NULL, port));
      OK(MPI_Publish_name(name, MPI_INFO_NULL, port));
    }
    for (int last = 0; !last;) {
      OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
      talk(inter);
      OK(MPI_Bcast(&last, 1, MPI_INT, 0, inter));
      OK(MPI_Comm_disconnect(&inter));
    }
    if (rank == 0) {
      OK(MPI_Unpublish_name(name, MPI_INFO_NULL, port));
      OK(MPI_Close_port(port));
    }
  } else if (!strcmp(what, "visit")) {
    const struct timespec nap = {0, 50000000};
    if (rank == 0)
      for (int i = 0; i < 400 && MPI_Lookup_name(name, MPI_INFO_NULL, port) != MPI_SUCCESS; ++i)
        nanosleep(&nap, NULL);
    for (int round = 1; round <= kRounds; ++round) {
      int last = round == kRounds;
      OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
      talk(inter);
      OK(MPI_Bcast(&last, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter));
      OK(MPI_Comm_disconnect(&inter));
    }
  } else {
    CHECK(!"a word that is known");
  }
  return finish();
}
