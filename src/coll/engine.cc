// SPDX-License-Identifier: BSD-3-Clause
// The parts of the engine that no transport changes.
#include "coll/engine.h"

#include <cstring>

#include "coll/mismatch.h"

namespace vicinity::coll {

Status explain_receive(const Schedule& schedule, const Step& step, Status status, uint64_t bytes) {
  const uint64_t expected = step.to.bytes();
  if (status.code() == MPI_ERR_TRUNCATE)
    return wrong_size(schedule.name(), step.side, step.peer, expected + 1, expected);
  if (!status.ok()) return status;
  return wrong_size(schedule.name(), step.side, step.peer, bytes, expected);
}

void run_copy(const Step& step) {
  const Typed& from = step.from;
  const Typed& to = step.to;
  if (from.type->dense && to.type->dense) {
    const uint64_t bytes = from.bytes() < to.bytes() ? from.bytes() : to.bytes();
    memcpy(object::data_start(to.at, *to.type), object::data_start(from.at, *from.type), bytes);
    return;
  }
  object::copy_typed(from.at, from.count, *from.type, to.at, to.count, *to.type);
}

}  // namespace vicinity::coll
