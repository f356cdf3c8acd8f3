// SPDX-License-Identifier: BSD-3-Clause
// Groups (MPI 5.0, 7.3). The algebra is in object/group.cc; here are the checks and the handles.
#include <algorithm>
#include <span>

#include "entry_world.h"
#include "object/pool.h"
#include "world/instance.h"

namespace vicinity::world {
namespace {

// An empty result is MPI_GROUP_EMPTY itself, as the standard allows and programs test for. `own` is a group
// that the new one was made from: it tells which process we are and which session the group belongs to.
Status give(std::vector<Proc> procs, const Group& one, const Group& other, Group** out) {
  if (procs.empty()) {
    *out = object::lookup<Group>(MPI_GROUP_EMPTY);
    return kOk;
  }
  Group* group = object::make_group(std::move(procs), instance().self());
  if (!group) return fail(MPI_ERR_NO_MEM, "no memory for a group of processes");
  group->session = one.session ? one.session : other.session;
  *out = group;
  return kOk;
}

std::span<const int> list(int n, const int* ranks) { return {ranks, static_cast<size_t>(n)}; }

Status check_count(int n) { return n < 0 ? fail(MPI_ERR_ARG, "argument `n` is %d", n) : kOk; }

}  // namespace

namespace entry {

Status group_size(Group& group, int* size) {
  *size = group.size();
  return kOk;
}

Status group_rank(Group& group, int* rank) {
  *rank = group.rank;
  return kOk;
}

Status group_translate_ranks(Group& group1, int n, const int* ranks1, Group& group2, int* ranks2) {
  VICINITY_TRY(check_count(n));
  for (int i = 0; i < n; ++i) {
    const int rank = ranks1[i];
    if (rank == MPI_PROC_NULL) {
      ranks2[i] = MPI_PROC_NULL;
      continue;
    }
    if (rank < 0 || rank >= group1.size())
      return fail(MPI_ERR_RANK, "rank %d (number %d of the list) is outside the group of %d", rank, i,
                  group1.size());
    ranks2[i] = group2.rank_of(group1.procs[static_cast<size_t>(rank)]);
  }
  return kOk;
}

Status group_compare(Group& group1, Group& group2, int* result) {
  *result = object::group_compare(group1, group2);
  return kOk;
}

Status group_union(Group& group1, Group& group2, Group** newgroup) {
  return give(object::group_union(group1, group2), group1, group2, newgroup);
}

Status group_intersection(Group& group1, Group& group2, Group** newgroup) {
  return give(object::group_intersection(group1, group2), group1, group2, newgroup);
}

Status group_difference(Group& group1, Group& group2, Group** newgroup) {
  return give(object::group_difference(group1, group2), group1, group2, newgroup);
}

Status group_incl(Group& group, int n, const int* ranks, Group** newgroup) {
  VICINITY_TRY(check_count(n));
  VICINITY_TRY(object::check_ranks(group, list(n, ranks)));
  return give(object::group_include(group, list(n, ranks)), group, group, newgroup);
}

Status group_excl(Group& group, int n, const int* ranks, Group** newgroup) {
  VICINITY_TRY(check_count(n));
  VICINITY_TRY(object::check_ranks(group, list(n, ranks)));
  return give(object::group_exclude(group, list(n, ranks)), group, group, newgroup);
}

Status group_range_incl(Group& group, int n, int (*ranges)[3], Group** newgroup) {
  VICINITY_TRY(check_count(n));
  Result<std::vector<int>> ranks = object::expand_ranges(group, n, ranges);
  if (!ranks.ok()) return ranks.status();
  VICINITY_TRY(object::check_ranks(group, *ranks));
  return give(object::group_include(group, *ranks), group, group, newgroup);
}

Status group_range_excl(Group& group, int n, int (*ranges)[3], Group** newgroup) {
  VICINITY_TRY(check_count(n));
  Result<std::vector<int>> ranks = object::expand_ranges(group, n, ranges);
  if (!ranks.ok()) return ranks.status();
  VICINITY_TRY(object::check_ranks(group, *ranks));
  return give(object::group_exclude(group, *ranks), group, group, newgroup);
}

Status group_free(MPI_Group* group) {
  Group* object = object::lookup<Group>(*group);
  if (!object) return fail(MPI_ERR_GROUP, "argument `group` is no group");
  // Freeing MPI_GROUP_EMPTY is harmless: operations with an empty result return it (7.3.2).
  object::release(object);
  *group = MPI_GROUP_NULL;
  return kOk;
}

}  // namespace entry
}  // namespace vicinity::world
