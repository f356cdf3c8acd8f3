// SPDX-License-Identifier: BSD-3-Clause
// Frames in pieces, damaged frames, and the start message.
#include "launch/frame.h"

#include <gtest/gtest.h>

#include "launch/start.h"

using namespace vicinity::launch;

namespace {

TEST(Frames, ComeOutOfAStreamInAnyPieces) {
  std::string bytes =
      FrameWriter(FrameType::kOutput).number(3).text("one").take() + FrameWriter(FrameType::kQuit).take();
  FrameStream stream;
  std::vector<Frame> frames;
  for (char c : bytes) {
    stream.append(&c, 1);
    for (auto frame = stream.next(); frame.ok() && *frame; frame = stream.next()) frames.push_back(**frame);
  }
  ASSERT_EQ(frames.size(), 2u);
  FrameReader reader(frames[0].payload);
  EXPECT_EQ(reader.number(), 3u);
  EXPECT_EQ(reader.text(), "one");
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(frames[1].type, FrameType::kQuit);
}

TEST(Frames, WordsOfALoginShellAreRefused) {
  FrameStream stream;
  stream.append("Welcome to nodeA!\n", 18);
  EXPECT_FALSE(stream.next().ok());
}

TEST(Frames, ReadersNeverLeaveThePayload) {
  FrameReader reader(
      std::string_view("\xff\xff\xff\xff"
                       "abc",
                       7));
  EXPECT_EQ(reader.text(), "");
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.number(), 0u);
  EXPECT_TRUE(FrameReader(std::string_view("\xff\xff\xff\x7f", 4)).texts().size() <= 1);
}

TEST(StartFrame, ComesBackWhole) {
  Start start;
  start.job = "job";
  start.size = 4;
  start.keep_environment = true;
  start.apps.push_back({{"a", "b c"}, {"X=1"}, "/tmp", "/bin"});
  start.ranks = {{2, 0, true}, {3, 0, false}};
  const std::string frame = start.encode();
  auto back = Start::decode(std::string_view(frame).substr(5));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->apps[0].argv[1], "b c");
  EXPECT_EQ(back->ranks[0].rank, 2);
  EXPECT_TRUE(back->ranks[0].has_stdin);
  for (size_t length = 0; length + 5 < frame.size(); ++length)
    EXPECT_FALSE(Start::decode(std::string_view(frame).substr(5, length)).ok()) << length;
  start.ranks[0].rank = 4;
  EXPECT_FALSE(Start::decode(std::string_view(start.encode()).substr(5)).ok());
}

}  // namespace
