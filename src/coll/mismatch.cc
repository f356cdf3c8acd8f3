// SPDX-License-Identifier: BSD-3-Clause
// What a stray message tells.
#include "coll/mismatch.h"

#include "object/error.h"

namespace vicinity::coll {

Status judge(const Schedule& schedule, const Step& step, int expected, int stray) {
  const Kind theirs = kind_of(stray);
  if (stray == expected || theirs == Kind::kNone) return object::kOk;
  const char* whose = step.side == Side::kOther ? " of the remote group" : "";
  const char* ours = mpi_name(schedule.kind);
  const uint32_t ahead = (sequence_of(stray) - sequence_of(expected)) & kSequenceMask;
  if (ahead == 0) {
    if (theirs == schedule.kind)
      return object::fail(
          MPI_ERR_OTHER,
          "ranks called %s with different roots or operations: rank %d%s gave others than this rank", ours,
          step.peer, whose);
    return object::fail(MPI_ERR_OTHER,
                        "ranks called different collectives: rank %d%s sent for %s while this rank is in %s",
                        step.peer, whose, mpi_name(theirs), ours);
  }
  if (ahead <= kSequenceMask / 2)
    return object::fail(
        MPI_ERR_OTHER,
        "ranks called different collectives: this rank waits in %s for rank %d%s, which has gone "
        "on to %s, %u calls later",
        ours, step.peer, whose, mpi_name(theirs), ahead);
  return object::fail(
      MPI_ERR_OTHER,
      "ranks called different collectives: this rank waits in %s for rank %d%s, whose message for "
      "%s, %u calls earlier, this rank never received",
      ours, step.peer, whose, mpi_name(theirs), kSequenceMask + 1 - ahead);
}

}  // namespace vicinity::coll
