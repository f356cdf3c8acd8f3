// SPDX-License-Identifier: BSD-3-Clause
// Allreduce. Every algorithm computes each element of the result either once, or everywhere by the same
// expression, so all ranks get the same bits.
#include <algorithm>

#include "coll/halving.h"

namespace vicinity::coll {

void allreduce_doubling(Plan& plan, const Reduction& r) {
  if (r.count == 0) return;
  const Fold fold(plan);
  if (fold.gives) {
    plan.send(r.input(), plan.rank + 1);
    plan.wait_all();
    plan.recv(r.output(), plan.rank + 1);
    return;
  }
  Accumulator value(plan, r);
  if (fold.takes) {
    plan.wait(plan.recv(value.incoming(), plan.rank - 1));
    value.fold_lower();
  }
  for (int mask = 1; mask < fold.power; mask *= 2) {
    const int peer = fold.rank_at(fold.position ^ mask);
    plan.recv(value.incoming(), peer);
    plan.send(value.value(), peer);
    plan.wait_all();
    if (peer < plan.rank) {
      value.fold_lower();
    } else {
      value.fold_higher();
    }
  }
  value.settle(r.output());
  if (fold.takes) plan.send(r.output(), plan.rank - 1);
}

void allreduce_halving(Plan& plan, const Reduction& r) {
  if (r.count == 0) return;
  const Fold fold(plan);
  const Slices slices(r.count, fold.power);
  halve(plan, r, r.output(), fold, slices);
  spread(plan, r.output(), fold, slices);
}

// Slices travel around the ring: once to be reduced, once to be spread. At every step the slice that
// comes in is one that this rank has not touched yet, so it can be received in its place.
void allreduce_ring(Plan& plan, const Reduction& r) {
  if (r.count == 0) return;
  const int size = plan.size;
  const int left = (plan.rank - 1 + size) % size, right = (plan.rank + 1) % size;
  const Slices slices(r.count, size);
  const bool in_place = r.send == r.recv;
  const Typed input = r.input(), output = r.output();
  const Typed work = in_place ? plan.like(r.count / size + 1, *r.type) : Typed();
  if (size == 1) plan.copy(input, output);
  for (int step = 0; step < size - 1; ++step) {
    const int out = (plan.rank - step + size) % size, in = (plan.rank - step - 1 + size) % size;
    const Typed result = slices.part(output, in);
    const Typed operand = in_place ? work.part(0, result.count) : result;
    const Typed sent = slices.part(step == 0 ? input : output, out);
    if (operand.count > 0) plan.recv(operand, left);
    if (sent.count > 0) plan.send(sent, right);
    plan.wait_all();
    plan.reduce(in_place ? operand : slices.part(input, in), result);
  }
  for (int step = 0; step < size - 1; ++step) {
    const int out = (plan.rank + 1 - step + size) % size, in = (plan.rank - step + size) % size;
    const Typed received = slices.part(output, in), sent = slices.part(output, out);
    if (received.count > 0) plan.recv(received, left);
    if (sent.count > 0) plan.send(sent, right);
    plan.wait_all();
  }
}

void allreduce_reduce_bcast(Plan& plan, const Reduction& r) {
  if (r.count == 0) return;
  Reduction first = r;
  if (plan.rank != 0 && r.send != r.recv) first.recv = nullptr;
  reduce_binomial(plan, first, 0);
  plan.wait_all();
  bcast_binomial(plan, r.output(), 0);
}

}  // namespace vicinity::coll
