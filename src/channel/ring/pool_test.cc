// SPDX-License-Identifier: BSD-3-Clause
// The pool of bulk buffers: which one comes next, and when its memory is touched.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "channel/ring/sender.h"

namespace vicinity::channel::ring {
namespace {

TEST(BufferPool, ShortMessagesTakeTheNewestLongOnesTheOldest) {
  std::vector<std::byte> memory(8 * 1024);
  BufferPool pool(memory.data(), 8, 1024);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(pool.take_oldest(), i);
  EXPECT_EQ(pool.available(), 5u);
  for (uint32_t i = 0; i < 3; ++i) pool.give(i);
  EXPECT_EQ(pool.take_newest(), 2u);
  EXPECT_EQ(pool.take_oldest(), 0u);
  EXPECT_EQ(pool.take_oldest(), 1u);
  EXPECT_EQ(pool.take_newest(), 3u);  // never used before
  EXPECT_EQ(pool.available(), 4u);
}

TEST(BufferPool, MemoryIsTouchedLateAndEveryBufferIsTakenOnce) {
  std::vector<std::byte> memory(8 * 1024);
  BufferPool pool(memory.data(), 8, 1024);
  uint32_t most = 0, takes = 0;
  for (; most < 7 && takes < 10000; ++takes) {
    const uint32_t index = pool.take_oldest();
    most = std::max(most, index);
    pool.give(index);
  }
  EXPECT_EQ(most, 7u);
  EXPECT_GE(takes, 7 * BufferPool::takes_to_earn(0));
  std::vector<bool> taken(8);
  for (int i = 0; i < 8; ++i) {
    const uint32_t index = i % 2 ? pool.take_newest() : pool.take_oldest();
    EXPECT_FALSE(taken.at(index));
    taken.at(index) = true;
  }
  EXPECT_EQ(pool.available(), 0u);
}

TEST(BufferPool, WhatIsDearIsTouchedLater) {
  EXPECT_GT(BufferPool::takes_to_earn(0), 1u);
  EXPECT_GT(BufferPool::takes_to_earn(12'000), 2 * BufferPool::takes_to_earn(1'000));
  EXPECT_LE(BufferPool::takes_to_earn(int64_t{1} << 50), 100u);
}

TEST(BufferPool, ABufferIsTouchedAsAWholeAndAloneWhenItIsTakenFirst) {
  constexpr size_t kBytes = 16384, kPages = kBytes / 4096;
  auto* base = static_cast<std::byte*>(
      mmap(nullptr, 4 * kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(base, MAP_FAILED);
  (void)madvise(base, 4 * kBytes, MADV_NOHUGEPAGE);
  if (madvise(base + 3 * kBytes, 4096, MADV_POPULATE_READ) != 0) GTEST_SKIP() << "needs Linux 5.14";
  BufferPool pool(base, 4, kBytes);
  pool.take_oldest();
  ASSERT_EQ(pool.take_newest(), 1u);
  unsigned char there[3 * kPages];
  ASSERT_EQ(mincore(base, 3 * kBytes, there), 0);
  for (size_t page = 0; page < 3 * kPages; ++page) EXPECT_EQ(there[page] & 1, page < 2 * kPages) << page;
  munmap(base, 4 * kBytes);
}

}  // namespace
}  // namespace vicinity::channel::ring
