// SPDX-License-Identifier: BSD-3-Clause
// Random sends and receives between endpoints whose channels are small, slow and often full. Every
// message says who sent it, in which place of the order, and with how many bytes; that is the reference.
#include <gtest/gtest.h>

#include <random>

#include "object/datatype_create.h"
#include "p2p/test_world.h"

namespace vicinity::p2p {
namespace {

using test::World;

enum class Pattern { kExact, kAnySource, kAnyTag, kAny };

struct Sent {
  Proc from, to;
  int tag;
  uint32_t number;  // among the messages of the run
  size_t bytes;
  std::vector<unsigned char> buffer;
  Request* request = nullptr;
};

struct Received {
  Proc at;
  int source, tag;
  size_t room;
  std::vector<unsigned char> buffer;
  Request* request = nullptr;
  uint32_t got = UINT32_MAX;  // number of the message
};

unsigned char pattern_byte(uint32_t number, size_t at) {
  return static_cast<unsigned char>(number * 131 + at * 7 + (at >> 8));
}

// Ints with a hole after each pair, or bytes.
Datatype& holey() {
  static Datatype* type = [] {
    auto made = object::type_vector(2, 1, 2, object::builtin(MPI_INT), false);
    object::commit(**made);
    auto resized = object::type_resized(**made, 0, 16, false);
    object::commit(**resized);
    return *resized;
  }();
  return *type;
}

class RandomTest : public testing::TestWithParam<uint32_t> {
 protected:
  size_t pick_size() {
    switch (random_() % 6) {
      case 0:
        return 0;
      case 1:
        return 8 * (random_() % 8);
      case 2:
        return 8 * (random_() % 200);
      case 3:
        return 8 * (random_() % 2000);
      case 4:
        return 8 * (random_() % 10000);
      default:
        return 8 * (random_() % 20);
    }
  }
  test::Script pick_script() {
    static constexpr size_t kLargest[] = {64, 256, 1000, 16384};
    static constexpr size_t kCapacity[] = {1, 2, 8, SIZE_MAX};
    test::Script script;
    script.largest = kLargest[random_() % 4];
    script.capacity = kCapacity[random_() % 4];
    script.retry_every = random_() % 3 ? 0 : 2 + random_() % 3;
    script.delay_polls = random_() % 4;
    return script;
  }
  void make_messages(uint32_t endpoints, Pattern pattern);
  void start(World& world);
  void check(const Received& receive);
  void check_order();

