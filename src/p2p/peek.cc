// SPDX-License-Identifier: BSD-3-Clause
// Looking at what nobody has received, for coll/ to notice ranks that call different collectives.
#include "p2p/engine.h"
#include "p2p/p2p.h"

namespace vicinity::p2p {

bool peek(int source, Communicator& comm, Lane lane, int* tag, bool (*skip)(const void*, int),
          const void* context) {
  const Arrival* arrival = context_of(comm, lane).find_unexpected_if(comm.proc(source), [&](int32_t t) {
    return !skip || !skip(context, t);
  });
  if (arrival) *tag = arrival->envelope.tag;
  return arrival != nullptr;
}

}  // namespace vicinity::p2p
