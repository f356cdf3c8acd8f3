// SPDX-License-Identifier: BSD-3-Clause
// respawn DEATHS: spawns workers, and others in their place whenever somebody has killed one of them.
#include <mpi-ext.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kWorkers = 3, kRounds = 30 };

static void give_up(const char* what, int value) {
  printf("%s: %d\n", what, value);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

// Sums with the other side, until one is gone (1) or the bosses have had enough (0).
static int work(MPI_Comm inter, int boss, int others, int last) {
  for (int round = 0;; ++round) {
    const int mine = boss ? last && round == kRounds : 1;
    int theirs = -1;
    int code = MPI_Allreduce(&mine, &theirs, 1, MPI_INT, MPI_SUM, inter);
    int flag = code == MPI_SUCCESS;
    if (MPIX_Comm_agree(inter, &flag) != MPI_SUCCESS || !flag) return 1;
    if (boss && theirs != others) give_up("a sum is wrong", theirs);
    if (boss ? mine : theirs > 0) return 0;
  }
}

int main(int argc, char** argv) {
  const int team = argc > 2 ? atoi(argv[2]) : -1;  // of a worker
  const char* number = getenv("PMI_RANK");
  if (team >= 0) {
    printf("rank %d is pid %d\n", team * kWorkers + (number ? atoi(number) : 0), (int)getpid());
    fflush(stdout);
  }
  MPI_Comm inter;
  int rank, bosses;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_get_parent(&inter);
  if (team >= 0) {
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_remote_size(inter, &bosses);
    work(inter, 0, bosses, 0);
    MPI_Comm_disconnect(&inter);
    MPI_Finalize();
    return 0;
  }
  const int deaths = argc > 1 ? atoi(argv[1]) : 1;
  for (int lost = 0, again = 1; again; lost += again) {
    char word[12];
    snprintf(word, sizeof word, "%d", lost);
    char* words[] = {argv[1], word, NULL};
    int code = MPI_Comm_spawn(argv[0], words, kWorkers, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                              MPI_ERRCODES_IGNORE);
    int good = code == MPI_SUCCESS, all_good = good;
    MPIX_Comm_agree(MPI_COMM_WORLD, &all_good);
    if (good != all_good) give_up("not all bosses have their workers in team", lost);
    again = 1;
    if (good) {
      MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
      again = work(inter, 1, kWorkers, lost == deaths);
      MPI_Comm_disconnect(&inter);
    }
    if (lost > deaths) give_up("too many teams are lost", lost);
  }
  MPI_Finalize();
  if (rank == 0) printf("ok after %d\n", deaths);
  return 0;
}
