// SPDX-License-Identifier: BSD-3-Clause
// Intercommunicators: creation, groups, traffic, dup, split, create, merge in both orders.
#include "check.h"

static MPI_Comm local, inter;
static int side, mine, others, me;

static void traffic(MPI_Comm comm) {
  int remote, got = -1, token = side * 100 + me, inter_flag = 0;
  OK(MPI_Comm_test_inter(comm, &inter_flag));
  EQUAL(inter_flag, 1);
  OK(MPI_Comm_remote_size(comm, &remote));
  if (me < remote) {  // rank i of one side talks with rank i of the other
    MPI_Status status;
    OK(MPI_Sendrecv(&token, 1, MPI_INT, me, 4, &got, 1, MPI_INT, MPI_ANY_SOURCE, 4, comm, &status));
    EQUAL(got, (1 - side) * 100 + me);
    EQUAL(status.MPI_SOURCE, me);
  }
}

static void groups(void) {
  MPI_Group here, there, both;
  int n, r;
  OK(MPI_Comm_group(inter, &here));
  OK(MPI_Comm_remote_group(inter, &there));
  OK(MPI_Group_size(here, &n));
  EQUAL(n, mine);
  OK(MPI_Group_size(there, &n));
  EQUAL(n, others);
  OK(MPI_Group_rank(here, &r));
  EQUAL(r, me);
  OK(MPI_Group_rank(there, &r));
  EQUAL(r, MPI_UNDEFINED);
  OK(MPI_Group_union(here, there, &both));
  OK(MPI_Group_size(both, &n));
  EQUAL(n, size);
  OK(MPI_Group_free(&here));
  OK(MPI_Group_free(&there));
  OK(MPI_Group_free(&both));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm other, merged;
  int result, n, r, cut = (size + 1) / 3 ? (size + 1) / 3 : 1;
  side = rank >= cut;
  OK(MPI_Comm_split(MPI_COMM_WORLD, side, 0, &local));
  OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, side ? 0 : cut, 9, &inter));
  OK(MPI_Comm_size(inter, &mine));
  OK(MPI_Comm_rank(inter, &me));
  OK(MPI_Comm_remote_size(inter, &others));
  EQUAL(mine, side ? size - cut : cut);
  EQUAL(others, size - mine);
  EQUAL(me, side ? rank - cut : rank);
  traffic(inter);
  groups();
  OK(MPI_Comm_dup(inter, &other));
  OK(MPI_Comm_compare(inter, other, &result));
  EQUAL(result, MPI_CONGRUENT);
  traffic(other);
  OK(MPI_Comm_free(&other));
  for (int high = 0; high < 2; high++) {
    OK(MPI_Intercomm_merge(inter, side == high, &merged));
    OK(MPI_Comm_size(merged, &n));
    OK(MPI_Comm_rank(merged, &r));
    EQUAL(n, size);
    EQUAL(r, side == high ? others + me : me);
    int sum = 0;
    OK(MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, merged));
    EQUAL(sum, size * (size - 1) / 2);
    OK(MPI_Comm_free(&merged));
  }
  // Split: ranks of equal parity on both sides; a colour that one side lacks gives MPI_COMM_NULL.
  OK(MPI_Comm_split(inter, me % 2, 0, &other));
  if (me % 2 == 0 || others > 1) {
    OK(MPI_Comm_remote_size(other, &n));
    EQUAL(n, (others + 1 - me % 2) / 2);
    OK(MPI_Comm_free(&other));
  } else {
    CHECK(other == MPI_COMM_NULL);
  }
  // Create: the first rank of each side.
  MPI_Group group, first;
  OK(MPI_Comm_group(inter, &group));
  OK(MPI_Group_incl(group, 1, &(int){0}, &first));
  OK(MPI_Comm_create(inter, first, &other));
  if (me == 0) {
    traffic(other);
    OK(MPI_Comm_free(&other));
  } else {
    CHECK(other == MPI_COMM_NULL);
  }
  OK(MPI_Group_free(&group));
  OK(MPI_Group_free(&first));
  // From groups, without a bridge communicator.
  MPI_Group world, here, there;
  int a[1][3] = {{0, cut - 1, 1}}, b[1][3] = {{cut, size - 1, 1}};
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  OK(MPI_Group_range_incl(world, 1, side ? b : a, &here));
  OK(MPI_Group_range_incl(world, 1, side ? a : b, &there));
  OK(MPI_Intercomm_create_from_groups(here, 0, there, 0, "org.vicinity.inter", MPI_INFO_NULL,
                                      MPI_ERRORS_RETURN, &other));
  traffic(other);
  OK(MPI_Comm_free(&other));
  OK(MPI_Group_free(&world));
  OK(MPI_Group_free(&here));
  OK(MPI_Group_free(&there));
  OK(MPI_Comm_free(&inter));
  OK(MPI_Comm_free(&local));
  return finish();
}
