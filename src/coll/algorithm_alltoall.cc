// SPDX-License-Identifier: BSD-3-Clause
// Alltoall(v, w). Ranks start with different peers, so that no rank is everybody's first.
#include <algorithm>

#include "base/progress.h"
#include "coll/algorithms.h"

namespace vicinity::coll {

namespace {

constexpr int kWindow = 32;  // peers with messages in flight at a time

void exchange(Plan& plan, const Blocks& send, const Blocks& recv, int window) {
  const int size = plan.size;
  for (int distance = 1; distance < size; ++distance) {
    const int from = (plan.rank - distance + size) % size, to = (plan.rank + distance) % size;
    if (recv.bytes(from) > 0) plan.recv(recv[from], from);
    if (send.bytes(to) > 0) plan.send(send[to], to);
    if (distance % window == 0) plan.wait_all();
  }
  plan.copy(send[plan.rank], recv[plan.rank]);
}

}  // namespace

void alltoall_linear(Plan& plan, const Blocks& send, const Blocks& recv) {
  exchange(plan, send, recv, kWindow);
}

// One peer at a time keeps the caches warm. Ranks that share a core take all at once instead: who waits for
// one peer would give the core away each time. The messages are the same, so ranks need not agree on this.
void alltoall_pairwise(Plan& plan, const Blocks& send, const Blocks& recv) {
  exchange(plan, send, recv, base::crowded() ? kWindow : 1);
}

// log2(size) rounds of half the data each: block i (of `run`) has i ranks to go up; in the round of
// `mask` all blocks whose distance has that bit move on by it.
void alltoall_bruck(Plan& plan, const Blocks& send, const Blocks& recv) {
  const int size = plan.size;
  const uint64_t block = send.bytes(0);
  if (block == 0) return;
  const auto bytes = static_cast<MPI_Count>(block);
  const Typed run = plan.packed(static_cast<uint64_t>(size) * block);
  const Typed out = plan.packed(static_cast<uint64_t>(size / 2 + 1) * block);
  const Typed in = plan.packed(static_cast<uint64_t>(size / 2 + 1) * block);
  for (int i = 0; i < size; ++i) plan.copy(send[(plan.rank + i) % size], run.part(i * bytes, bytes));
  for (int mask = 1; mask < size; mask *= 2) {
    MPI_Count moved = 0;
    for (int i = mask; i < size; ++i)
      if (i & mask) plan.copy(run.part(i * bytes, bytes), out.part(moved++ * bytes, bytes));
    plan.recv(in.part(0, moved * bytes), (plan.rank - mask + size) % size);
    plan.send(out.part(0, moved * bytes), (plan.rank + mask) % size);
    plan.wait_all();
    moved = 0;
    for (int i = mask; i < size; ++i)
      if (i & mask) plan.copy(in.part(moved++ * bytes, bytes), run.part(i * bytes, bytes));
  }
  for (int i = 0; i < size; ++i) plan.copy(run.part(i * bytes, bytes), recv[(plan.rank - i + size) % size]);
}

Blocks packed_copy(Plan& plan, const Blocks& blocks, int n) {
  const Typed run = plan.packed(blocks.total(n));
  Datatype& byte = object::builtin(MPI_BYTE);
  if (blocks.uniform()) {
    plan.copy(blocks.range(0, n), run);
    return Blocks(run.at, static_cast<MPI_Count>(blocks.bytes(0)), byte);
  }
  char* arrays = plan.bytes(2 * sizeof(MPI_Count) * static_cast<size_t>(n));
  if (!plan.schedule().status.ok()) return Blocks(run.at, 0, byte);
  auto* counts = reinterpret_cast<MPI_Count*>(arrays);
  MPI_Count* displs = counts + n;
  MPI_Count at = 0;
  for (int i = 0; i < n; ++i) {
    counts[i] = static_cast<MPI_Count>(blocks.bytes(i));
    displs[i] = at;
    plan.copy(blocks[i], run.part(at, counts[i]));
    at += counts[i];
  }
  return Blocks(run.at, CountArray(counts), CountArray(displs), byte);
}

}  // namespace vicinity::coll
