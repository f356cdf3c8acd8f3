// SPDX-License-Identifier: BSD-3-Clause
// A connection between two channels: what the state machine (change.h) decides is done here.
#include <algorithm>
#include <new>
#include <utility>

#include "base/event.h"
#include "base/log.h"
#include "channel/ring/receiver.h"
#include "channel/ucx/network.h"
#include "peer/note.h"
#include "peer/table.h"
#include "peer/virtual_connection.h"

namespace vicinity::peer {
namespace {

constexpr int64_t kPatience = 200'000'000;  // ns, until a note is repeated

}  // namespace

void VirtualConnection::add_network(channel::ucx::Network* network) {
  network_ = network;
  network->carry(ring_.largest());
}

// Is there a network beside the ring, and does it know the peer?
bool VirtualConnection::can_change(bool heard_of) {
  if (lost_ || !ring_in_ || !network_) return false;
  if (change_) return true;
  if (!heard_of && !network_->knows(proc_)) return false;
  link_ = &network_->link(proc_);
  ring_name_ = reason_;
  change_.reset(new (std::nothrow) Change);
  return change_ != nullptr;
}

bool VirtualConnection::hold_ring(bool yes, const char* why) {
  if (!yes && !change_) return true;
  if (!can_change()) return false;
  if (change_->held() == yes) return true;
  change_->hold(yes);
  ring_reason_ = yes ? why : "";
  detail::has_change(*this);
  return true;
}

bool VirtualConnection::ring_failed(const char* why, bool unreadable) {
  if (!can_change() || (unreadable && !ring_in_->between())) return false;
  if (!change_->failed())
    VICINITY_LOG(kWarn, "rank %u: messages go through the network from now on, shared memory failed: %s",
                 proc_, why);
  change_->fail(unreadable);
  ring_reason_ = why;
  straight_ = false;
  paused_ |= kind_ == Kind::kRing;
  detail::has_change(*this);
  return true;
}

// Needed if one of the directions uses it, or is about to.
bool VirtualConnection::network_failed(const char* why) {
  if (!ring_in_) return false;
  if (change_ && !change_->idle()) return false;
  VICINITY_LOG(kInfo, "rank %u is not reached by the network any more, only through shared memory: %s", proc_,
               why);
  change_.reset();  // what has been offered to us by network may still be asked for, in vain
  return true;
}

void VirtualConnection::take_note(const ChangeNote& note) {
  if (lost_) return;
  if (!can_change(true) || !change_->take(note))
    return detail::report_lost(proc_, "it speaks of a change of channel that cannot be");
  detail::has_change(*this);
}

Counts VirtualConnection::counts() const {
  return {ring_.written(), ring_in_->next_expected(), link_ ? link_->sent() : 0,
          link_ ? link_->received() : 0};
}

bool VirtualConnection::tell_peer() {
  const ChangeNote note = change_->tell(counts());
  const Answer answer = link_->send(kNoteEnvelope, &note, sizeof note);
  if (answer == Answer::kRetry) change_->tell_again();
  if (answer == Answer::kDone) {
    ++counters_.messages_sent;
    counters_.bytes_sent += sizeof note;
  }
  if (answer == Answer::kFailed)
    detail::report_lost(proc_,
                        link_->failure() ? link_->failure() : "the network does not take messages to it");
  return answer == Answer::kDone;
}

void VirtualConnection::enter(RingState state) {
  paused_ = state == RingState::kSuspend || state == RingState::kReady;
  kind_ = state == RingState::kActive || state == RingState::kSuspend ? Kind::kRing : Kind::kNetwork;
  single_copy_ = single_copy_known_ && state == RingState::kActive;
  largest_ = kind_ == Kind::kRing ? ring_.largest() : std::min(ring_.largest(), link_->largest());
  straight_ = false;
  if (paused_) return;
  if (state == RingState::kActive) {
    reason_ = ring_name_;
  } else {
    const char* why = !ring_reason_.empty() ? ring_reason_.c_str() : "the other end wishes it";
    reason_ = std::string("the ring is off: ") + why;
  }
  base::tell(base::ChannelChanged{static_cast<int32_t>(proc_), kind_ == Kind::kRing ? 2 : 3});
  VICINITY_LOG(kInfo, "rank %u: channel %s from now on, %s", proc_, channel_name(), reason_.c_str());
  if (queue_.empty())
    set_straight();
  else
    detail::has_work(*this);
}

int VirtualConnection::follow_change(int64_t now) {
  if (lost_) return 0;
  const RingState before = change_->state();
  returning_ = before == RingState::kClose && change_->wants_ring();
  if (!change_->step(counts(), offers_waiting_ == 0)) {
    detail::report_lost(proc_, change_->failure());
    return 1;
  }
  int events = 0;
  if (change_->state() != before) {
    if (change_->state() != RingState::kClose) returning_ = false;
    enter(change_->state());
    ++events;
  }
  if (!change_->settled() && now - told_at_ > kPatience) {
    told_at_ = now;
    if (link_->departed() || detail::departed(proc_)) {
      change_->give_up();
      enter(change_->state());
      return events + 1;
    }
    change_->tell_again();
  }
  if (change_->wants_to_tell() && tell_peer()) {
    told_at_ = now;
    ++events;
  }
  return events;
}

}  // namespace vicinity::peer
