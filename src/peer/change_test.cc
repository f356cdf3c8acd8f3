// SPDX-License-Identifier: BSD-3-Clause
// Thousands of pairs that change to and fro, by chance, over notes that are lost, doubled and late.
#include "peer/change.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

namespace vicinity::peer {
namespace {

struct End {
  Change change;
  std::deque<int> ring, network;                                  // towards the other, in order
  std::vector<ChangeNote> notes;                                  // towards the other, in any order
  Counts counts{0xfffffff0, 0xfffffff0, 0xfffffffa, 0xfffffffa};  // they go round soon
  int asked = 0, sent = 0, received = 0;
  bool unreadable = false;  // we take nothing more out of the other's ring
  bool wrong = false, lost = false;

  void take(int message, uint32_t& count) {
    wrong |= message != received++;
    ++count;
  }
};

class Pair {
 public:
  explicit Pair(uint32_t seed) : dice_(seed) {}

  // What may happen at one end, by chance.
  void act(int which, bool calm) {
    End& own = ends_[which];
    End& other = ends_[1 - which];
    switch (dice_() % 10) {
      case 0:
        own.asked += calm ? 0 : static_cast<int>(dice_() % 5);
        break;
      case 1:
      case 2:
        send(own);
        break;
      case 3:
      case 4:
        if (!other.ring.empty() && !own.unreadable) {
          own.take(other.ring.front(), own.counts.ring_read);
          other.ring.pop_front();
        }
        break;
      case 5:
        if (!other.network.empty()) {
          own.take(other.network.front(), own.counts.network_read);
          other.network.pop_front();
        }
        break;
      case 6:
      case 7:
        hear(own, other);
        break;
      case 8:
        if (!own.lost && !own.change.step(own.counts, dice_() % 3 != 0)) own.lost = true;
        break;
      default:
        if (dice_() % 4 == 0) own.change.tell_again();
        if (own.change.wants_to_tell()) own.notes.push_back(own.change.tell(own.counts));
    }
  }
  void hold(int which, bool yes) { ends_[which].change.hold(yes); }
  void fail(int which, bool unreadable) {
    ends_[which].change.fail(unreadable);
    ends_[which].unreadable |= unreadable;
  }
  bool settled() const {
    for (const End& end : ends_)
      if (!end.change.settled() || end.sent != end.asked || !end.ring.empty() || !end.network.empty())
        return false;
    return ends_[0].received == ends_[1].sent && ends_[1].received == ends_[0].sent;
  }
  bool lost() const { return ends_[0].lost || ends_[1].lost; }
  bool wrong() const { return ends_[0].wrong || ends_[1].wrong; }
  // A ring that nobody reads any more, with something in it: no machine can save that.
  bool stuck() const {
    return (ends_[0].unreadable && !ends_[1].ring.empty()) || (ends_[1].unreadable && !ends_[0].ring.empty());
  }
  End& end(int which) { return ends_[which]; }
  uint32_t roll(uint32_t sides) { return static_cast<uint32_t>(dice_() % sides); }

 private:
  void send(End& own) {
    for (; own.sent < own.asked; ++own.sent) {
      if (own.change.state() == RingState::kActive) {
        own.ring.push_back(own.sent);
        ++own.counts.ring_written;
      } else if (own.change.state() == RingState::kClose) {
        own.network.push_back(own.sent);
        ++own.counts.network_sent;
      } else {
        return;
      }
    }
  }
  // Any of the notes under way: it comes, comes again later, or never.
  void hear(End& own, End& other) {
    if (other.notes.empty()) return;
    const size_t which = dice_() % other.notes.size();
    const ChangeNote note = other.notes[which];
    const uint32_t fate = roll(8);
    if (fate != 0) other.notes.erase(other.notes.begin() + static_cast<std::ptrdiff_t>(which));
    if (fate == 1) return;
    if (!own.change.take(note)) own.lost = true;
  }

