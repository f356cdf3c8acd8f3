// SPDX-License-Identifier: BSD-3-Clause
// The lock word: who gets it when, and that it excludes.
#include "rma/lock.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>
#include <vector>

namespace vicinity::rma {
namespace {

TEST(Lock, SharedByManyAloneByOne) {
  Control control{};
  EXPECT_TRUE(try_shared(control));
  EXPECT_TRUE(try_shared(control));
  EXPECT_TRUE(held_shared(control));
  EXPECT_FALSE(try_alone(control, 3));
  release_shared(control);
  release_shared(control);
  EXPECT_TRUE(try_alone(control, 3));
  EXPECT_EQ(lone_holder(control), 3);
  EXPECT_FALSE(try_shared(control));
  EXPECT_FALSE(try_alone(control, 4));
  release_alone(control);
  EXPECT_EQ(lone_holder(control), -1);
}

TEST(Lock, NewSharersLetOneWhoWantsItAloneGoFirst) {
  Control control{};
  EXPECT_TRUE(try_shared(control));
  EXPECT_FALSE(try_alone(control, 0));
  EXPECT_FALSE(try_shared(control));
  release_shared(control);
  EXPECT_FALSE(try_shared(control));
  EXPECT_TRUE(try_alone(control, 0));
  release_alone(control);
  EXPECT_TRUE(try_shared(control));
}

TEST(Lock, WhoGivesUpDoesNotStandInTheWay) {
  Control control{};
  EXPECT_TRUE(try_shared(control));
  EXPECT_FALSE(try_alone(control, 0));
  want_no_more(control);
  EXPECT_TRUE(try_shared(control));
}

TEST(Lock, ExcludesThreads) {
  Control control{};
  int64_t plain = 0, seen_torn = 0;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      for (int i = 0; i < 2000; ++i) {
        const bool alone = (i + rank) % 3 != 0;
        while (!(alone ? try_alone(control, rank) : try_shared(control))) sched_yield();
        if (alone) {
          ++plain;
          release_alone(control);
        } else {
          const int64_t before = plain;
          if (before != plain) ++seen_torn;
          release_shared(control);
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  int64_t expected = 0;
  for (int rank = 0; rank < 3; ++rank)
    for (int i = 0; i < 2000; ++i) expected += (i + rank) % 3 != 0;
  EXPECT_EQ(plain, expected);
  EXPECT_EQ(seen_torn, 0);
  EXPECT_EQ(control.lock & ~kWantedAlone, 0u);
}

}  // namespace
}  // namespace vicinity::rma
