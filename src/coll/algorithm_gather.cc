// SPDX-License-Identifier: BSD-3-Clause
// Gather and scatter. The binomial forms move packed bytes of whole subtrees; relative ranks count
// from the root, and a subtree is a range of them.
#include <algorithm>

#include "coll/algorithms.h"

namespace vicinity::coll {

namespace {

// The subtree of `me` is [me, me + reach) relative ranks; reach is its lowest set bit.
int reach_of(int me, int size) {
  int mask = 1;
  while (mask < size && (me & mask) == 0) mask *= 2;
  return mask;
}

}  // namespace

void gather_linear(Plan& plan, const Typed& mine, const Blocks& all, int root) {
  if (plan.rank != root) {
    if (mine.bytes() > 0) plan.send(mine, root);
    return;
  }
  for (int peer = 0; peer < plan.size; ++peer)
    if (peer != root && all.bytes(peer) > 0) plan.recv(all[peer], peer);
  plan.copy(mine, all[root]);
}

void scatter_linear(Plan& plan, const Blocks& all, const Typed& mine, int root) {
  if (plan.rank != root) {
    if (mine.bytes() > 0) plan.recv(mine, root);
    return;
  }
  for (int distance = 1; distance < plan.size; ++distance) {
    const int peer = (root + distance) % plan.size;
    if (all.bytes(peer) > 0) plan.send(all[peer], peer);
  }
  plan.copy(all[root], mine);
}

void gather_binomial(Plan& plan, const Typed& mine, const Blocks& all, int root) {
  const int size = plan.size;
  const int me = (plan.rank - root + size) % size;
  const uint64_t block = me == 0 ? all.bytes(root) : mine.bytes();
  if (block == 0) return;
  const int reach = reach_of(me, size);
  const int kept = std::min(reach, size - me);  // ranks in this subtree
  if (me != 0 && kept == 1) {
    plan.send(mine, (me - reach + root) % size);
    return;
  }
  // The root places ranges that do not wrap around straight into the user's buffer.
  const Typed run = me == 0 && root == 0 ? Typed() : plan.packed(static_cast<uint64_t>(kept) * block);
  const auto bytes = static_cast<MPI_Count>(block);
  for (int mask = 1; mask < reach && me + mask < size; mask *= 2) {
    const int ranks = std::min(mask, size - me - mask);
    const int first = (me + mask + root) % size;
    const bool direct = me == 0 && first + ranks <= size;
    plan.recv(direct ? all.range(first, ranks) : run.part(mask * bytes, ranks * bytes), first);
  }
  if (me != 0) {
    plan.copy(mine, run.part(0, bytes));
    plan.wait_all();
    plan.send(run, (me - reach + root) % size);
    return;
  }
  plan.copy(mine, all[root]);
  plan.wait_all();
  for (int mask = 1; mask < reach && mask < size; mask *= 2) {
    const int ranks = std::min(mask, size - mask);
    const int first = (mask + root) % size;
    if (first + ranks <= size) continue;
    const int before_wrap = size - first;
    plan.copy(run.part(mask * bytes, before_wrap * bytes), all.range(first, before_wrap));
    plan.copy(run.part((mask + before_wrap) * bytes, (ranks - before_wrap) * bytes),
              all.range(0, ranks - before_wrap));
  }
}

void scatter_binomial(Plan& plan, const Blocks& all, const Typed& mine, int root) {
  const int size = plan.size;
  const int me = (plan.rank - root + size) % size;
  const uint64_t block = me == 0 ? all.bytes(root) : mine.bytes();
  if (block == 0) return;
  const int reach = reach_of(me, size);
  const int kept = std::min(reach, size - me);
  const auto bytes = static_cast<MPI_Count>(block);
  if (me != 0 && kept == 1) {
    plan.recv(mine, (me - reach + root) % size);
    return;
  }
  Typed run;
  if (me != 0) {
    run = plan.packed(static_cast<uint64_t>(kept) * block);
    plan.wait(plan.recv(run, (me - reach + root) % size));
  }
  for (int mask = floor_power_of_two(std::max(reach - 1, 1)); mask > 0; mask /= 2) {
    if (mask >= reach || me + mask >= size) continue;
    const int ranks = std::min(mask, size - me - mask);
    const int first = (me + mask + root) % size;
    if (me != 0) {
      plan.send(run.part(mask * bytes, ranks * bytes), first);
    } else if (first + ranks <= size) {
      plan.send(all.range(first, ranks), first);
    } else {
      const int before_wrap = size - first;
      const Typed wrapped = plan.packed(static_cast<uint64_t>(ranks) * block);
      plan.copy(all.range(first, before_wrap), wrapped.part(0, before_wrap * bytes));
      plan.copy(all.range(0, ranks - before_wrap),
                wrapped.part(before_wrap * bytes, (ranks - before_wrap) * bytes));
      plan.send(wrapped, first);
    }
  }
  plan.copy(me == 0 ? all[root] : run.part(0, bytes), mine);
}

}  // namespace vicinity::coll
