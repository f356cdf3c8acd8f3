// SPDX-License-Identifier: BSD-3-Clause
// An Accumulator plans a chain of reductions over one vector, in the order of ranks.
//
// reduce() computes inout = in op inout, so where the result lands depends on which operand is the
// lower one. The accumulator keeps track of the buffer that holds the value so far, and of which others
// are free; nothing is copied that need not be. Every rank that folds the same values in the same
// order gets the same bits.
#pragma once

#include "coll/algorithms.h"

namespace vicinity::coll {

class Accumulator {
 public:
  // Starts with r.send. r.recv, where there is one, serves as a work buffer; r.send is never written
  // unless it is r.recv.
  Accumulator(Plan& plan, const Reduction& r) : plan_(plan), r_(r), value_(r.input()) {
    if (r.recv) own_[0] = r.output();
  }
  // The value so far; send it, but do not write to it.
  const Typed& value() const { return value_; }
  void set_value(const Typed& value) { value_ = value; }
  // A buffer to receive the next operand into; it is not the value's.
  Typed incoming() {
    for (Typed& buffer : own_) {
      if (!buffer.type) buffer = plan_.like(r_.count, *r_.type);
      if (buffer.at != value_.at) return incoming_ = buffer;
    }
    return incoming_;
  }
  // value = value op incoming: the operand came from higher ranks.
  void fold_higher() {
    plan_.reduce(value_, incoming_);
    value_ = incoming_;
  }
  // value = incoming op value: the operand came from lower ranks.
  void fold_lower() {
    make_writable();
    plan_.reduce(incoming_, value_);
  }
  // The result is wanted in `where`.
  void settle(const Typed& where) {
    if (value_.at != where.at) plan_.copy(value_, where);
    value_ = where;
  }
  // Makes a private copy of the value, when it is still the user's input.
  void make_writable() {
    for (const Typed& buffer : own_)
      if (buffer.type && buffer.at == value_.at) return;
    for (Typed& buffer : own_) {
      if (!buffer.type) buffer = plan_.like(r_.count, *r_.type);
      if (buffer.at == incoming_.at) continue;
      plan_.copy(value_, buffer);
      value_ = buffer;
      return;
    }
  }

 private:
  Plan& plan_;
  const Reduction& r_;
  Typed value_, incoming_;
  Typed own_[3];  // writable; those without a type are not there yet
};

// How an algorithm for 2^n ranks serves any number: the first 2 * extra ranks pair up, the even one
// gives its input to the odd one and waits for the result. Neighbours pair, so the order is kept.
struct Fold {
  explicit Fold(const Plan& plan) : power(floor_power_of_two(plan.size)), extra(plan.size - power) {
    if (plan.rank < 2 * extra) {
      gives = plan.rank % 2 == 0;
      takes = !gives;
      position = plan.rank / 2;
    } else {
      position = plan.rank - extra;
    }
  }
  int rank_at(int place) const { return place < extra ? 2 * place + 1 : place + extra; }
  int power;           // ranks that take part
  int extra;           // ranks that do not
  bool gives = false;  // this rank does not take part; its partner is rank + 1
  bool takes = false;  // this rank takes part also for rank - 1
  int position;        // among those that take part
};

}  // namespace vicinity::coll
