// SPDX-License-Identifier: BSD-3-Clause
// Groups: set operations and their order, ranges, translation, comparison.
#include "check.h"

static MPI_Group world;

static void expect(MPI_Group group, int n, const int* ranks) {  // ranks in world
  int got = -1, *mine = malloc((n + 1) * sizeof(int)), *theirs = malloc((n + 1) * sizeof(int));
  OK(MPI_Group_size(group, &got));
  EQUAL(got, n);
  for (int i = 0; i < n; i++) mine[i] = i;
  if (got == n) OK(MPI_Group_translate_ranks(group, n, mine, world, theirs));
  for (int i = 0; got == n && i < n; i++) EQUAL(theirs[i], ranks[i]);
  free(mine), free(theirs);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  if (size < 4) {
    if (rank == 0) printf("needs 4 ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Group a, b, c;
  int result, r, n;
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  OK(MPI_Group_rank(world, &r));
  EQUAL(r, rank);
  OK(MPI_Group_incl(world, 3, (int[]){2, 0, 3}, &a));
  expect(a, 3, (int[]){2, 0, 3});
  OK(MPI_Group_incl(world, 2, (int[]){3, 1}, &b));
  OK(MPI_Group_union(a, b, &c));  // all of a in its order, then what only b has
  expect(c, 4, (int[]){2, 0, 3, 1});
  OK(MPI_Group_compare(c, world, &result));
  EQUAL(result, size == 4 ? MPI_SIMILAR : MPI_UNEQUAL);
  OK(MPI_Group_free(&c));
  OK(MPI_Group_intersection(a, b, &c));
  expect(c, 1, (int[]){3});
  OK(MPI_Group_free(&c));
  OK(MPI_Group_difference(a, b, &c));
  expect(c, 2, (int[]){2, 0});
  OK(MPI_Group_compare(c, a, &result));
  EQUAL(result, MPI_UNEQUAL);
  OK(MPI_Group_free(&c));
  OK(MPI_Group_difference(a, a, &c));
  OK(MPI_Group_size(c, &n));
  EQUAL(n, 0);
  OK(MPI_Group_compare(c, MPI_GROUP_EMPTY, &result));
  EQUAL(result, MPI_IDENT);
  OK(MPI_Group_free(&c));
  OK(MPI_Group_excl(a, 1, (int[]){1}, &c));
  expect(c, 2, (int[]){2, 3});
  OK(MPI_Group_free(&c));
  int backwards[2][3] = {{3, 2, -1}, {0, 1, 1}}, out[1][3] = {{1, 3, 2}};
  OK(MPI_Group_range_incl(world, 2, backwards, &c));
  expect(c, 4, (int[]){3, 2, 0, 1});
  OK(MPI_Group_free(&c));
  if (size == 4) {
    OK(MPI_Group_range_excl(world, 1, out, &c));
    expect(c, 2, (int[]){0, 2});
    OK(MPI_Group_free(&c));
  }
  int from[3] = {0, 1, MPI_PROC_NULL}, to[3];
  OK(MPI_Group_translate_ranks(a, 3, from, b, to));
  EQUAL(to[0], MPI_UNDEFINED);
  EQUAL(to[2], MPI_PROC_NULL);
  OK(MPI_Group_rank(a, &r));
  EQUAL(r, rank == 2 ? 0 : rank == 0 ? 1 : rank == 3 ? 2 : MPI_UNDEFINED);
  OK(MPI_Group_free(&a));
  CHECK(a == MPI_GROUP_NULL);
  OK(MPI_Group_free(&b));
  OK(MPI_Group_free(&world));
  return finish();
}
