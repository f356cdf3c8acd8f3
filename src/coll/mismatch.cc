// SPDX-License-Identifier: BSD-3-Clause
// What a stray message tells.
#include "coll/mismatch.h"

#include "object/error.h"
#include "wireup/launcher_params.h"

namespace vicinity::coll {

namespace {

const char* whose(Side side) { return side == Side::kOther ? " of the remote group" : ""; }

}  // namespace

Status differ(Kind kind, Form form, Side side, int peer, int tag, const char* doing) {
  const Name ours = mpi_name(kind, form), theirs = mpi_name(kind_of(tag), form_of(tag));
  if (kind_of(tag) == kind && form_of(tag) == form)
    return object::fail(
        MPI_ERR_OTHER,
        "ranks called %s with different roots or operations: rank %d%s gave others than this rank", ours.text,
        peer, whose(side));
  return object::fail(MPI_ERR_OTHER,
                      "ranks called different collectives: rank %d%s %s %s while this rank is in %s", peer,
                      whose(side), doing, theirs.text, ours.text);
}

Status wrong_size(const Name& ours, Side side, int peer, uint64_t got, uint64_t expected) {
  const unsigned long long sent = got, wanted = expected;
  if (got > expected)
    return object::fail(MPI_ERR_TRUNCATE,
                        "rank %d%s sent more than the %llu bytes that this rank expects in %s: the ranks "
                        "gave different counts or types",
                        peer, whose(side), wanted, ours.text);
  if (got == 0)
    return object::fail(
        MPI_ERR_COUNT,
        "rank %d%s sent nothing where this rank expects %llu bytes in %s: the ranks gave different "
        "counts or types, or the call failed there",
        peer, whose(side), wanted, ours.text);
  return object::fail(MPI_ERR_COUNT,
                      "rank %d%s sent %llu bytes, this rank expects %llu in %s: the ranks gave different "
                      "counts or types",
                      peer, whose(side), sent, wanted, ours.text);
}

Status judge(const Schedule& schedule, const Step& step, int expected, int stray) {
  if (stray == expected || kind_of(stray) == Kind::kNone) return object::kOk;
  const Name ours = schedule.name(), theirs = mpi_name(kind_of(stray), form_of(stray));
  const uint32_t ahead = (sequence_of(stray) - sequence_of(expected)) & kSequenceMask;
  if (ahead == 0) return differ(schedule.kind, schedule.form, step.side, step.peer, stray, "sent for");
  if (schedule.form != Form::kBlocking) return object::kOk;
  if (ahead <= kSequenceMask / 2)
    return object::fail(
        MPI_ERR_OTHER,
        "ranks called different collectives: this rank waits in %s for rank %d%s, which has gone "
        "on to %s, %u calls later",
        ours.text, step.peer, whose(step.side), theirs.text, ahead);
  return object::fail(
      MPI_ERR_OTHER,
      "ranks called different collectives: this rank waits in %s for rank %d%s, whose message for "
      "%s, %u calls earlier, this rank never received",
      ours.text, step.peer, whose(step.side), theirs.text, kSequenceMask + 1 - ahead);
}

Status judge_notice(const Schedule& schedule, Side side, int peer, int expected, int notice) {
  const int tag = notice & ~kNoticeBits;
  if (tag == expected || sequence_of(tag) != sequence_of(expected) || kind_of(tag) == Kind::kNone)
    return object::kOk;
  return differ(schedule.kind, schedule.form, side, peer, tag, "waits in");
}

int64_t patience_ns() { return wireup::param_recovery.get() ? 2'000'000'000 : 50'000'000; }

}  // namespace vicinity::coll
