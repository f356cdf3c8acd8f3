// SPDX-License-Identifier: BSD-3-Clause
// Recursive halving and the way back. See halving.h.
#include "coll/halving.h"

namespace vicinity::coll {

namespace {

// Where one rank's value is while it is being reduced: in the user's input at first, in `all` from the
// first reduction on. Operands are received in the result's place while that is free, else in `work`.
class Value {
 public:
  Value(Plan& plan, const Reduction& r, const Typed& all)
      : plan_(plan), r_(r), source_(r.input()), all_(all) {}

  const Typed& source() const { return source_; }
  // Receives an operand for elements [first, first + count) from `peer`; send() what the peer needs between
  // this and fold().
  void expect(MPI_Count first, MPI_Count count, int peer) {
    mine_ = source_.part(first, count);
    result_ = all_.part(first, count);
    operand_ = moved() ? work(first, count) : result_;
    if (count > 0) plan_.recv(operand_, peer);
    first_ = first;
  }
  // Combines that operand, which came from lower or higher ranks, with the value.
  void fold(bool lower) {
    plan_.wait_all();
    if (moved()) {
      if (lower || r_.commutative) {
        plan_.reduce(operand_, result_);
      } else {
        plan_.reduce(result_, operand_);
        plan_.copy(operand_, result_);
      }
    } else if (!lower || r_.commutative) {
      plan_.reduce(mine_, result_);
    } else {  // operand op mine, and the operand is where the result should be
      const Typed spare = work(first_, mine_.count);
      plan_.copy(mine_, spare);
      plan_.reduce(result_, spare);
      plan_.copy(spare, result_);
    }
    source_ = all_;
  }
  // The value is in `all` even if nothing was combined (a single rank).
  void settle() {
    if (!moved()) plan_.copy(source_, all_);
  }

 private:
  bool moved() const { return source_.at == all_.at; }
  Typed work(MPI_Count first, MPI_Count count) {
    if (!work_.type) work_ = plan_.like(r_.count, *r_.type);
    return work_.part(first, count);
  }
  Plan& plan_;
  const Reduction& r_;
  Typed source_, all_, work_;
  Typed mine_, result_, operand_;  // of the step under way
  MPI_Count first_ = 0;
};

}  // namespace

int halve(Plan& plan, const Reduction& r, const Typed& all, const Fold& fold, const Slices& slices) {
  if (fold.gives) {
    plan.send(r.input(), plan.rank + 1);
    return -1;
  }
  Value value(plan, r, all);
  if (fold.takes) {
    value.expect(0, r.count, plan.rank - 1);
    value.fold(true);
  }
  int low = 0, high = fold.power;  // the slices this rank still works on
  for (int mask = 1; mask < fold.power; mask *= 2) {
    const int middle = (low + high) / 2;
    const bool upper = (fold.position & mask) != 0;
    const int peer = fold.rank_at(fold.position ^ mask);
    const Typed sent =
        upper ? slices.range(value.source(), low, middle) : slices.range(value.source(), middle, high);
    (upper ? low : high) = middle;
    value.expect(slices.first(low), slices.first(high) - slices.first(low), peer);
    if (sent.count > 0) plan.send(sent, peer);
    value.fold(upper);
  }
  value.settle();
  return low;
}

// Walks the rounds of halve() backwards; before each of them a rank has `width` slices from `low` on.
void spread(Plan& plan, const Typed& all, const Fold& fold, const Slices& slices) {
  if (fold.gives) {
    plan.wait_all();
    plan.recv(all, plan.rank + 1);
    return;
  }
  int low = slices.of_place(fold.position);
  int width = 1;
  for (int mask = fold.power / 2; mask > 0; mask /= 2, width *= 2) {
    const int peer = fold.rank_at(fold.position ^ mask);
    const int theirs = (fold.position & mask) ? low - width : low + width;
    const Typed in = slices.range(all, theirs, theirs + width), out = slices.range(all, low, low + width);
    if (in.count > 0) plan.recv(in, peer);
    if (out.count > 0) plan.send(out, peer);
    plan.wait_all();
    low = std::min(low, theirs);
  }
  if (fold.takes) plan.send(all, plan.rank - 1);
}

}  // namespace vicinity::coll
