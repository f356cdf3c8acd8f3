// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite of channels over UCX and TCP: two networks in one process. Without UCX on this
// machine there is nothing to be tested, and the one test left says so.
#include "channel/ucx/network.h"

#include <unistd.h>

#include <memory>
#include <numeric>

#include "base/clock.h"
#include "base/progress.h"
#include "channel/ucx/library.h"
#include "channel_conformance.h"

namespace vicinity::test {
namespace {

channel::ucx::Network* networks[2];

base::Result<std::string> address_of(Proc proc) { return networks[proc]->address(); }

struct UcxHarness {
  static constexpr bool kLoops = false;

  UcxHarness() {
    for (Proc end = 0; end < 2; ++end) {
      channel::ucx::NetworkOptions options;
      options.self = end, options.count = 2, options.transport = "tcp";
      auto network = channel::ucx::Network::open(options, sinks[end]);
      if (!network.ok()) ADD_FAILURE() << base::failure_text(network.status().code());
      opened[end] = std::move(*network);
      opened[end]->address_of = address_of;
      networks[end] = opened[end].get();
    }
  }
  Answer send(int from, const Envelope& envelope, const void* data, size_t bytes) {
    const Answer answer = opened[from]->link(1 - from).send(envelope, data, bytes);
    if (answer == Answer::kDone) ++sent[from];
    return answer;
  }
  // Both ends move, as two processes would; what is under way is waited for, but not for ever.
  int poll(int at) {
    const uint64_t due = sent[1 - at];
    uint64_t before = opened[at]->link(1 - at).messages();
    const int64_t end = base::now_ns() + 2'000'000'000;
    for (;;) {
      opened[1 - at]->poll();
      opened[at]->poll();
      const uint64_t now = opened[at]->link(1 - at).messages();
      if (now > before) return static_cast<int>(now - before);
      if (now == due || base::now_ns() > end) return 0;
    }
  }
  CollectingSink& sink(int at) { return sinks[at]; }
  size_t largest() { return opened[0]->link(1).largest(); }

  uint64_t sent[2] = {0, 0};
  CollectingSink sinks[2];
  std::unique_ptr<channel::ucx::Network> opened[2];
};

struct OfferSink final : channel::Sink {
  channel::Landing land(Proc, const Envelope&, size_t) override { return {}; }
  void landed(const channel::Landing&, size_t) override { order.push_back(0); }
  void offered(Proc, const Envelope&, size_t bytes, void* offer) override {
    order.push_back(bytes);
    offers.push_back(offer);
  }
  void lost(Proc, const char* why) override { ADD_FAILURE() << why; }
  std::vector<size_t> order;
  std::vector<void*> offers;
};

struct Offers : testing::Test {
  void SetUp() override {
    for (Proc end = 0; end < 2; ++end) {
      channel::ucx::NetworkOptions options;
      options.self = end, options.count = 2, options.transport = "tcp";
      opened[end] = std::move(*channel::ucx::Network::open(options, sinks[end]));
      opened[end]->address_of = address_of;
      networks[end] = opened[end].get();
    }
    data.resize(3'000'000);
    std::iota(data.begin(), data.end(), 7u);
  }
  size_t bytes() const { return data.size() * sizeof data[0]; }
  template <class Condition>
  bool until(Condition&& condition) {
    const int64_t end = base::now_ns() + 20'000'000'000;
    while (!condition() && base::now_ns() < end) opened[0]->poll(), opened[1]->poll();
    return condition();
  }
  Answer offer() {
    return opened[0]->link(1).offer(
        envelope_of(1), data.data(), bytes(), [](void* self, bool good) { *static_cast<int*>(self) = good; },
        &finished);
  }
  int finished = -1;
  std::vector<uint32_t> data;
  OfferSink sinks[2];
  std::unique_ptr<channel::ucx::Network> opened[2];
};

struct Take : channel::Fetch {
  int good = -1;
  std::vector<std::byte> bytes;
};

TEST_F(Offers, KeepTheirPlaceAmongMessagesAndAreFetchedInOnePiece) {
  ASSERT_EQ(opened[0]->link(1).send(envelope_of(0), "a", 1), Answer::kDone);
  ASSERT_EQ(offer(), Answer::kDone);
  ASSERT_EQ(opened[0]->link(1).send(envelope_of(2), "b", 1), Answer::kDone);
  ASSERT_TRUE(until([&] { return sinks[1].order.size() == 3; }));
  EXPECT_EQ(sinks[1].order, (std::vector<size_t>{0, bytes(), 0}));
  EXPECT_EQ(finished, -1);
  Take take;
  take.done = [](channel::Fetch* self, bool good) { static_cast<Take*>(self)->good = good; };
  take.bytes.resize(bytes());
  opened[1]->fetch(sinks[1].offers[0], bytes(), take.bytes.data(), &take);
  ASSERT_TRUE(until([&] { return take.good != -1 && finished != -1; }));
  EXPECT_EQ(take.good, 1);
  EXPECT_EQ(finished, 1);
  EXPECT_EQ(std::memcmp(take.bytes.data(), data.data(), bytes()), 0);
}

TEST_F(Offers, AreFetchedPartByPart) {
  ASSERT_EQ(offer(), Answer::kDone);
  ASSERT_TRUE(until([&] { return sinks[1].offers.size() == 1; }));
  Take take;
  take.done = [](channel::Fetch* self, bool good) { static_cast<Take*>(self)->good = good; };
  take.write = [](channel::Fetch* self, size_t offset, const void* from, size_t bytes) {
    auto& to = static_cast<Take*>(self)->bytes;
    ASSERT_LE(offset + bytes, to.size());
    std::memcpy(to.data() + offset, from, bytes);
  };
  take.bytes.resize(bytes());
  opened[1]->fetch(sinks[1].offers[0], bytes(), nullptr, &take);
  ASSERT_TRUE(until([&] { return take.good != -1 && finished != -1; }));
  EXPECT_EQ(std::memcmp(take.bytes.data(), data.data(), bytes()), 0);
}

TEST_F(Offers, ThatAreRefusedLetTheSenderGoOn) {
  ASSERT_EQ(offer(), Answer::kDone);
  ASSERT_TRUE(until([&] { return sinks[1].offers.size() == 1; }));
  opened[1]->refuse(sinks[1].offers[0], bytes());
  ASSERT_TRUE(until([&] { return finished != -1; }));
  EXPECT_EQ(finished, 1);
}

TEST_F(Offers, EndWhenTheLinkIsClosed) {
  ASSERT_EQ(offer(), Answer::kDone);
  ASSERT_TRUE(until([&] { return sinks[1].offers.size() == 1; }));
  opened[0]->link(1).close("a test");
  ASSERT_TRUE(until([&] { return finished != -1; }));
  EXPECT_EQ(finished, 0);
  opened[1]->link(0).close("a test");
}

// All that is left where UCX (Debian: libucx0) is not installed.
TEST(Ucx, SkippedWithoutUcx) {
  if (!channel::ucx::load().ok())
    GTEST_SKIP() << "the channel over UCX is not tested: " << base::failure_text(base::kUnsupported);
}

INSTANTIATE_TYPED_TEST_SUITE_P(Ucx, ChannelConformance, UcxHarness);

}  // namespace
}  // namespace vicinity::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!vicinity::channel::ucx::load().ok()) testing::GTEST_FLAG(filter) = "Ucx.SkippedWithoutUcx";
  return RUN_ALL_TESTS();
}
