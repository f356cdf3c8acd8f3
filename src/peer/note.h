// SPDX-License-Identifier: BSD-3-Clause
// Notes about a change of channel travel as messages of the network, and go no further than here.
#pragma once

#include <cstring>

#include "channel/channel.h"
#include "peer/change.h"

namespace vicinity::peer {

// No message of p2p or rma has this context and kind.
inline constexpr channel::Envelope kNoteEnvelope{UINT32_MAX, 0, 255, 0, 0, 0};

// Stands between the network and the sink of everything else.
class NoteSink final : public channel::Sink {
 public:
  explicit NoteSink(channel::Sink& next) : next_(next) {}
  void (*on_note)(channel::Proc from, const ChangeNote& note) = nullptr;
  void (*on_garbage)(channel::Proc from) = nullptr;

  channel::Landing land(channel::Proc from, const channel::Envelope& envelope, size_t bytes) override {
    if (envelope.context != kNoteEnvelope.context || envelope.kind != kNoteEnvelope.kind) [[likely]]
      return next_.land(from, envelope, bytes);
    from_ = from;
    return {&note_, sizeof note_, &note_};
  }
  void landed(const channel::Landing& landing, size_t bytes) override {
    if (landing.token != &note_) [[likely]]
      return next_.landed(landing, bytes);
    if (bytes != sizeof note_) return on_garbage(from_);
    on_note(from_, note_);
  }
  void offered(channel::Proc from, const channel::Envelope& envelope, size_t bytes, void* offer) override {
    next_.offered(from, envelope, bytes, offer);
  }
  void lost(channel::Proc from, const char* why) override { next_.lost(from, why); }

 private:
  channel::Sink& next_;
  channel::Proc from_ = 0;
  ChangeNote note_{};
};

}  // namespace vicinity::peer
