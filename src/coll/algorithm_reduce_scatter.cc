// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter(_block): block i of the reduced vector ends at rank i.
#include <algorithm>

#include "coll/accumulator.h"

namespace vicinity::coll {

namespace {

Typed block(const Typed& all, const Pieces& pieces, int i) {
  return all.part(pieces.first(i), pieces.count(i));
}

}  // namespace

// Each rank gets its block of everybody's input and combines them from the highest rank down. Memory:
// one block per rank where the order matters, else two.
void reduce_scatter_pairwise(Plan& plan, const Reduction& r, const Pieces& pieces) {
  const int size = plan.size;
  const Typed input = r.input();
  const MPI_Count mine = pieces.count(plan.rank);
  const Typed own = block(input, pieces, plan.rank);
  const Typed result{r.recv, mine, r.type};
  const bool in_place = r.send == r.recv;
  const Typed sum = in_place ? plan.like(mine, *r.type) : result;
  const int slots = r.commutative ? 1 : size;
  const Typed work = plan.like(mine * slots, *r.type);
  auto operand = [&](int rank) { return r.commutative ? work : work.part(rank * mine, mine); };
  if (r.commutative) plan.copy(own, sum);
  for (int distance = 1; distance < size; ++distance) {
    const int from = (plan.rank - distance + size) % size, to = (plan.rank + distance) % size;
    const Typed sent = block(input, pieces, to);
    if (mine > 0) plan.recv(operand(from), from);
    if (sent.count > 0) plan.send(sent, to);
    plan.wait_all();
    if (r.commutative) plan.reduce(operand(from), sum);
  }
  if (!r.commutative) {
    for (int rank = size - 1; rank >= 0; --rank) {
      const Typed in = rank == plan.rank ? own : operand(rank);
      if (rank == size - 1) {
        plan.copy(in, sum);
      } else {
        plan.reduce(in, sum);
      }
    }
  }
  plan.copy(sum, result);
}

// Halving over blocks: the distance between partners halves, so ranges of blocks stay ranges.
void reduce_scatter_halving(Plan& plan, const Reduction& r, const Pieces& pieces) {
  const Fold fold(plan);
  const Typed result{r.recv, pieces.count(plan.rank), r.type};
  if (r.count == 0) return;
  if (fold.gives) {
    plan.send(r.input(), plan.rank + 1);
    plan.wait_all();
    if (result.count > 0) plan.recv(result, plan.rank + 1);
    return;
  }
  const Typed value = plan.like(r.count, *r.type);
  const Typed work = plan.like(r.count, *r.type);
  plan.copy(r.input(), value);
  if (fold.takes) {
    plan.wait(plan.recv(work, plan.rank - 1));
    plan.reduce(work, value);
  }
  // First real block of a place; the folded ranks' blocks belong to their partners' places.
  auto first_rank = [&](int place) { return place < fold.extra ? 2 * place : place + fold.extra; };
  auto range = [&](const Typed& all, int low, int high) {
    const MPI_Count from = pieces.first(first_rank(low)), past = pieces.first(first_rank(high));
    return all.part(from, past - from);
  };
  int low = 0, high = fold.power;
  for (int mask = fold.power / 2; mask > 0; mask /= 2) {
    const int middle = low + mask;
    const bool upper = (fold.position & mask) != 0;
    const int peer = fold.rank_at(fold.position ^ mask);
    const Typed sent = upper ? range(value, low, middle) : range(value, middle, high);
    (upper ? low : high) = middle;
    const Typed operand = range(work, low, high);
    if (operand.count > 0) plan.recv(operand, peer);
    if (sent.count > 0) plan.send(sent, peer);
    plan.wait_all();
    plan.reduce(operand, range(value, low, high));
  }
  if (fold.takes && pieces.count(plan.rank - 1) > 0)
    plan.send(block(value, pieces, plan.rank - 1), plan.rank - 1);
  plan.copy(block(value, pieces, plan.rank), result);
}

void reduce_scatter_reduce(Plan& plan, const Reduction& r, const Pieces& pieces) {
  if (r.count == 0) return;
  Reduction whole = r;
  whole.recv = plan.rank == 0 ? plan.like(r.count, *r.type).at : nullptr;
  reduce_binomial(plan, whole, 0);
  plan.wait_all();
  const Typed result{r.recv, pieces.count(plan.rank), r.type};
  if (plan.rank != 0) {
    if (result.count > 0) plan.recv(result, 0);
    return;
  }
  for (int peer = 1; peer < plan.size; ++peer) {
    const Typed part = block(whole.output(), pieces, peer);
    if (part.count > 0) plan.send(part, peer);
  }
  plan.copy(block(whole.output(), pieces, 0), result);
}

}  // namespace vicinity::coll
