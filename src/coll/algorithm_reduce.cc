// SPDX-License-Identifier: BSD-3-Clause
// Reduce to one rank. All forms combine in the order of ranks; where the operation is commutative the
// binomial tree counts ranks from the root and so saves the last hop.
#include <algorithm>

#include "coll/accumulator.h"
#include "coll/halving.h"

namespace vicinity::coll {

// The root receives every input and combines them from the highest rank down, overlapping the two.
void reduce_linear(Plan& plan, const Reduction& r, int root) {
  if (r.count == 0) return;
  if (plan.rank != root) {
    plan.send(r.input(), root);
    return;
  }
  if (plan.size == 1) {
    plan.copy(r.input(), r.output());
    return;
  }
  // Two operands in flight; the value of rank i op ... op last is kept in `value`.
  const Typed slots[2] = {plan.like(r.count, *r.type), plan.like(r.count, *r.type)};
  const Typed result = r.output();
  size_t arrival[2] = {0, 0};
  auto post = [&](int rank) {
    if (rank >= 0 && rank != root) arrival[rank % 2] = plan.recv(slots[rank % 2], rank);
  };
  const bool in_place = r.send == r.recv;
  Typed mine = r.input();
  if (in_place && root != plan.size - 1) {  // the result buffer is still an operand
    mine = plan.like(r.count, *r.type);
    plan.copy(r.input(), mine);
  }
  post(plan.size - 1);
  for (int rank = plan.size - 1; rank >= 0; --rank) {
    post(rank - 1);
    if (rank != root) plan.wait(arrival[rank % 2]);
    const Typed& operand = rank == root ? mine : slots[rank % 2];
    if (rank == plan.size - 1) {
      plan.copy(operand, result);
    } else {
      plan.reduce(operand, result);
    }
  }
}

void reduce_binomial(Plan& plan, const Reduction& r, int root) {
  if (r.count == 0) return;
  const int top = r.commutative ? root : 0;  // where the tree ends
  const int size = plan.size;
  const int me = (plan.rank - top + size) % size;
  Accumulator value(plan, r);
  for (int mask = 1; mask < size; mask *= 2) {
    if (me & mask) {
      plan.send(value.value(), (me - mask + top) % size);
      break;
    }
    if (me + mask >= size) continue;
    plan.wait(plan.recv(value.incoming(), (me + mask + top) % size));
    value.fold_higher();
  }
  if (top == root) {
    if (plan.rank == root) value.settle(r.output());
  } else if (plan.rank == top) {
    plan.send(value.value(), root);
  } else if (plan.rank == root) {
    plan.wait_all();  // its own contribution may have been sent from the result buffer
    plan.recv(r.output(), top);
  }
}

// Each rank reduces one slice, then all send theirs to the root.
void reduce_halving(Plan& plan, const Reduction& r, int root) {
  if (r.count == 0) return;
  const Fold fold(plan);
  const Typed all = r.recv && plan.rank == root ? r.output() : plan.like(r.count, *r.type);
  const Slices slices(r.count, fold.power);
  const int slice = halve(plan, r, all, fold, slices);
  plan.wait_all();
  if (plan.rank == root) {
    for (int place = 0; place < fold.power; ++place) {
      const int owner = slices.of_place(place);
      const int peer = fold.rank_at(place);
      if (peer != root && slices.count(owner) > 0) plan.recv(slices.part(all, owner), peer);
    }
  } else if (slice >= 0 && slices.count(slice) > 0) {
    plan.send(slices.part(all, slice), root);
  }
}

}  // namespace vicinity::coll
