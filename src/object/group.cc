// SPDX-License-Identifier: BSD-3-Clause
// Groups and their algebra.
#include "object/group.h"

#include <algorithm>

#include "object/pool.h"

namespace vicinity::object {
namespace {

constexpr int kLinear = 16;  // up to this size looking at all members is fastest

// Membership of one group as a bitmap over the process table.
class Members {
 public:
  explicit Members(const Group& group) {
    Proc most = 0;
    for (Proc proc : group.procs) most = std::max(most, proc);
    bits_.resize(group.procs.empty() ? 0 : most + size_t{1});
    for (Proc proc : group.procs) bits_[proc] = true;
  }
  bool has(Proc proc) const { return proc < bits_.size() && bits_[proc]; }

 private:
  std::vector<bool> bits_;
};

}  // namespace

int Group::rank_of(Proc proc) const {
  if (proc < procs.size() && procs[proc] == proc) return static_cast<int>(proc);  // the usual order
  if (size() <= kLinear) {
    for (int i = 0; i < size(); ++i)
      if (procs[static_cast<size_t>(i)] == proc) return i;
    return MPI_UNDEFINED;
  }
  if (sorted.empty()) {
    sorted.reserve(procs.size());
    for (int i = 0; i < size(); ++i) sorted.emplace_back(procs[static_cast<size_t>(i)], i);
    std::sort(sorted.begin(), sorted.end());
  }
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), std::pair<Proc, int>(proc, 0));
  return at != sorted.end() && at->first == proc ? at->second : MPI_UNDEFINED;
}

void Group::finish(Group* group) { destroy(group); }

Group* HandleTraits<Group>::predefined(uintptr_t constant) {
  static Group& empty = []() -> Group& {
    static Group made;
    made.kind = Kind::kGroup;
    made.handle = reinterpret_cast<uintptr_t>(MPI_GROUP_EMPTY);
    return made;
  }();
  return constant == empty.handle ? &empty : nullptr;
}

Group* make_group(std::vector<Proc> procs, Proc self) {
  Group* group = make<Group>();
  if (!group) return nullptr;
  group->procs = std::move(procs);
  group->rank = group->rank_of(self);
  return group;
}

std::vector<Proc> group_union(const Group& a, const Group& b) {
  const Members members(a);
  std::vector<Proc> all = a.procs;
  for (Proc proc : b.procs)
    if (!members.has(proc)) all.push_back(proc);
  return all;
}

std::vector<Proc> group_intersection(const Group& a, const Group& b) {
  const Members members(b);
  std::vector<Proc> both;
  for (Proc proc : a.procs)
    if (members.has(proc)) both.push_back(proc);
  return both;
}

std::vector<Proc> group_difference(const Group& a, const Group& b) {
  const Members members(b);
  std::vector<Proc> rest;
  for (Proc proc : a.procs)
    if (!members.has(proc)) rest.push_back(proc);
  return rest;
}

std::vector<Proc> group_include(const Group& group, std::span<const int> ranks) {
  std::vector<Proc> chosen;
  chosen.reserve(ranks.size());
  for (int rank : ranks) chosen.push_back(group.procs[static_cast<size_t>(rank)]);
  return chosen;
}

std::vector<Proc> group_exclude(const Group& group, std::span<const int> ranks) {
  std::vector<bool> out(group.procs.size());
  for (int rank : ranks) out[static_cast<size_t>(rank)] = true;
  std::vector<Proc> rest;
  for (size_t i = 0; i < group.procs.size(); ++i)
    if (!out[i]) rest.push_back(group.procs[i]);
  return rest;
}

int group_compare(const Group& a, const Group& b) {
  if (a.procs == b.procs) return MPI_IDENT;
  if (a.procs.size() != b.procs.size()) return MPI_UNEQUAL;
  const Members members(a);
  for (Proc proc : b.procs)
    if (!members.has(proc)) return MPI_UNEQUAL;
  return MPI_SIMILAR;
}

Status check_ranks(const Group& group, std::span<const int> ranks) {
  std::vector<bool> seen(group.procs.size());
  for (size_t i = 0; i < ranks.size(); ++i) {
    const int rank = ranks[i];
    if (rank < 0 || rank >= group.size())
      return fail(MPI_ERR_RANK, "rank %d (number %zu of the list) is outside the group of %d", rank, i,
                  group.size());
    if (seen[static_cast<size_t>(rank)])
      return fail(MPI_ERR_RANK, "rank %d appears twice (again as number %zu of the list)", rank, i);
    seen[static_cast<size_t>(rank)] = true;
  }
  return kOk;
}

Result<std::vector<int>> expand_ranges(const Group& group, int count, const int (*ranges)[3]) {
  std::vector<int> ranks;
  for (int i = 0; i < count; ++i) {
    const int64_t first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];
    if (stride == 0) return fail(MPI_ERR_ARG, "range %d has stride 0", i);
    if (first < 0 || first >= group.size() || last < 0 || last >= group.size())
      return fail(MPI_ERR_RANK, "range %d goes from rank %d to %d, the group has %d", i, ranges[i][0],
                  ranges[i][1], group.size());
    if ((first < last && stride < 0) || (first > last && stride > 0))
      return fail(MPI_ERR_ARG, "range %d goes from %d to %d with stride %d, which never arrives", i,
                  ranges[i][0], ranges[i][1], ranges[i][2]);
    for (int64_t rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride)
      ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

}  // namespace vicinity::object
