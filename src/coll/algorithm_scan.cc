// SPDX-License-Identifier: BSD-3-Clause
// Prefix reductions. Rank 0 has no exclusive result; its buffer stays as it is.
#include "coll/accumulator.h"

namespace vicinity::coll {

void scan_linear(Plan& plan, const Reduction& r, bool exclusive) {
  if (r.count == 0) return;
  const bool first = plan.rank == 0, last = plan.rank == plan.size - 1;
  if (first) {
    if (!exclusive) plan.copy(r.input(), r.output());
    if (!last) plan.send(r.input(), 1);
    return;
  }
  const Typed lower = plan.like(r.count, *r.type);
  plan.wait(plan.recv(lower, plan.rank - 1));
  if (!exclusive) {
    plan.copy(r.input(), r.output());
    plan.reduce(lower, r.output());
    if (!last) plan.send(r.output(), plan.rank + 1);
    return;
  }
  if (!last) {
    const Typed sum = plan.like(r.count, *r.type);
    plan.copy(r.input(), sum);
    plan.reduce(lower, sum);
    plan.send(sum, plan.rank + 1);
  }
  plan.copy(lower, r.output());
}

// In round k everyone passes the sum of the last 2^k ranks up by 2^k ranks.
void scan_doubling(Plan& plan, const Reduction& r, bool exclusive) {
  if (r.count == 0) return;
  const Typed lower = plan.like(r.count, *r.type);
  const Typed output = r.output();
  // `sum` includes this rank; for the exclusive form `output` holds everything below it.
  const Typed sum = exclusive ? plan.like(r.count, *r.type) : output;
  plan.copy(r.input(), sum);
  bool nothing_below = true;
  for (int distance = 1; distance < plan.size; distance *= 2) {
    const bool receives = plan.rank >= distance, sends = plan.rank + distance < plan.size;
    if (receives) plan.recv(lower, plan.rank - distance);
    if (sends) plan.send(sum, plan.rank + distance);
    plan.wait_all();
    if (!receives) continue;
    if (exclusive) {
      if (nothing_below) {
        plan.copy(lower, output);
      } else {
        plan.reduce(lower, output);
      }
      nothing_below = false;
    }
    plan.reduce(lower, sum);
  }
}

}  // namespace vicinity::coll
