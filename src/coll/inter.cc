// SPDX-License-Identifier: BSD-3-Clause
// Collectives on intercommunicators (MPI 5.0, 6.2.2): data goes from each group to the other. Most are
// a local part, a meeting of the two ranks 0, and a local part.
#include "coll/accumulator.h"
#include "coll/build.h"

namespace vicinity::coll::inter {

namespace {

constexpr int kWindow = 32;  // peers with messages in flight at a time

Typed nothing() { return as_bytes(nullptr, 0); }

// Reduces our group's input to its rank 0; returns where the result is (rank 0 only).
Typed reduce_to_leader(Plan& plan, const Reduction& r) {
  Reduction local = r;
  const bool leader = plan.rank == 0;
  local.recv = leader ? plan.like(r.count, *r.type).at : nullptr;
  reduce_binomial(plan, local, 0);
  plan.wait_all();
  return local.output();
}

}  // namespace

void barrier(Plan& plan) {
  const bool leader = plan.rank == 0;
  barrier_flat(plan);  // everyone of this group is here
  plan.wait_all();
  if (leader) {
    plan.recv(nothing(), 0, Side::kOther);
    plan.send(nothing(), 0, Side::kOther);
    plan.wait_all();
  }
  bcast_binomial(plan, nothing(), 0);
}

void bcast(Plan& plan, const Typed& data, int root) {
  if (root == MPI_PROC_NULL) return;
  if (root == MPI_ROOT) {
    plan.send(data, 0, Side::kOther);
    return;
  }
  if (plan.rank == 0) plan.wait(plan.recv(data, root, Side::kOther));
  bcast_binomial(plan, data, 0);
}

void gather(Plan& plan, const Typed& mine, const Blocks& all, int root) {
  if (root == MPI_PROC_NULL) return;
  if (root != MPI_ROOT) {
    if (mine.bytes() > 0) plan.send(mine, root, Side::kOther);
    return;
  }
  for (int peer = 0; peer < plan.others; ++peer)
    if (all.bytes(peer) > 0) plan.recv(all[peer], peer, Side::kOther);
}

void scatter(Plan& plan, const Blocks& all, const Typed& mine, int root) {
  if (root == MPI_PROC_NULL) return;
  if (root != MPI_ROOT) {
    if (mine.bytes() > 0) plan.recv(mine, root, Side::kOther);
    return;
  }
  for (int peer = 0; peer < plan.others; ++peer)
    if (all.bytes(peer) > 0) plan.send(all[peer], peer, Side::kOther);
}

// Only the receiving group knows the sizes of all blocks, so its rank 0 collects them and hands them
// out packed.
void allgather(Plan& plan, const Typed& mine, const Blocks& all) {
  if (mine.bytes() > 0) plan.send(mine, 0, Side::kOther);
  const uint64_t total = all.total(plan.others);
  if (total == 0) return;
  const Typed run = plan.packed(total);
  auto each = [&](auto&& act) {
    MPI_Count at = 0;
    for (int peer = 0; peer < plan.others; ++peer) {
      const auto bytes = static_cast<MPI_Count>(all.bytes(peer));
      if (bytes > 0) act(peer, run.part(at, bytes));
      at += bytes;
    }
  };
  if (plan.rank == 0) each([&](int peer, const Typed& part) { plan.recv(part, peer, Side::kOther); });
  plan.wait_all();
  bcast_binomial(plan, run, 0);
  plan.wait_all();
  each([&](int peer, const Typed& part) { plan.copy(part, all[peer]); });
}

// Both groups count distances in a circle as long as the larger group, so that in round k each rank
// meets at most one other, and that one meets it.
void alltoall(Plan& plan, const Blocks& send, const Blocks& recv) {
  const int circle = plan.size > plan.others ? plan.size : plan.others;
  for (int distance = 0; distance < circle; ++distance) {
    const int from = (plan.rank - distance + circle) % circle, to = (plan.rank + distance) % circle;
    if (from < plan.others && recv.bytes(from) > 0) plan.recv(recv[from], from, Side::kOther);
    if (to < plan.others && send.bytes(to) > 0) plan.send(send[to], to, Side::kOther);
    if (distance % kWindow == kWindow - 1) plan.wait_all();
  }
}

void reduce(Plan& plan, const Reduction& r, int root) {
  if (root == MPI_PROC_NULL) return;
  if (root == MPI_ROOT) {
    plan.recv(r.output(), 0, Side::kOther);
    return;
  }
  const Typed result = reduce_to_leader(plan, r);
  if (plan.rank == 0) plan.send(result, root, Side::kOther);
}

void allreduce(Plan& plan, const Reduction& r) {
  if (r.count == 0) return;
  const Typed ours = reduce_to_leader(plan, r);
  if (plan.rank == 0) {
    plan.recv(r.output(), 0, Side::kOther);
    plan.send(ours, 0, Side::kOther);
    plan.wait_all();
  }
  bcast_binomial(plan, r.output(), 0);
}

void reduce_scatter(Plan& plan, const Reduction& r, const Pieces& pieces) {
  const Typed ours = reduce_to_leader(plan, r);
  const Typed result{r.recv, pieces.count(plan.rank), r.type};
  if (plan.rank != 0) {
    if (result.count > 0) plan.recv(result, 0);
    return;
  }
  const Typed theirs = plan.like(r.count, *r.type);
  plan.recv(theirs, 0, Side::kOther);
  plan.send(ours, 0, Side::kOther);
  plan.wait_all();
  for (int peer = 1; peer < plan.size; ++peer)
    if (pieces.count(peer) > 0) plan.send(theirs.part(pieces.first(peer), pieces.count(peer)), peer);
  plan.copy(theirs.part(0, result.count), result);
}

}  // namespace vicinity::coll::inter