  std::mt19937 dice_;
  End ends_[2];
};

constexpr int kEnough = 20000;  // steps in which a pair must come to rest

TEST(Change, NothingIsLostAndNothingOvertakes) {
  uint64_t changes = 0, messages = 0;
  for (uint32_t seed = 1; seed <= 3000; ++seed) {
    Pair pair(seed);
    for (int i = 0; i < 2000; ++i) {
      if (pair.roll(50) == 0) pair.hold(static_cast<int>(pair.roll(2)), pair.roll(2) == 0);
      pair.act(static_cast<int>(pair.roll(2)), false);
    }
    pair.hold(0, false);
    pair.hold(1, false);
    int i = 0;
    for (; i < kEnough && !pair.settled(); ++i) pair.act(static_cast<int>(pair.roll(2)), true);
    ASSERT_LT(i, kEnough) << "seed " << seed
                          << " does not come to rest: " << name_of(pair.end(0).change.state()) << ", "
                          << name_of(pair.end(1).change.state());
    ASSERT_FALSE(pair.wrong()) << "seed " << seed;
    ASSERT_FALSE(pair.lost()) << "seed " << seed << ": "
                              << (pair.end(0).change.failure() ? pair.end(0).change.failure() : "") << ", "
                              << (pair.end(1).change.failure() ? pair.end(1).change.failure() : "");
    for (int which : {0, 1}) {
      ASSERT_EQ(pair.end(which).change.state(), RingState::kActive) << "seed " << seed;
      changes += pair.end(which).change.tell(pair.end(which).counts).epoch;
      messages += static_cast<uint64_t>(pair.end(which).received);
    }
  }
  EXPECT_GT(changes, 30000u);  // it was about something
  EXPECT_GT(messages, 300000u);
}

TEST(Change, WhoHoldsIsOffTheRingInBothDirections) {
  for (uint32_t seed = 1; seed <= 1000; ++seed) {
    Pair pair(seed);
    for (int i = 0; i < 500; ++i) {
      if (pair.roll(50) == 0) pair.hold(static_cast<int>(pair.roll(2)), pair.roll(2) == 0);
      pair.act(static_cast<int>(pair.roll(2)), false);
    }
    pair.hold(0, true);
    int i = 0;
    for (; i < kEnough && !pair.settled(); ++i) pair.act(static_cast<int>(pair.roll(2)), true);
    ASSERT_TRUE(i < kEnough && !pair.wrong() && !pair.lost()) << "seed " << seed;
    for (int which : {0, 1}) ASSERT_TRUE(pair.end(which).change.off()) << "seed " << seed;
  }
}

TEST(Change, AFailureLosesNothingThatCouldBeRead) {
  int saved = 0, gone = 0;
  for (uint32_t seed = 1; seed <= 3000; ++seed) {
    Pair pair(seed);
    const uint32_t when = pair.roll(1000);
    const bool unreadable = pair.roll(2) == 0;
    for (uint32_t i = 0; i < 1000; ++i) {
      if (i == when) pair.fail(static_cast<int>(pair.roll(2)), unreadable);
      if (pair.roll(50) == 0) pair.hold(static_cast<int>(pair.roll(2)), pair.roll(2) == 0);
      pair.act(static_cast<int>(pair.roll(2)), i > when);
    }
    pair.hold(0, false);
    pair.hold(1, false);
    int i = 0;
    for (; i < kEnough && !pair.settled() && !pair.lost(); ++i)
      pair.act(static_cast<int>(pair.roll(2)), true);
    ASSERT_LT(i, kEnough) << "seed " << seed << " hangs";
    ASSERT_FALSE(pair.wrong()) << "seed " << seed;
    ASSERT_TRUE(!pair.lost() || unreadable) << "seed " << seed << ": lost what could be read";
    if (pair.lost()) {
      ++gone;
      ASSERT_TRUE(pair.stuck()) << "seed " << seed << ": lost although nothing was in the ring";
      continue;
    }
    ++saved;
    for (int which : {0, 1}) ASSERT_EQ(pair.end(which).change.state(), RingState::kClose) << "seed " << seed;
  }
  EXPECT_GT(saved, 1500);
  EXPECT_GT(gone, 100);
}

TEST(Change, LiesAreToldFromNotes) {
  const ChangeNote nothing{0, 0, 0, 0, 0, 1, 0, 0, 0};
  Change change;
  EXPECT_TRUE(change.take(nothing));
  ChangeNote lie = nothing;
  lie.hold = 2;
  EXPECT_FALSE(change.take(lie));
  lie = nothing;
  lie.heard = 1;  // we have said nothing yet
  EXPECT_FALSE(Change().take(lie));
  lie = nothing;
  lie.epoch = 1;
  lie.ring = 0;
  lie.ring_written = 4;  // fewer than we have read
  Change other;
  ASSERT_TRUE(other.take(lie));
  EXPECT_FALSE(other.step({0, 5, 0, 0}, true));
  EXPECT_NE(other.failure(), nullptr);
}

TEST(Change, WhoHasLeftNeedNotAnswer) {
  Change change;
  change.hold(true);
  ASSERT_TRUE(change.step({}, true));
  EXPECT_EQ(change.state(), RingState::kSuspend);
  change.give_up();
  EXPECT_EQ(change.state(), RingState::kClose);
  EXPECT_TRUE(change.step({}, true));
  EXPECT_TRUE(change.settled());
}

}  // namespace
}  // namespace vicinity::peer
