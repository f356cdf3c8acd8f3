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

int halve(Plan& plan, const Reduction& r, const Typed& all, const Fold& fold, const Slices& slices) {
  if (fold.gives) {
    plan.send(r.input(), plan.rank + 1);
    return -1;
  }
  Typed source = r.input();  // where this rank's value is: the input, later `all`
  Typed work;                // for operands that arrive while `all` holds the value
  auto work_buffer = [&]() -> const Typed& {
    if (!work.type) work = plan.like(r.count, *r.type);
    return work;
  };
  if (fold.takes) {
    const bool in_place = source.at == all.at;
    const Typed& lower = in_place ? work_buffer() : all;
    plan.wait(plan.recv(lower, plan.rank - 1));
    if (in_place || !r.commutative) {
      if (!in_place) {  // value = lower op mine must land in `all`
        plan.copy(source, work_buffer());
        plan.reduce(lower, work);
        plan.copy(work, all);
      } else {
        plan.reduce(lower, all);
      }
    } else {
      plan.reduce(source, all);
    }
    source = all;
  }
  int low = 0, high = fold.power;  // the slices this rank still works on
  for (int mask = 1; mask < fold.power; mask *= 2) {
    const int middle = (low + high) / 2;
    const bool upper = (fold.position & mask) != 0;
    const int peer = fold.rank_at(fold.position ^ mask);
    const Typed sent = upper ? slices.range(source, low, middle) : slices.range(source, middle, high);
    (upper ? low : high) = middle;
    const Typed mine = slices.range(source, low, high), result = slices.range(all, low, high);
    const bool in_place = source.at == all.at;
    const Typed operand = in_place ? slices.range(work_buffer(), low, high) : result;
    if (operand.count > 0) plan.recv(operand, peer);
    if (sent.count > 0) plan.send(sent, peer);
    plan.wait_all();
    if (in_place) {
      if (upper || r.commutative) {
        plan.reduce(operand, result);
      } else {
        plan.reduce(result, operand);
        plan.copy(operand, result);
      }
    } else if (!upper || r.commutative) {
      plan.reduce(mine, result);
    } else {  // operand op mine, and the operand is already in the result's place
      const Typed spare = slices.range(work_buffer(), low, high);
      plan.copy(mine, spare);
      plan.reduce(result, spare);
      plan.copy(spare, result);
    }
    source = all;
  }
  if (source.at != all.at) plan.copy(source, all);  // a single rank
  return low;
}

void spread(Plan& plan, const Typed& all, const Fold& fold, const Slices& slices) {
  if (fold.gives) {
    plan.wait_all();
    plan.recv(all, plan.rank + 1);
    return;
  }
  // Walk the rounds of halve() backwards: first find this rank's range before each of them.
  int low = slices.of_place(fold.position);
  int width = 1;
  for (int mask = fold.power / 2; mask > 0; mask /= 2, width *= 2) {
    const int peer = fold.rank_at(fold.position ^ mask);
    const bool upper = (fold.position & mask) != 0;
    const int theirs = upper ? low - width : low + width;
    const Typed in = slices.range(all, theirs, theirs + width), out = slices.range(all, low, low + width);
    if (in.count > 0) plan.recv(in, peer);
    if (out.count > 0) plan.send(out, peer);
    plan.wait_all();
    low = std::min(low, theirs);
  }
  if (fold.takes) plan.send(all, plan.rank - 1);
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
