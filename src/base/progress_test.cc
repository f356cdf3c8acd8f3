// SPDX-License-Identifier: BSD-3-Clause
// Waiting: one thread, several threads, sleepers, and the engine lock.
#include "base/progress.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {
std::atomic<int> yields{0}, yield_takes_us{-1};  // -1: what it takes
}

// In the place of the C library's: what a yield costs where somebody else computes.
extern "C" int sched_yield() noexcept {
  ++yields;
  if (yield_takes_us < 0) return static_cast<int>(syscall(SYS_sched_yield));
  if (yield_takes_us > 0) usleep(static_cast<useconds_t>(yield_takes_us));
  return 0;
}

namespace vicinity::base {
namespace {

struct CountingPoller final : Poller {
  int polls = 0, event_at = -1;
  int poll() override { return ++polls == event_at; }
};

TEST(Progress, PollersMayComeAndGoWhilePolled) {
  struct Once final : Poller {
    int polls = 0;
    int poll() override {
      ++polls;
      remove_poller(this);
      return 1;
    }
  } once;
  CountingPoller always;
  add_poller(&once);
  add_poller(&always);
  progress();
  EXPECT_EQ(progress(), 0);
  EXPECT_EQ(once.polls, 1);
  EXPECT_GE(always.polls, 1);
  remove_poller(&always);
  remove_poller(&always);  // once more does nothing
  const int polls = always.polls;
  progress();
  EXPECT_EQ(always.polls, polls);
}

// A sleeper that is woken by a condition variable's poor relative.
struct TestSleeper final : Sleeper {
  std::atomic<int> arms{0}, disarms{0}, sleeps{0}, wakes{0};
  std::atomic<int> goings{0}, returns{0};
  uint32_t running = kNobody;
  std::atomic<uint32_t> word{0};
  uint32_t seen = 0;
  void arm() override { ++arms, seen = word.load(); }
  void disarm() override { ++disarms; }
  void sleep(int timeout_us) override {
    ++sleeps;
    for (int i = 0; i < timeout_us && word.load() == seen; i += 100) usleep(100);
  }
  void wake_self() override { ++wakes, ++word; }
  void tell_away(bool away) override { away ? ++goings : ++returns; }
  bool is_away(uint32_t process) override { return process != running; }
};

TEST(Progress, ALongWaitSleepsAndEveryArmIsUndone) {
  TestSleeper sleeper;
  set_sleeper(&sleeper);
  const int64_t end = now_ns() + 20'000'000'000;
  wait_until([&] { return sleeper.sleeps >= 3 || now_ns() > end; });
  EXPECT_EQ(sleeper.sleeps, 3);
  EXPECT_EQ(sleeper.arms, sleeper.disarms);
  // A wait that ends between arm() and sleep() is undone as well.
  const int sleeps = sleeper.sleeps;
  wait_until([&, arms = sleeper.arms.load()] { return sleeper.arms > arms; });
  EXPECT_EQ(sleeper.sleeps, sleeps);
  EXPECT_EQ(sleeper.arms, sleeper.disarms);
  set_sleeper(nullptr);
}

TEST(Progress, AShortWaitDoesNotSleep) {
  TestSleeper sleeper;
  set_sleeper(&sleeper);
  set_oversubscribed(false);  // and what yields have told before is forgotten
  CountingPoller poller;
  add_poller(&poller);
  // A wait that others on the machine stretch is not short any more and may well sleep: one quiet try of
  // fifty is enough.
  bool quiet = false;
  for (int tries = 0; tries < 50 && !quiet; ++tries) {
    sleeper.arms = 0;
    wait_until([&, enough = poller.polls + 200] { return poller.polls >= enough; });
    quiet = sleeper.arms == 0;
  }
  EXPECT_TRUE(quiet);
  remove_poller(&poller);
  set_sleeper(nullptr);
}

TEST(Progress, OversubscribedWaitsYieldAtOnceAndThenSleep) {
  TestSleeper sleeper;
  set_sleeper(&sleeper);
  set_oversubscribed(true);
  CountingPoller poller;
  add_poller(&poller);
  wait_until([&] { return sleeper.sleeps >= 1; });
  EXPECT_LE(poller.polls, 60);  // a poll per yield
  set_oversubscribed(false);
  remove_poller(&poller);
  set_sleeper(nullptr);
}

// Each yield would cost a slice of whoever computes; a wake does not.
void sleep_where_yields_are_long(bool oversubscribed) {
  TestSleeper sleeper;
  set_sleeper(&sleeper);
  set_oversubscribed(oversubscribed);
  const auto one_wait = [&] {
    wait_until([&, sleeps = sleeper.sleeps.load()] { return sleeper.sleeps > sleeps; });
  };
  yield_takes_us = 1000;
  for (int i = 0; i < 8; ++i) one_wait();  // learns
  yields = 0;
  for (int i = 0; i < 64; ++i) one_wait();
  EXPECT_LE(yields, 3);
  // It is noticed when that is over.
  yield_takes_us = 0;
  for (int i = 0; i < 2000 && yields < 200; ++i) one_wait();
  EXPECT_GE(yields, 200);
  yield_takes_us = -1;
  EXPECT_EQ(sleeper.arms, sleeper.disarms);
  set_oversubscribed(false);
  set_sleeper(nullptr);
}

TEST(Progress, WhereYieldsTakeWholeSlicesWaitsSleepWithoutThem) {
  sleep_where_yields_are_long(true);
  sleep_where_yields_are_long(false);
}

// The waits of a crowded process for another one, in polls and in times that it gave its core away.
class Glance : public testing::Test {
 protected:
  void SetUp() override {
    set_sleeper(&sleeper_);
    set_oversubscribed(true);
    add_poller(&poller_);
    yield_takes_us = 0;
  }
  void TearDown() override {
    EXPECT_EQ(sleeper_.goings, sleeper_.returns);
    remove_poller(&poller_);
    set_oversubscribed(false);
    set_sleeper(nullptr);
    yield_takes_us = -1;
  }
  // Waits for a process until it has answered after so many polls; how often was the core given away?
  int wait_for(uint32_t whom, int polls) {
    const int before = sleeper_.goings;
    wait_until([&, enough = poller_.polls + polls] { return poller_.polls >= enough; }, whom);
    return sleeper_.goings - before;
  }
  TestSleeper sleeper_;
  CountingPoller poller_;
};

TEST_F(Glance, WhoIsAwayIsNotWaitedForByPolling) {
  const auto polls_for = [&](int goings, uint32_t whom) {
    const int polls = poller_.polls;
    wait_until([&, enough = sleeper_.goings + goings] { return sleeper_.goings >= enough; }, whom);
    return poller_.polls - polls;
  };
  EXPECT_LE(polls_for(20, kNobody), 24);
  for (int waits = 0; waits < 100; ++waits) polls_for(20, 7);  // to linger becomes rare
  int at_once = 0;
  for (int waits = 0; waits < 20; ++waits) at_once += polls_for(20, 7) <= 24;
  EXPECT_GE(at_once, 12);
}

TEST_F(Glance, WhoRunsIsGivenTimeToAnswer) {
  sleeper_.running = 7;
  bool patient = false;  // on a machine that others stretch, one try of fifty is enough
  for (int tries = 0; tries < 50 && !patient; ++tries) patient = wait_for(7, 20) == 0;
  EXPECT_TRUE(patient);
}

TEST_F(Glance, WhoRunsButNeverAnswersIsHardlyGlancedAtAnyMore) {
  sleeper_.running = 7;
  const auto polls_until_away = [&] {
    const int polls = poller_.polls, goings = sleeper_.goings;
    wait_until([&] { return sleeper_.goings > goings; }, 7);
    return poller_.polls - polls;
  };
  for (int waits = 0; waits < 8; ++waits) polls_until_away();  // hope ends
  int at_once = 0;
  for (int waits = 0; waits < 64; ++waits) at_once += polls_until_away() <= 2;
  EXPECT_GE(at_once, 48);
}

class Multiple : public testing::Test {
 protected:
  void SetUp() override { set_threads_multiple(true); }
  void TearDown() override { set_threads_multiple(false); }
};

TEST_F(Multiple, TheLockIsRecursiveAndExcludes) {
  int counter = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        engine_lock.lock();
        engine_lock.lock();
        ++counter;
        engine_lock.unlock();
        ++counter;
        engine_lock.unlock();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, 40000);
}

TEST_F(Multiple, AThreadThatWaitsLetsOthersIn) {
  bool done = false;
  std::thread waiter([&] {
    engine_lock.lock();
    engine_lock.lock();  // whatever the depth
    wait_until([&] { return done; });
    engine_lock.unlock();
    engine_lock.unlock();
  });
  for (int i = 0; i < 1000; ++i) {
    engine_lock.lock();
    engine_lock.unlock();
  }
  engine_lock.lock();
  done = true;
  engine_lock.unlock();
  waiter.join();
}

// The lock is given up only by a look that yields.
TEST_F(Multiple, ManyFruitlessLooksGiveTheCoreAwayWhenCrowded) {
  set_oversubscribed(true);
  std::atomic<bool> taken{false}, wants{false};
  engine_lock.lock();
  std::thread other([&] {
    wants = true;
    engine_lock.lock();
    taken = true;
    engine_lock.unlock();
  });
  while (!wants) usleep(100);
  int looks = 0;
  const int64_t end = now_ns() + 20'000'000'000;
  for (; !taken && now_ns() < end; ++looks) look();
  EXPECT_TRUE(taken);
  EXPECT_GE(looks, 4);  // a few looks are free
  engine_lock.unlock();
  other.join();
  set_oversubscribed(false);
}

TEST_F(Multiple, ACompletionByOneThreadWakesAnotherThatSleeps) {
  TestSleeper sleeper;
  set_sleeper(&sleeper);
  bool first = false, second = false;
  std::atomic<int64_t> woke{0};
  std::thread poller([&] { wait_until([&] { return first; }); });
  std::thread bystander([&] {
    wait_until([&] { return second; });
    woke = now_ns();
  });
  while (sleeper.sleeps == 0) usleep(1000);
  usleep(3000);
  engine_lock.lock();
  second = true;
  const int64_t told = now_ns();
  engine_lock.unlock();
  bystander.join();
  EXPECT_LT(woke - told, 200'000'000);
  engine_lock.lock();
  first = true;
  engine_lock.unlock();
  poller.join();
  set_sleeper(nullptr);
}

TEST_F(Multiple, TheRoleOfThePollerIsHandedOver) {
  struct Steps final : Poller {
    int steps = 0;
    int poll() override { return ++steps % 3 == 0; }
  } steps;
  engine_lock.lock();
  add_poller(&steps);
  engine_lock.unlock();
  std::vector<std::thread> threads;
  std::atomic<int> ended{0};
  for (int t = 1; t <= 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 1; round <= 20; ++round)
        wait_until([&] { return steps.steps >= round * 100 + t * 7; });
      ++ended;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ended, 4);
  engine_lock.lock();
  remove_poller(&steps);
  engine_lock.unlock();
}

TEST_F(Multiple, ACallbackMayWaitInsideAWait) {
  struct Nested final : Poller {
    bool in = false;
    int polls = 0;
    int poll() override {
      ++polls;
      if (in || polls < 10) return 0;
      in = true;
      wait_until([&] { return polls > 20; });
      return 1;
    }
  } nested;
  add_poller(&nested);
  wait_until([&] { return nested.polls > 30; });
  remove_poller(&nested);
  EXPECT_TRUE(nested.in);
}

TEST(EngineLock, WithoutThreadsItDoesNothing) {
  engine_lock.lock();
  set_threads_multiple(true);
  engine_lock.unlock();  // the door that was entered before
  engine_lock.lock();
  set_threads_multiple(false);
  engine_lock.unlock();
  set_threads_multiple(true);
  std::thread other([] {
    engine_lock.lock();
    engine_lock.unlock();
  });
  other.join();
  set_threads_multiple(false);
}

}  // namespace
}  // namespace vicinity::base