  std::mt19937 random_{GetParam()};
  std::vector<Sent> sends_;
  std::vector<Received> receives_;
};

void RandomTest::make_messages(uint32_t endpoints, Pattern pattern) {
  const bool deep = random_() % 6 == 0;  // queues get so long that there are tables of them
  const int messages = (deep ? 200 : 20) + static_cast<int>(random_() % 60);
  const uint32_t tags = deep ? 80 : 3;
  for (int i = 0; i < messages; ++i) {
    const auto from = static_cast<Proc>(random_() % endpoints), to = static_cast<Proc>(random_() % endpoints);
    Sent sent{from, to, static_cast<int>(random_() % tags), static_cast<uint32_t>(i), pick_size(), {}};
    sends_.push_back(sent);
    Received receive{sent.to, static_cast<int>(sent.from), sent.tag, 80000, {}};
    if (pattern == Pattern::kAnySource || pattern == Pattern::kAny) receive.source = MPI_ANY_SOURCE;
    if (pattern == Pattern::kAnyTag || pattern == Pattern::kAny) receive.tag = MPI_ANY_TAG;
    if (random_() % 8 == 0) receive.room = 8 * (random_() % 2000);
    receives_.push_back(receive);
  }
}

void RandomTest::start(World& world) {
  size_t sent = 0, received = 0;
  while (sent < sends_.size() || received < receives_.size()) {
    if (random_() % 3 == 0) base::progress();
    const bool holes = random_() % 3 == 0;
    Datatype& type = holes ? holey() : object::builtin(MPI_BYTE);
    if (sent < sends_.size() && (received == receives_.size() || random_() % 2)) {
      Sent& s = sends_[sent++];
      Communicator& comm = world.enter(s.from);
      s.buffer.resize(2 * s.bytes + 1);
      for (size_t at = 0; at < s.bytes; ++at)
        s.buffer[holes ? at / 4 * 8 + at % 4 : at] = pattern_byte(s.number, at);
      // A message tells its number by its length and bytes; zero-byte ones by order alone.
      const Mode mode = random_() % 3 ? Mode::kStandard : Mode::kSynchronous;
      ASSERT_TRUE(isend(s.buffer.data(), static_cast<MPI_Count>(holes ? s.bytes / 8 : s.bytes), type,
                        static_cast<int>(s.to), s.tag, comm, Lane::kUser, mode, &s.request)
                      .ok());
    } else {
      Received& r = receives_[received++];
      Communicator& comm = world.enter(r.at);
      r.buffer.assign(r.room + 1, 0xee);
      ASSERT_TRUE(irecv(r.buffer.data(), static_cast<MPI_Count>(r.room), object::builtin(MPI_BYTE), r.source,
                        r.tag, comm, Lane::kUser, &r.request)
                      .ok());
    }
  }
}

// Expect: source, tag, length and bytes are those of one message, and the room after it is untouched.
void RandomTest::check(const Received& r) {
  const Sent& s = sends_[r.got];
  EXPECT_EQ(r.request->status.MPI_SOURCE, static_cast<int>(s.from));
  EXPECT_EQ(r.request->status.MPI_TAG, s.tag);
  const size_t bytes = std::min(s.bytes, r.room);
  EXPECT_EQ(object::get_bytes(r.request->status), static_cast<MPI_Count>(bytes));
  EXPECT_EQ(r.request->error, s.bytes > r.room ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
  for (size_t at = 0; at < bytes; ++at) ASSERT_EQ(r.buffer[at], pattern_byte(s.number, at)) << "byte " << at;
  EXPECT_EQ(r.buffer[bytes], 0xee);
}

// For each pair and receive pattern the k-th receive must have got the k-th message that it takes: true
// because within one run all receives of an endpoint that compete for a message have the same pattern.
void RandomTest::check_order() {
  std::vector<bool> taken(sends_.size());
  for (Received& r : receives_) {
    const MPI_Status& status = r.request->status;
    for (const Sent& s : sends_) {
      if (taken[s.number] || s.to != r.at) continue;
      if (status.MPI_SOURCE != static_cast<int>(s.from) || status.MPI_TAG != s.tag) continue;
      taken[s.number] = true;
      r.got = s.number;
      break;
    }
    ASSERT_NE(r.got, UINT32_MAX);
    check(r);
  }
}

TEST_P(RandomTest, EveryMessageArrivesOnceInOrder) {
  const uint32_t endpoints = 1 + random_() % 4;
  const Pattern pattern = static_cast<Pattern>(random_() % 4);
  World world(endpoints, [&](Proc, Proc) { return pick_script(); });
  if (random_() % 4 == 0)  // the kernel will refuse: everything must go on through the channel
    for (Proc i = 0; i < endpoints; ++i)
      for (Proc j = 0; j < endpoints; ++j)
        if (i != j) world.at(i).connections[j].allow_single_copy(true, "a test");
  make_messages(endpoints, pattern);
  start(world);
  if (HasFatalFailure()) return;
  const bool all = test::eventually([&] {
    for (Sent& s : sends_)
      if (!s.request->complete) return false;
    for (Received& r : receives_)
      if (!r.request->complete) return false;
    return true;
  });
  ASSERT_TRUE(all) << "something hangs";
  for (Sent& s : sends_) EXPECT_EQ(s.request->error, MPI_SUCCESS);
  check_order();
  for (Received& r : receives_) {
    world.enter(r.at);
    EXPECT_EQ(finish(r.request).code(), sends_[r.got].bytes > r.room ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
  }
  for (Sent& s : sends_) {
    world.enter(s.from);
    discard(s.request);
  }
  for (Proc i = 0; i < endpoints; ++i) {
    EXPECT_EQ(world.at(i).engine.counters.unexpected, 0u);
    EXPECT_EQ(world.at(i).engine.counters.posted, 0u);
    EXPECT_TRUE(world.at(i).engine.landings.empty());
    int ids = 0;
    world.at(i).engine.ids.each([&](object::Request*, Role) { ++ids; });
    EXPECT_EQ(ids, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTest, testing::Range(1u, 301u));

}  // namespace
}  // namespace vicinity::p2p
