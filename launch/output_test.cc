// SPDX-License-Identifier: BSD-3-Clause
// Lines, labels, prompts; without any process.
#include "launch/output.h"

#include <gtest/gtest.h>

using namespace vicinity::launch;

namespace {

TEST(Output, LinesOfRanksNeverMix) {
  Output output({}, 2);
  output.take(0, 1, "be", 0);
  output.take(1, 1, "one\ntw", 0);
  output.take(0, 1, "gin\n", 0);
  output.take(1, 1, "o\n", 0);
  EXPECT_EQ(output.sink(1).waiting(), "one\nbegin\ntwo\n");
}

TEST(Output, UnfinishedLinesAreShownAfterAMoment) {
  Output output({}, 2);
  output.take(0, 1, "name? ", 1000);
  EXPECT_EQ(output.sink(1).waiting(), "");
  ASSERT_GT(output.next_show_ns(), 1000);
  output.show_idle(output.next_show_ns());
  EXPECT_EQ(output.sink(1).waiting(), "name? ");
  EXPECT_EQ(output.next_show_ns(), 0);
  output.take(1, 1, "other\n", 2000);  // does not continue the line of rank 0
  EXPECT_EQ(output.sink(1).waiting(), "name? \nother\n");
}

TEST(Output, TheSameRankContinuesItsLine) {
  Output output({}, 2);
  output.take(0, 1, "a", 0);
  output.rank_ended(0);
  output.take(0, 1, "b\n", 0);
  EXPECT_EQ(output.sink(1).waiting(), "ab\n");
}

TEST(Output, LabelsStandBeforeEachLine) {
  Output output({true, "", ""}, 12);
  output.take(11, 1, "a\nb\nc", 0);
  output.rank_ended(11);
  EXPECT_EQ(output.sink(1).waiting(), "[11] a\n[11] b\n[11] c");
  output.take(3, 2, "e\n", 0);
  EXPECT_EQ(output.sink(2).waiting(), "[3] e\n");
}

TEST(Output, OneProcessIsNotHeldUp) {
  Output output({}, 1);
  output.take(0, 1, "name? ", 0);
  EXPECT_EQ(output.sink(1).waiting(), "name? ");
}

TEST(Output, EndlessLinesArePassedOnInPieces) {
  Output output({}, 2);
  for (int i = 0; i < 100; ++i) output.take(0, 1, std::string(1000, 'x'), 0);
  EXPECT_GT(output.sink(1).waiting().size(), 60000u);
}

}  // namespace
