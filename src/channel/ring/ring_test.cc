// SPDX-License-Identifier: BSD-3-Clause
// The ring: races made to order, liars, sleep and waking, two processes.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/progress.h"
#include "channel/ring/access_test.h"
#include "channel/ring/port.h"
#include "region/backing.h"

namespace vicinity::channel::ring {
namespace {

using Access = RingTestAccess;

struct Message {
  Proc from;
  int tag;
  std::vector<std::byte> data;
};

struct RecordingSink final : Sink {
  std::vector<Message> messages;
  std::vector<std::string> losses;
  std::vector<Message> open = std::vector<Message>(64);
  Landing land(Proc from, const Envelope& envelope, size_t bytes) override {
    open[from] = {from, envelope.tag, std::vector<std::byte>(bytes)};
    return {open[from].data.data(), bytes, reinterpret_cast<void*>(uintptr_t{from})};
  }
  void landed(const Landing& landing, size_t) override {
    messages.push_back(open[reinterpret_cast<uintptr_t>(landing.token)]);
  }
  void lost(Proc, const char* why) override { losses.push_back(why); }
};

// `count` ports over one region.
class Ports {
 public:
  explicit Ports(uint32_t count, uint32_t lines = 64, uint32_t buffers = 8)
      : geometry(*region::Geometry::make(count, lines, buffers, 4096)),
        mapping(std::move(*region::Heap::create(geometry.region_bytes, {}))),
        sinks(count) {
    for (uint32_t i = 0; i < count; ++i) procs.push_back(i);
    for (uint32_t i = 0; i < count; ++i) {
      PortOptions options;
      options.self = i, options.procs = procs.data(), options.generation = 1, options.largest = 16384;
      ports.push_back(std::make_unique<Port>(mapping, geometry, options, sinks[i]));
    }
  }
  region::Geometry geometry;
  region::Mapping mapping;
  std::vector<uint32_t> procs;
  std::vector<RecordingSink> sinks;
  std::vector<std::unique_ptr<Port>> ports;
};

Envelope tagged(int tag) { return {1, tag, 2, 3, 0, 0}; }

class Pair : public testing::Test, protected Ports {
 protected:
  Pair() : Ports(3), sender(ports[0]->sender(1)), other(ports[2]->sender(1)) { Access::prepare(sender); }
  Line* next() { return Access::next(sender); }
  uint64_t control(Form form, uint32_t length, uint32_t ahead = 0) {
    return make_control(0, form, length, Access::sequence(sender) + ahead);
  }
  void expect_lost(const char* what) {
    ports[1]->poll();
    ports[1]->poll();
    ASSERT_EQ(sinks[1].losses.size(), 1u) << what;
    // The liar learns of it, once, and whether or not it has ever got anything from there.
    for (int i = 0; i < 3; ++i) ports[0]->poll();
    ASSERT_EQ(sinks[0].losses.size(), 1u) << what;
    EXPECT_NE(sinks[0].losses[0].find("closed the connection"), std::string::npos);
    // The pair is closed, others are not.
    EXPECT_EQ(other.send(tagged(9), "x", 1), Answer::kDone);
    ports[1]->poll();
    ports[1]->poll();
    ASSERT_EQ(sinks[1].messages.size(), 1u) << what;
    EXPECT_EQ(sinks[1].messages[0].tag, 9);
    EXPECT_EQ(sinks[1].losses.size(), 1u) << what;
  }
  RecordingSink& at(int i) { return sinks[static_cast<size_t>(i)]; }
  Sender sender, other;
};

TEST_F(Pair, AReservedLineIsInvisibleUntilPublished) {
  std::memset(next()->payload, 7, sizeof next()->payload);
  next()->address = 42;
  for (int i = 0; i < 5; ++i) ports[1]->poll();
  EXPECT_TRUE(at(1).messages.empty());
  publish(next(), 0, control(Form::kShort, 3));
  ports[1]->poll();
  ASSERT_EQ(at(1).messages.size(), 1u);
  EXPECT_EQ(at(1).messages[0].data, std::vector<std::byte>(3, std::byte{7}));
}

TEST_F(Pair, ASenderThatStopsInsideAFrameBlocksNobodyElse) {
  publish(next(), 0, control(Form::kFrame, 48 + 56 + 10));
  Access::advance(sender);
  ports[1]->poll();
  EXPECT_EQ(other.send(tagged(5), "x", 1), Answer::kDone);
  ports[1]->poll();
  ports[1]->poll();
  ASSERT_EQ(at(1).messages.size(), 1u);
  EXPECT_EQ(at(1).messages[0].tag, 5);
  publish_more(next(), control(Form::kMore, 56));
  Access::advance(sender);
  ports[1]->poll();
  EXPECT_EQ(at(1).messages.size(), 1u);
  publish_more(next(), control(Form::kMore, 10));
  ports[1]->poll();
  ASSERT_EQ(at(1).messages.size(), 2u);
  EXPECT_EQ(at(1).messages[1].data.size(), 114u);
  EXPECT_TRUE(at(1).losses.empty());
}

TEST_F(Pair, ASenderThatStopsBetweenBuffersGoesOnLater) {
  const uint32_t first = Access::take_buffer(sender), second = Access::take_buffer(sender);
  const BulkFirst head{5000, 0, first};
  std::memcpy(next()->payload, &head, sizeof head);
  publish(next(), 0, control(Form::kBulk, 1));
  Access::advance(sender);
  ports[1]->poll();
  ports[1]->poll();
  EXPECT_TRUE(at(1).messages.empty());
  Access::buffer(sender, second)[903] = std::byte{99};
  std::memcpy(next()->payload, &second, sizeof second);
  publish_more(next(), control(Form::kMoreBulk, 0));
  Access::advance(sender);
  ports[1]->poll();
  ASSERT_EQ(at(1).messages.size(), 1u);
  EXPECT_EQ(at(1).messages[0].data.back(), std::byte{99});
  // Both buffers come back with the next bulk message that needs them.
  std::vector<std::byte> data(12000);
  EXPECT_EQ(sender.send(tagged(1), data.data(), data.size()), Answer::kDone);
  EXPECT_EQ(Access::free_buffers(sender), 5u);
}

TEST_F(Pair, ShortBulkMessagesShareABuffer) {
  std::vector<std::byte> data(1024);
  for (int i = 0; i < 24; ++i) {  // 320 bytes each: 12 to a buffer
    std::fill(data.begin(), data.end(), static_cast<std::byte>(i));
    ASSERT_EQ(sender.send(tagged(i), data.data(), 300), Answer::kDone);
  }
  EXPECT_EQ(Access::free_buffers(sender), 6u);
  for (int i = 0; i < 4; ++i) ports[1]->poll();
  ASSERT_EQ(at(1).messages.size(), 24u);
  for (size_t i = 0; i < 24; ++i)
    EXPECT_EQ(at(1).messages[i].data, std::vector<std::byte>(300, static_cast<std::byte>(i)));
  // The next one does not fit into the second buffer; both have come back.
  ASSERT_EQ(sender.send(tagged(0), data.data(), 1000), Answer::kDone);
  EXPECT_EQ(Access::free_buffers(sender), 7u);
  // A long one takes its own, and what comes after it does not go before it.
  std::vector<std::byte> large(6000);
  ASSERT_EQ(sender.send(tagged(1), large.data(), large.size()), Answer::kDone);
  ASSERT_EQ(sender.send(tagged(2), data.data(), 1000), Answer::kDone);
  EXPECT_EQ(Access::free_buffers(sender), 4u);
  for (int i = 0; i < 4; ++i) ports[1]->poll();
  ASSERT_EQ(at(1).messages.size(), 27u);
  EXPECT_EQ(at(1).messages[25].data.size(), 6000u);
  EXPECT_EQ(at(1).messages[26].tag, 2);
}

TEST_F(Pair, NearOrFarEveryBulkMessageArrivesAsItWas) {
  std::vector<std::byte> data(8192 + 64);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7 + (i >> 8));
  size_t number = 0;
  for (size_t bytes = 2049; bytes <= 8192; bytes += 37) {
    const size_t offset = bytes % 64;
    Access::set_distance(sender, bytes % 2 ? 10000 : 0);
    ASSERT_EQ(sender.send(tagged(0), data.data() + offset, bytes), Answer::kDone);
    for (int i = 0; i < 2; ++i) ports[1]->poll();
    ASSERT_EQ(at(1).messages.size(), ++number);
    const auto from = data.begin() + static_cast<ptrdiff_t>(offset);
    EXPECT_EQ(at(1).messages.back().data, std::vector<std::byte>(from, from + static_cast<ptrdiff_t>(bytes)));
  }
}

TEST_F(Pair, LinesOfAnEarlierLapAreStale) {
  for (int lap = 0; lap < 3 * 64; ++lap) {
    ASSERT_EQ(sender.send(tagged(lap), &lap, sizeof lap), Answer::kDone);
    ports[1]->poll();
    ports[1]->poll();
    ASSERT_EQ(at(1).messages.size(), static_cast<size_t>(lap) + 1);
  }
}

// What a message costs is the cache lines that change owners: these are written, and no others.
TEST_F(Pair, AMessageChangesNoMoreLinesThanItNeeds) {
  const auto image = [&] {
    return std::vector<std::byte>(mapping.base(), mapping.base() + geometry.region_bytes);
  };
  const auto changed = [&](const std::vector<std::byte>& before) {
    int lines = 0;
    for (size_t at = 0; at < before.size(); at += 64)
      lines += std::memcmp(&before[at], mapping.base() + at, 64) != 0;
    return lines;
  };
  std::vector<std::byte> data(4096, std::byte{1});
  ASSERT_EQ(sender.send(tagged(0), nullptr, 0), Answer::kDone);  // makes the ring known
  for (int i = 0; i < 2; ++i) ports[1]->poll();
  const struct {
    size_t bytes;
    int to_send, to_receive;  // the latter: credit, once for many lines, but for each bulk message
  } costs[] = {{0, 1, 0}, {48, 1, 0}, {49, 2, 0}, {104, 2, 0}, {256, 5, 0}, {257, 6, 1}, {1024, 17, 1}};
  for (const auto& cost : costs) {
    SCOPED_TRACE(cost.bytes);
    auto before = image();
    ASSERT_EQ(sender.send(tagged(0), data.data(), cost.bytes), Answer::kDone);
    EXPECT_EQ(changed(before), cost.to_send);
    before = image();
    ports[1]->poll();
    EXPECT_EQ(changed(before), cost.to_receive);
  }
  EXPECT_EQ(at(1).messages.size(), 1 + std::size(costs));
}

TEST_F(Pair, OnlyAMessageThatIsWantedSkipsTheSink) {
  ASSERT_EQ(sender.send(tagged(0), nullptr, 0), Answer::kDone);  // makes the ring known
  for (int i = 0; i < 2; ++i) ports[1]->poll();
  for (int tag : {5, 6})
    for (uint64_t mask : {~uint64_t{0}, uint64_t{0xffff'ffff}})
      for (size_t room : {3u, 4u}) {
        int got = 0;
        Wanted wanted{1 | uint64_t{5} << 32, mask, 2 | 3 << 8, &got, room, false, 0};
        ASSERT_EQ(sender.send(tagged(tag), &tag, sizeof tag), Answer::kDone);
        EXPECT_EQ(ports[1]->listen(0, 1, wanted), 1);
        EXPECT_EQ(wanted.taken, room == 4 && (tag == 5 || mask >> 32 == 0));
        EXPECT_EQ(got, wanted.taken ? tag : 0);
        EXPECT_EQ(wanted.address >> 32, static_cast<uint64_t>(wanted.taken ? tag : 5));
      }
  EXPECT_EQ(at(1).messages.size(), 1u + 5);
}

TEST_F(Pair, ASilentReceiverMeansRetryAndItsCreditGoesOn) {
  int sent = 0;
  while (sender.send(tagged(sent), &sent, sizeof sent) == Answer::kDone) ++sent;
  EXPECT_EQ(sent, 64);
  for (int i = 0; i < 4; ++i) ports[1]->poll();
  EXPECT_EQ(at(1).messages.size(), 64u);
  EXPECT_EQ(sender.send(tagged(0), nullptr, 0), Answer::kDone);
}

// --- liars ---

TEST_F(Pair, UnknownFormsAreLies) {
  publish(next(), 0, control(Form::kNone, 0));
  expect_lost("form 0");
}
TEST_F(Pair, AFollowingLineWithoutAFirstIsALie) {
  publish(next(), 0, control(Form::kMore, 56));
  expect_lost("more");
}
TEST_F(Pair, AShortLineIsNotLongerThanALine) {
  publish(next(), 0, control(Form::kShort, 49));
  expect_lost("short 49");
}
TEST_F(Pair, WithAWordItIsShorterStill) {
  publish(next(), 0, control(Form::kShortWithWord, 45));
  expect_lost("short 45");
}
TEST_F(Pair, ABulkMessageHasAPossibleLength) {
  const BulkFirst head{UINT32_MAX, 0, 0};
  std::memcpy(next()->payload, &head, sizeof head);
  publish(next(), 0, control(Form::kBulk, 1));
  expect_lost("bulk length");
}
TEST_F(Pair, ABulkMessageLiesInABufferThatExists) {
  const BulkFirst head{100, 0, 8};
  std::memcpy(next()->payload, &head, sizeof head);
  publish(next(), 0, control(Form::kBulk, 1));
  expect_lost("bulk buffer");
}
TEST_F(Pair, AMessageThatBeginsInsideABufferEndsThere) {
  const BulkFirst head{100, 0, 0, 4032};
  std::memcpy(next()->payload, &head, sizeof head);
  publish(next(), 0, control(Form::kBulk, 1));
  expect_lost("it ends outside");
}
TEST_F(Pair, AMessageBeginsInItsBuffer) {
  const BulkFirst head{100, 0, 7, UINT32_MAX - 50};
  std::memcpy(next()->payload, &head, sizeof head);
  publish(next(), 0, control(Form::kBulk, 1));
  expect_lost("it begins outside");
}
TEST_F(Pair, ABufferIsCutIntoEqualPieces) {
  const BulkFirst head{5000, 0, 0};
  std::memcpy(next()->payload, &head, sizeof head);
  publish(next(), 0, control(Form::kBulk, 3));
  expect_lost("a third of a buffer");
}
TEST_F(Pair, AFrameGoesOnAsItBegan) {
  publish(next(), 0, control(Form::kFrame, 200));
  Access::advance(sender);
  publish_more(next(), control(Form::kMore, 10));
  expect_lost("frame");
}

TEST_F(Pair, CreditBeyondWhatWasSentIsALie) {
  auto* credit = mapping.at<region::Credit>(geometry.credit(1, 0));
  int sent = 0;
  while (sender.send(tagged(sent), &sent, sizeof sent) == Answer::kDone) ++sent;
  for (uint64_t lie : {uint64_t{65}, UINT64_MAX, uint64_t{1} << 32}) {
    Sender fresh = ports[0]->sender(1);
    Access::prepare(fresh);
    while (fresh.send(tagged(0), nullptr, 0) == Answer::kDone && Access::room(fresh)) {
    }
    credit->lines = lie;
    EXPECT_EQ(fresh.send(tagged(0), nullptr, 0), Answer::kFailed);
    EXPECT_NE(fresh.failure(), nullptr);
    credit->lines = 0;
  }
  credit->pieces = 2;
  std::vector<std::byte> data(16384);
  Sender fresh = ports[0]->sender(1);
  EXPECT_EQ(fresh.send(tagged(0), data.data(), 3000), Answer::kDone);  // there is room: nobody asks
  EXPECT_EQ(fresh.send(tagged(0), data.data(), data.size()), Answer::kFailed);
}

TEST_F(Pair, CreditThatGoesBackIsALie) {
  auto* credit = mapping.at<region::Credit>(geometry.credit(1, 0));
  for (int i = 0; i < 64; ++i) ASSERT_EQ(sender.send(tagged(i), nullptr, 0), Answer::kDone);
  for (int i = 0; i < 4; ++i) ports[1]->poll();
  ASSERT_EQ(sender.send(tagged(0), nullptr, 0), Answer::kDone);  // believes 64 now
  while (Access::room(sender)) ASSERT_EQ(sender.send(tagged(0), nullptr, 0), Answer::kDone);
  credit->lines = 3;
  EXPECT_EQ(sender.send(tagged(0), nullptr, 0), Answer::kFailed);
}

TEST_F(Pair, SpoiltHintsCostTimeOnly) {
  EXPECT_EQ(other.send(tagged(1), "x", 1), Answer::kDone);
  auto* hints = mapping.at<region::HintLine>(geometry.section(1) + geometry.hints);
  hints->bits[0] = UINT64_MAX & ~uint64_t{4};  // sections that do not exist, and not the one that does
  hints->bits[7] = 0xff;
  for (int i = 0; i < 3; ++i) ports[1]->poll();
  EXPECT_TRUE(at(1).messages.empty());
  ports[1]->arm();  // before a sleep everybody's own word counts
  ports[1]->poll();
  ports[1]->disarm();
  EXPECT_EQ(at(1).messages.size(), 1u);
}

// --- many peers ---

TEST(Port, FortyPeersAllGetThrough) {
  Ports p(40, 16, 160);
  std::vector<Sender> senders;
  for (uint32_t i = 1; i < 40; ++i) senders.push_back(p.ports[i]->sender(0));
  for (int round = 0; round < 600; ++round) {
    // One chatty peer, the others now and then, so that they go cold and come back.
    for (uint32_t i = 0; i < senders.size(); ++i)
      if (i == 3 || round % 50 == static_cast<int>(i)) {
        ASSERT_EQ(senders[i].send(tagged(round), nullptr, 0), Answer::kDone);
      }
    for (int polls = 0; polls < 20; ++polls) p.ports[0]->poll();
  }
  EXPECT_EQ(p.sinks[0].messages.size(), 600u + 38 * 12);
}

// --- sleeping ---

TEST(Port, ASleeperIsWokenByAMessage) {
  Ports p(2);
  Sender sender = p.ports[1]->sender(0);
  ASSERT_EQ(sender.send(tagged(0), nullptr, 0), Answer::kDone);
  while (p.sinks[0].messages.empty()) p.ports[0]->poll();
  std::atomic<bool> armed{false};
  std::thread peer([&] {
    while (!armed) usleep(100);
    usleep(20000);
    sender.send(tagged(1), nullptr, 0);
  });
  p.ports[0]->arm();
  EXPECT_EQ(p.ports[0]->poll(), 0);
  armed = true;
  const int64_t start = base::now_ns();
  p.ports[0]->sleep(5'000'000);
  EXPECT_LT(base::now_ns() - start, 4'000'000'000);
  p.ports[0]->disarm();
  EXPECT_EQ(p.ports[0]->poll(), 1);
  peer.join();
}

TEST(Port, AMessageBetweenArmAndSleepIsNotSleptThrough) {
  Ports p(2);
  Sender sender = p.ports[1]->sender(0);
  p.ports[0]->arm();
  sender.send(tagged(1), nullptr, 0);
  const int64_t start = base::now_ns();
  p.ports[0]->sleep(5'000'000);
  EXPECT_LT(base::now_ns() - start, 4'000'000'000);
  p.ports[0]->disarm();
}

TEST(Port, WhoSleepsForWantOfCreditIsFed) {
  Ports p(2);
  Sender sender = p.ports[0]->sender(1);
  while (sender.send(tagged(0), nullptr, 0) == Answer::kDone) {
  }
  auto* state = p.mapping.at<region::StatusLine>(p.geometry.section(0) + p.geometry.status);
  p.ports[0]->arm();
  EXPECT_EQ(state->state, region::kHungry);
  p.ports[1]->poll();
  p.ports[1]->poll();
  EXPECT_EQ(state->state, region::kWaking);
  p.ports[0]->disarm();
  EXPECT_EQ(sender.send(tagged(0), nullptr, 0), Answer::kDone);
  // Who has had room is only parked: credit does not disturb it.
  p.ports[0]->arm();
  for (int i = 0; i < 5; ++i) p.ports[1]->poll();
  EXPECT_EQ(state->state, region::kParked);
  p.ports[0]->disarm();
}

// --- threads, for TSan; processes, for the real thing ---

void exchange(Port& port, Sender& sender, RecordingSink& sink, int messages, size_t most) {
  std::vector<std::byte> data(most);
  int sent = 0;
  size_t seen = 0;
  while (sent < messages || seen < static_cast<size_t>(messages)) {
    const auto bytes = static_cast<size_t>(sent) * 37 % most;
    std::memset(data.data(), sent, bytes);
    const bool taken = sent < messages && sender.send(tagged(sent), data.data(), bytes) == Answer::kDone;
    if (taken) ++sent;
    if (port.poll() == 0 && !taken) sched_yield();
    for (const Message& message : sink.messages) {
      if (message.tag != static_cast<int>(seen) || message.data.size() != seen * 37 % most) _exit(3);
      for (std::byte b : message.data)
        if (b != static_cast<std::byte>(seen)) _exit(4);
      ++seen;
    }
    sink.messages.clear();
  }
}

TEST(Port, TwoThreadsExchangeEverySizeClass) {
  Ports p(2, 32);
  Sender forth = p.ports[0]->sender(1), back = p.ports[1]->sender(0);
  std::thread other([&] { exchange(*p.ports[1], back, p.sinks[1], 20000, 6000); });
  exchange(*p.ports[0], forth, p.sinks[0], 20000, 6000);
  other.join();
}

TEST(Port, TwoProcessesWrapTheRingThousandsOfTimes) {
  Ports p(2, 64);
  const pid_t child = fork();
  const uint32_t self = child == 0 ? 1 : 0;
  Sender sender = p.ports[self]->sender(1 - self);
  exchange(*p.ports[self], sender, p.sinks[self], 400000, 60);
  if (child == 0) _exit(0);
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace vicinity::channel::ring
