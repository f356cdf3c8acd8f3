// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v): everyone knows the size of every block. With MPI_IN_PLACE `mine` is all[rank].
#include <algorithm>

#include "coll/algorithms.h"

namespace vicinity::coll {

namespace {

// At most this many peers have messages in flight at a time.
constexpr int kWindow = 32;

}  // namespace

void allgather_linear(Plan& plan, const Typed& mine, const Blocks& all) {
  const int size = plan.size;
  for (int distance = 1; distance < size; ++distance) {
    const int from = (plan.rank - distance + size) % size, to = (plan.rank + distance) % size;
    if (all.bytes(from) > 0) plan.recv(all[from], from);
    if (mine.bytes() > 0) plan.send(mine, to);
    if (distance % kWindow == 0) plan.wait_all();
  }
  plan.copy(mine, all[plan.rank]);
}

void allgather_ring(Plan& plan, const Typed& mine, const Blocks& all) {
  const int size = plan.size;
  const int left = (plan.rank - 1 + size) % size, right = (plan.rank + 1) % size;
  plan.copy(mine, all[plan.rank]);
  for (int step = 0; step < size - 1; ++step) {
    const int out = (plan.rank - step + size) % size, in = (plan.rank - step - 1 + size) % size;
    if (all.bytes(in) > 0) plan.recv(all[in], left);
    if (all.bytes(out) > 0) plan.send(all[out], right);
    plan.wait_all();
  }
}

// Packed blocks in the order rank, rank+1, ...; each round doubles how many are known, for any number
// of ranks and blocks of any size.
void allgather_bruck(Plan& plan, const Typed& mine, const Blocks& all) {
  const int size = plan.size;
  const Typed run = plan.packed(all.total(size));
  // Bytes of blocks rank, rank+1, ... rank+n-1.
  auto bytes_of = [&](int first, int n) {
    if (all.uniform()) return static_cast<MPI_Count>(all.bytes(0)) * n;
    uint64_t sum = 0;
    for (int i = 0; i < n; ++i) sum += all.bytes((first + i) % size);
    return static_cast<MPI_Count>(sum);
  };
  MPI_Count known_bytes = bytes_of(plan.rank, 1);
  plan.copy(mine, run.part(0, known_bytes));
  for (int known = 1; known < size; known *= 2) {
    const int more = std::min(known, size - known);
    const int from = (plan.rank + known) % size, to = (plan.rank - known + size) % size;
    const MPI_Count in = bytes_of(from, more), out = bytes_of(plan.rank, more);
    if (in > 0) plan.recv(run.part(known_bytes, in), from);
    if (out > 0) plan.send(run.part(0, out), to);
    plan.wait_all();
    known_bytes += in;
  }
  MPI_Count at = 0;
  for (int i = 0; i < size; ++i) {
    const int owner = (plan.rank + i) % size;
    const auto bytes = static_cast<MPI_Count>(all.bytes(owner));
    if (i == 0) {
      plan.copy(mine, all[owner]);
    } else if (bytes > 0) {
      plan.copy(run.part(at, bytes), all[owner]);
    }
    at += bytes;
  }
}

void allgather_doubling(Plan& plan, const Typed& mine, const Blocks& all) {
  plan.copy(mine, all[plan.rank]);
  if (all.bytes(0) == 0) return;
  for (int mask = 1; mask < plan.size; mask *= 2) {
    const int peer = plan.rank ^ mask;
    plan.recv(all.range(peer & ~(mask - 1), mask), peer);
    plan.send(all.range(plan.rank & ~(mask - 1), mask), peer);
    plan.wait_all();
  }
}

}  // namespace vicinity::coll
