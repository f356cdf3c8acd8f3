// SPDX-License-Identifier: BSD-3-Clause
// Spawned processes: one, several, several programs; by one parent, by all; a ring through all of them,
// attributes, info keys, errors, letting go.
//
// The children are the same program with words that say what is wanted of them.
#include <unistd.h>

#include "check.h"

enum { kLarge = 50000 };

// A number goes round among all, then a large message.
static void ring(MPI_Comm all) {
  int me, count, got = -1;
  static double out[kLarge], in[kLarge];
  MPI_Comm_rank(all, &me);
  MPI_Comm_size(all, &count);
  const int next = (me + 1) % count, last = (me + count - 1) % count;
  for (int i = 0; i < 20; ++i) {
    const int mine = 1000 * i + me;
    OK(MPI_Sendrecv(&mine, 1, MPI_INT, next, i, &got, 1, MPI_INT, last, i, all, MPI_STATUS_IGNORE));
    EQUAL(got, 1000 * i + last);
  }
  for (int i = 0; i < kLarge; ++i) out[i] = me + i;
  OK(MPI_Sendrecv(out, kLarge, MPI_DOUBLE, next, 99, in, kLarge, MPI_DOUBLE, last, 99, all,
                  MPI_STATUS_IGNORE));
  int wrong = 0;
  for (int i = 0; i < kLarge; ++i) wrong += in[i] != last + i;
  EQUAL(wrong, 0);
  int sum = 0;
  OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, all));
  EQUAL(sum, count * (count - 1) / 2);
}

// Parents are `high` = 0, children 1, so ranks of the merged communicator are known.
static void meet(MPI_Comm inter, int child, int parents, int children) {
  int there, here, me;
  MPI_Comm all, copy;
  OK(MPI_Comm_remote_size(inter, &there));
  OK(MPI_Comm_size(inter, &here));
  EQUAL(there, child ? parents : children);
  EQUAL(here, child ? children : parents);
  MPI_Comm_rank(inter, &me);
  OK(MPI_Intercomm_merge(inter, child, &all));
  int place;
  MPI_Comm_rank(all, &place);
  EQUAL(place, child ? parents + me : me);
  ring(all);
  OK(MPI_Comm_dup(all, &copy));
  ring(copy);
  MPI_Comm near;
  OK(MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near));
  int neighbours;
  MPI_Comm_size(near, &neighbours);
  CHECK(neighbours >= 1 && neighbours <= parents + children);
  ring(near);
  OK(MPI_Comm_free(&near));
  OK(MPI_Comm_free(&copy));
  OK(MPI_Comm_free(&all));
}

static int child(MPI_Comm parent, char** words) {
  const int parents = atoi(words[2]), children = atoi(words[3]), appnum = atoi(words[4]);
  int *value, found, number;
  EQUAL(strcmp(words[5], "two words"), 0);
  EQUAL(words[6] == NULL, 1);
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &found));
  CHECK(found && *value == appnum);
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &found));
  CHECK(found && *value >= 1);
  EQUAL(size, children);
  meet(parent, 1, parents, children);
  OK(MPI_Reduce(&failures, NULL, 1, MPI_INT, MPI_SUM, 0, parent));
  OK(MPI_Comm_disconnect(&parent));
  CHECK(parent == MPI_COMM_NULL);
  OK(MPI_Comm_get_parent(&parent));
  CHECK(parent == MPI_COMM_NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  MPI_Finalize();
  return failures != 0;
}

// What the children found wrong counts at rank 0 of `comm`.
static void collect(MPI_Comm inter, int root) {
  int mine, wrong = 0;
  MPI_Comm_rank(inter, &mine);
  OK(MPI_Reduce(NULL, &wrong, 1, MPI_INT, MPI_SUM, mine == root ? MPI_ROOT : MPI_PROC_NULL, inter));
  EQUAL(wrong, 0);
  OK(MPI_Comm_disconnect(&inter));
}

static void spawn(char* program, MPI_Comm comm, int root, int children) {
  int parents, codes[16];
  char words[2][12];
  MPI_Comm inter;
  MPI_Comm_size(comm, &parents);
  snprintf(words[0], sizeof words[0], "%d", parents);
  snprintf(words[1], sizeof words[1], "%d", children);
  char* argv[] = {"child", words[0], words[1], "0", "two words", NULL};
  for (int i = 0; i < children; ++i) codes[i] = 77;
  OK(MPI_Comm_spawn(program, argv, children, MPI_INFO_NULL, root, comm, &inter, codes));
  for (int i = 0; i < children; ++i) EQUAL(codes[i], MPI_SUCCESS);
  meet(inter, 0, parents, children);
  collect(inter, 0);
}

static void spawn_two_programs(char* program) {
  int codes[3];
  char parents[12];
  MPI_Comm inter;
  snprintf(parents, sizeof parents, "%d", size);
  char *first[] = {"child", parents, "3", "0", "two words", NULL},
       *second[] = {"child", parents, "3", "1", "two words", NULL};
  char *programs[] = {program, program}, **argvs[] = {first, second};
  const int counts[] = {1, 2};
  MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Info_create(&infos[1]);
  MPI_Info_set(infos[1], "wdir", "/");
  MPI_Info_set(infos[1], "nobody_knows_this_key", "x");
  OK(MPI_Comm_spawn_multiple(2, programs, argvs, counts, infos, 0, MPI_COMM_WORLD, &inter, codes));
  for (int i = 0; i < 3; ++i) EQUAL(codes[i], MPI_SUCCESS);
  MPI_Info_free(&infos[1]);
  meet(inter, 0, size, 3);
  collect(inter, 0);
}

static void errors(void) {
  MPI_Comm inter = MPI_COMM_SELF;
  int codes[2] = {0, 0};
  FAILS(MPI_ERR_SPAWN, MPI_Comm_spawn("/nowhere/no program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0,
                                      MPI_COMM_WORLD, &inter, codes));
  EQUAL(codes[0], MPI_ERR_SPAWN);
  EQUAL(codes[1], MPI_ERR_SPAWN);
  FAILS(MPI_ERR_ROOT,
        MPI_Comm_spawn("x", MPI_ARGV_NULL, 1, MPI_INFO_NULL, size, MPI_COMM_WORLD, &inter, codes));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm parent;
  char program[4096];
  OK(MPI_Comm_get_parent(&parent));
  if (parent != MPI_COMM_NULL) return child(parent, argv);
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  CHECK(length > 0);
  program[length > 0 ? length : 0] = '\0';
  spawn(program, MPI_COMM_SELF, 0, 1);
  spawn(program, MPI_COMM_WORLD, size - 1, 2);
  spawn(program, MPI_COMM_WORLD, 0, 1);
  spawn_two_programs(program);
  errors();
  return finish();
}
