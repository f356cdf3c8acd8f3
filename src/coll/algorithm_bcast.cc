// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts. `relative` ranks count from the root, so that the root is always 0.
#include <algorithm>

#include "coll/algorithms.h"

namespace vicinity::coll {

namespace {

int relative_to(const Plan& plan, int root) { return (plan.rank - root + plan.size) % plan.size; }
int absolute(const Plan& plan, int relative, int root) { return (relative + root) % plan.size; }

// Algorithms that cut the data into byte ranges need it in one run: the user's buffer where it is
// dense, else a packed copy, filled before at the root and emptied after elsewhere.
Typed as_run(Plan& plan, const Typed& data, bool root) {
  if (data.type->dense) return run_of(data);
  const Typed run = plan.packed(data.bytes());
  if (root) plan.copy(data, run);
  return run;
}
void from_run(Plan& plan, const Typed& run, const Typed& data, bool root) {
  if (data.type->dense || root) return;
  plan.wait_all();
  plan.copy(run, data);
}

}  // namespace

void bcast_linear(Plan& plan, const Typed& data, int root) {
  if (plan.rank != root) {
    plan.recv(data, root);
    return;
  }
  for (int distance = 1; distance < plan.size; ++distance) plan.send(data, absolute(plan, distance, root));
}

// The parent of a rank is itself without its lowest set bit; children are served farthest first,
// because they have the largest subtrees.
void bcast_binomial(Plan& plan, const Typed& data, int root) {
  const int me = relative_to(plan, root);
  int mask = 1;
  while (mask < plan.size && (me & mask) == 0) mask *= 2;
  if (me != 0) plan.wait(plan.recv(data, absolute(plan, me - mask, root)));
  for (mask /= 2; mask > 0; mask /= 2)
    if (me + mask < plan.size) plan.send(data, absolute(plan, me + mask, root));
}

// Scatter `size` nearly equal slices down a binomial tree, then pass them around a ring.
void bcast_scatter_allgather(Plan& plan, const Typed& data, int root) {
  const int size = plan.size;
  const int me = relative_to(plan, root);
  const Typed run = as_run(plan, data, me == 0);
  const MPI_Count slice = (run.count + size - 1) / size;
  auto range = [&](int first, int past) {
    const MPI_Count from = std::min(first * slice, run.count);
    return run.part(from, std::min(past * slice, run.count) - from);
  };
  int mask = 1;
  while (mask < size && (me & mask) == 0) mask *= 2;
  if (me != 0) {
    const Typed part = range(me, std::min(me + mask, size));
    if (part.count > 0) plan.wait(plan.recv(part, absolute(plan, me - mask, root)));
  }
  for (mask /= 2; mask > 0; mask /= 2) {
    if (me + mask >= size) continue;
    const Typed part = range(me + mask, std::min(me + 2 * mask, size));
    if (part.count > 0) plan.send(part, absolute(plan, me + mask, root));
  }
  plan.wait_all();
  const int left = absolute(plan, me - 1 + size, root), right = absolute(plan, me + 1, root);
  for (int step = 0; step < size - 1; ++step) {
    const int out = (me - step + size) % size, in = (me - step - 1 + size) % size;
    // Receives what it has from the scatter (its whole subtree) once more: the ring stays regular.
    const Typed from_left = range(in, in + 1), to_right = range(out, out + 1);
    if (from_left.count > 0) plan.recv(from_left, left);
    if (to_right.count > 0) plan.send(to_right, right);
    plan.wait_all();
  }
  from_run(plan, run, data, me == 0);
}

// Segments flow along the ranks in order; each rank receives segment k+1 while it passes on segment k.
void bcast_chain(Plan& plan, const Typed& data, int root, uint64_t segment) {
  const int me = relative_to(plan, root);
  const Typed run = as_run(plan, data, me == 0);
  const int parent = absolute(plan, me - 1 + plan.size, root);
  const int child = absolute(plan, me + 1, root);
  const bool last = me == plan.size - 1;
  const auto most = static_cast<MPI_Count>(segment);
  auto piece = [&](MPI_Count first) { return run.part(first, std::min(most, run.count - first)); };
  size_t incoming = 0;
  if (me != 0 && run.count > 0) incoming = plan.recv(piece(0), parent);
  for (MPI_Count first = 0; first < run.count; first += most) {
    const size_t current = incoming;
    if (me != 0 && first + most < run.count) incoming = plan.recv(piece(first + most), parent);
    if (me != 0) plan.wait(current);
    if (!last) plan.send(piece(first), child);
  }
  from_run(plan, run, data, me == 0);
}

}  // namespace vicinity::coll
