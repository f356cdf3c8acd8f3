// SPDX-License-Identifier: BSD-3-Clause
// A channel for tests: two ends in one process, with a script of what goes wrong.
//
//   FakePair pair;
//   pair.end(0).attach(7, &sink0);         // what arrives at end 0 comes from process 7
//   pair.end(0).script().capacity = 2;     // the third unreceived message gets kRetry
//   pair.end(0).send(envelope, data, n);   // now in pair.end(1)'s inbox
//   pair.end(1).poll();                    // delivered to end 1's sink, if it has one
//
// An end without a sink keeps what arrives; the test takes it with take(). Everything is
// deterministic: delays are counted in polls, not in time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/progress.h"
#include "channel/channel.h"

namespace vicinity::channel::fake {

struct Message {
  Envelope envelope{};
  std::vector<std::byte> data;
  uint64_t ripe_at = 0;  // poll count of the receiving end at which it arrives
};

// How the sends of one end behave.
struct Script {
  size_t largest = 16384;
  size_t capacity = SIZE_MAX;  // messages under way to the other end; more get kRetry
  uint32_t retry_every = 0;    // every n-th send answers kRetry although there is room; 0: never
  uint32_t delay_polls = 0;    // polls of the receiver that a message waits
};

class FakeEnd final : public base::Poller {
 public:
  FakeEnd() = default;
  FakeEnd(const FakeEnd&) = delete;
  FakeEnd& operator=(const FakeEnd&) = delete;

  Answer send(const Envelope& envelope, const void* data, size_t bytes);
  size_t largest() const { return script_.largest; }
  static constexpr const char* name() { return "fake"; }

  // Who is told of arrivals, and as what process the other end is known here.
  void attach(Proc from, Sink* sink) { from_ = from, sink_ = sink; }
  Script& script() { return script_; }
  // Delivers what has arrived to the sink; one message per event.
  int poll() override;
  // For a test that plays the peer: takes the oldest arrived message. False when there is none.
  bool take(Message& out);
  size_t waiting() const { return inbox_.size(); }
  // The process behind the other end dies: sends fail, and the sink is told once by the next poll().
  void lose(const char* why) { lost_why_ = why, lost_ = true; }

 private:
  friend class FakePair;
  bool ripe() const { return !inbox_.empty() && inbox_.front().ripe_at <= polls_; }

  FakeEnd* other_ = nullptr;
  Proc from_ = 0;
  Sink* sink_ = nullptr;
  Script script_;
  std::deque<Message> inbox_;
  uint64_t polls_ = 0, sends_ = 0;
  bool lost_ = false, lost_told_ = false;
  const char* lost_why_ = "";
};

class FakePair {
 public:
  FakePair() { ends_[0].other_ = &ends_[1], ends_[1].other_ = &ends_[0]; }
  FakeEnd& end(int which) { return ends_[which]; }

 private:
  FakeEnd ends_[2];
};

}  // namespace vicinity::channel::fake
