// SPDX-License-Identifier: BSD-3-Clause
// The scripted channel of the tests.
#include "channel/fake/fake.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace vicinity::channel::fake {

static_assert(Channel<FakeEnd>);

Answer FakeEnd::send(const Envelope& envelope, const void* data, size_t bytes) {
  if (lost_ || bytes > script_.largest) return Answer::kFailed;
  ++sends_;
  if (script_.retry_every && sends_ % script_.retry_every == 0) return Answer::kRetry;
  if (other_->inbox_.size() >= script_.capacity) return Answer::kRetry;
  Message message;
  message.envelope = envelope;
  message.data.resize(bytes);
  if (bytes) std::memcpy(message.data.data(), data, bytes);
  message.ripe_at = other_->polls_ + script_.delay_polls;
  other_->inbox_.push_back(std::move(message));
  return Answer::kDone;
}

bool FakeEnd::take(Message& out) {
  ++polls_;
  if (!ripe()) return false;
  out = std::move(inbox_.front());
  inbox_.pop_front();
  return true;
}

int FakeEnd::poll() {
  ++polls_;
  if (!sink_) return 0;
  int events = 0;
  for (size_t most = inbox_.size(); most != 0 && ripe(); --most, ++events) {
    Message message = std::move(inbox_.front());
    inbox_.pop_front();
    const Landing landing = sink_->land(from_, message.envelope, message.data.size());
    const size_t fits = std::min(message.data.size(), landing.room);
    if (fits) std::memcpy(landing.where, message.data.data(), fits);
    sink_->landed(landing, message.data.size());
  }
  if (lost_ && !lost_told_ && inbox_.empty()) {
    lost_told_ = true;
    ++events;
    sink_->lost(from_, lost_why_);
  }
  return events;
}

}  // namespace vicinity::channel::fake
