// SPDX-License-Identifier: BSD-3-Clause
// Barriers: messages of no bytes.
#include "coll/algorithms.h"

namespace vicinity::coll {

namespace {
Typed nothing() { return as_bytes(nullptr, 0); }
}  // namespace

// Everyone tells rank 0, rank 0 tells everyone: two hops, fewest waits per rank when ranks outnumber cores.
void barrier_flat(Plan& plan) {
  if (plan.rank != 0) {
    plan.send(nothing(), 0);
    plan.recv(nothing(), 0);
    return;
  }
  for (int peer = 1; peer < plan.size; ++peer) plan.recv(nothing(), peer);
  plan.wait_all();
  for (int peer = 1; peer < plan.size; ++peer) plan.send(nothing(), peer);
}

// In round k everyone hears from 2^k ranks below and thereby of 2^(k+1) ranks.
void barrier_dissemination(Plan& plan) {
  for (int distance = 1; distance < plan.size; distance *= 2) {
    plan.recv(nothing(), (plan.rank - distance + plan.size) % plan.size);
    plan.send(nothing(), (plan.rank + distance) % plan.size);
    plan.wait_all();
  }
}

}  // namespace vicinity::coll
