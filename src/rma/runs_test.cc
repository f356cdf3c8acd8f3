// SPDX-License-Identifier: BSD-3-Clause
// Typed ranges as runs: nothing is lost, nothing is added, bounds hold.
#include "rma/runs.h"

#include <gtest/gtest.h>

#include <cstring>

#include "object/datatype_create.h"

namespace vicinity::rma {
namespace {

using object::builtin;
using Piece = Run;  // gtest has a Run of its own inside tests

// A type of `count` blocks of `block` ints, `stride` ints apart.
Datatype* vector_of_ints(int count, int block, int stride) {
  Result<Datatype*> type = object::type_vector(count, block, stride, builtin(MPI_INT), false);
  EXPECT_TRUE(type.ok());
  (*type)->committed = true;
  return *type;
}

// Marks in a picture of the target what the runs say.
void paint(const std::vector<Run>& runs, std::vector<char>& picture) {
  for (const Run& run : runs)
    for (uint32_t k = 0; k < run.count; ++k)
      for (uint64_t b = 0; b < run.bytes; ++b) ++picture.at(static_cast<size_t>(run.at + k * run.stride) + b);
}

TEST(Runs, AVectorIsOneRunHoweverItIsCut) {
  Datatype* type = vector_of_ints(100, 2, 5);
  for (size_t room : {64u, 100u, 500u, 4000u}) {
    object::PackCursor target(nullptr, 1, *type);
    std::vector<char> picture(100 * 5 * 4, 0);
    std::vector<Piece> runs;
    uint64_t bytes = 0;
    while (uint64_t here = take_runs(target, 4, false, room, true, 1u << 20, runs)) {
      EXPECT_LE(runs.size() * sizeof(Piece) + here, room);
      uint64_t total = 0;
      EXPECT_TRUE(total_of(runs.data(), static_cast<uint32_t>(runs.size()), &total));
      EXPECT_EQ(total, here);
      paint(runs, picture);
      bytes += here;
      EXPECT_TRUE(room != 4000 || runs.size() == 1u);
    }
    EXPECT_EQ(bytes, 800u);
    for (size_t i = 0; i < picture.size(); ++i) ASSERT_EQ(picture[i], i % 20 < 8 ? 1 : 0) << i;
  }
  object::release(type);
}

TEST(Runs, ElementsStayWhole) {
  object::PackCursor target(nullptr, 10, builtin(MPI_DOUBLE));
  std::vector<Piece> runs;
  EXPECT_EQ(take_runs(target, 8, false, sizeof(Piece) + 20, true, 1000, runs), 16u);
  EXPECT_EQ(take_runs(target, 8, false, 4096, false, 33, runs), 32u);
  EXPECT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].at, 16);
}

TEST(Runs, NonsenseIsNoticed) {
  uint64_t total = 0;
  Piece endless{0, uint64_t{1} << 40, 0, 1u << 30, 0};
  EXPECT_FALSE(total_of(&endless, 1, &total));
  Piece empty{0, 0, 0, 1, 0};
  EXPECT_FALSE(total_of(&empty, 1, &total));
}

TEST(Runs, NothingOutsideThePart) {
  auto window = std::make_unique<Window>();
  window->flavor = MPI_WIN_FLAVOR_CREATE;
  window->size = 100;
  const Piece good{0, 10, 30, 4, 0}, beyond{0, 10, 31, 4, 0}, before{-1, 1, 0, 1, 0}, back{5, 5, -3, 3, 0};
  const Piece wild{INT64_MAX, 1, INT64_MAX, 3, 0};
  EXPECT_EQ(outside(*window, &good, 1, 0), nullptr);
  EXPECT_EQ(outside(*window, &good, 1, 1), &good);
  EXPECT_EQ(outside(*window, &beyond, 1, 0), &beyond);
  EXPECT_EQ(outside(*window, &before, 1, 0), &before);
  EXPECT_EQ(outside(*window, &back, 1, 0), &back);
  EXPECT_EQ(outside(*window, &wild, 1, 0), &wild);
}

TEST(Runs, DynamicWindowsKnowWhatIsAttached) {
  auto window = std::make_unique<Window>();
  window->flavor = MPI_WIN_FLAVOR_DYNAMIC;
  window->attached[1000] = 100;
  window->attached[2000] = 50;
  EXPECT_TRUE(inside(*window, 1000, 100));
  EXPECT_TRUE(inside(*window, 1099, 1));
  EXPECT_FALSE(inside(*window, 1099, 2));
  EXPECT_FALSE(inside(*window, 999, 1));
  EXPECT_FALSE(inside(*window, 1100, 1));
  EXPECT_TRUE(inside(*window, 2049, 1));
  window->attached[2050] = 10;  // without a gap
  EXPECT_TRUE(inside(*window, 2040, 20));
  EXPECT_TRUE(inside(*window, 2050, 10));
  EXPECT_FALSE(inside(*window, 2040, 21));
  EXPECT_FALSE(inside(*window, 1099, 1000));
  const Piece gap{1000, 10, 500, 3, 0};  // its ends are attached, its middle is not
  EXPECT_EQ(outside(*window, &gap, 1, 0), &gap);
}

TEST(Runs, RangesOfTypes) {
  auto window = std::make_unique<Window>();
  window->flavor = MPI_WIN_FLAVOR_CREATE;
  Peer peer;
  peer.window = window.get();
  peer.size = 100;
  peer.unit = 4;
  Range range;
  EXPECT_TRUE(check_range(peer, 24, 1, builtin(MPI_INT), &range).ok());
  EXPECT_EQ(range.at, 96);
  EXPECT_EQ(range.bytes, 4u);
  EXPECT_EQ(check_range(peer, 25, 1, builtin(MPI_INT), &range).code(), MPI_ERR_RMA_RANGE);
  EXPECT_EQ(check_range(peer, -1, 1, builtin(MPI_INT), &range).code(), MPI_ERR_DISP);
  EXPECT_EQ(check_range(peer, 0, INT64_MAX, builtin(MPI_INT), &range).code(), MPI_ERR_COUNT);
  EXPECT_EQ(check_range(peer, INT64_MAX, 1, builtin(MPI_INT), &range).code(), MPI_ERR_RMA_RANGE);
  EXPECT_TRUE(check_range(peer, 1000, 0, builtin(MPI_INT), &range).ok());
}

}  // namespace
}  // namespace vicinity::rma
