// SPDX-License-Identifier: BSD-3-Clause
// Steps of the state machine.
#include "peer/change.h"

namespace vicinity::peer {
namespace {

// Counts go round: which is ahead is decided within half of the circle.
int32_t ahead(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b); }

}  // namespace

const char* name_of(RingState state) {
  switch (state) {
    case RingState::kClose:
      return "close";
    case RingState::kActive:
      return "active";
    case RingState::kSuspend:
      return "suspend";
    case RingState::kReady:
      return "ready";
  }
  return "";
}

bool Change::take(const ChangeNote& note) {
  if (note.ring > 1 || note.hold > 1 || note.broken > 1 || note.asks > 1) return lose("its note is no note");
  if (ahead(note.heard, epoch_) > 0) return lose("it has heard of what we never said");
  const uint32_t heard = ahead(note.heard, peer_.heard) > 0 ? note.heard : peer_.heard;
  tell_ |= note.asks != 0;
  if (ahead(note.epoch, peer_.epoch) >= 0) peer_ = note;
  peer_.heard = heard;
  return true;
}

// Have we come to where its newest note says that a channel ends?
bool Change::follow(const Counts& counts) {
  if (peer_.broken && peer_.ring_read != counts.ring_written)
    return lose("it reads the shared memory no more, and something in it was not yet read");
  if (heard_ == peer_.epoch) return true;
  if (!peer_.ring) {
    const int32_t missing = ahead(peer_.ring_written, counts.ring_read);
    if (missing < 0) return lose("more came through shared memory than it has sent");
    if (missing > 0)
      return broken_ ? lose("the shared memory failed with something in it that was not yet read") : true;
  } else if (ahead(counts.network_read, peer_.network_sent) < 0) {
    return true;
  }
  heard_ = peer_.epoch;
  tell_ = true;
  return true;
}

void Change::begin(RingState state) {
  state_ = state;
  ++epoch_;
  last_hold_ = told_hold();
  last_broken_ = broken_;
  tell_ = true;
}

void Change::advance(bool may_return) {
  if (!heard()) return;
  if (state_ == RingState::kSuspend) state_ = RingState::kClose;
  if (state_ == RingState::kReady) state_ = RingState::kActive;
  if (state_ == RingState::kActive && !wants_ring()) return begin(RingState::kSuspend);
  if (state_ == RingState::kClose && wants_ring() && may_return) return begin(RingState::kReady);
  if (last_hold_ != told_hold() || last_broken_ != broken_) begin(state_);
}

bool Change::step(const Counts& counts, bool may_return) {
  if (failure_ || !follow(counts)) return false;
  advance(may_return);
  return true;
}

void Change::give_up() {
  peer_.heard = epoch_;
  heard_ = peer_.epoch;
  hold_ = true;  // never back to a ring that nobody reads
  if (state_ == RingState::kSuspend || state_ == RingState::kReady) state_ = RingState::kClose;
  tell_ = false;
}

ChangeNote Change::tell(const Counts& counts) {
  tell_ = false;
  return {epoch_,
          heard_,
          counts.ring_written,
          counts.ring_read,
          counts.network_sent,
          state_ == RingState::kActive || state_ == RingState::kReady,
          last_hold_,
          last_broken_,
          !heard()};
}

bool Change::settled() const {
  return heard() && heard_ == peer_.epoch && !tell_ && last_hold_ == told_hold() && last_broken_ == broken_ &&
         (state_ == (wants_ring() ? RingState::kActive : RingState::kClose));
}

}  // namespace vicinity::peer
