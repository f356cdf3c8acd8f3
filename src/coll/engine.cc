// SPDX-License-Identifier: BSD-3-Clause
// The parts of the engine that no transport changes.
#include "coll/engine.h"

#include <cstring>

namespace vicinity::coll {

Status explain_receive(const Schedule& schedule, const Step& step, Status status, uint64_t bytes) {
  const unsigned long long expected = step.to.bytes();
  const char* whose = step.side == Side::kOther ? " of the remote group" : "";
  if (status.code() == MPI_ERR_TRUNCATE) {
    return object::fail(MPI_ERR_TRUNCATE,
                        "rank %d%s sent more than the %llu bytes that this rank expects in %s: "
                        "the ranks gave different counts or types",
                        step.peer, whose, expected, schedule.name().text);
  }
  if (!status.ok()) return status;
  if (bytes == 0) {
    return object::fail(
        MPI_ERR_COUNT,
        "rank %d%s sent nothing where this rank expects %llu bytes in %s: the ranks gave different "
        "counts or types, or the call failed there",
        step.peer, whose, expected, schedule.name().text);
  }
  return object::fail(MPI_ERR_COUNT,
                      "rank %d%s sent %llu bytes, this rank expects %llu in %s: the ranks gave different "
                      "counts or types",
                      step.peer, whose, static_cast<unsigned long long>(bytes), expected,
                      schedule.name().text);
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
