// SPDX-License-Identifier: BSD-3-Clause
// Bytes to letters and back, splitting, keys.
#include "wireup/codec.h"

#include <gtest/gtest.h>

using namespace vicinity::wireup;

namespace {

std::string all_bytes(size_t length) {
  std::string bytes;
  for (size_t i = 0; i < length; ++i) bytes += static_cast<char>(i * 37 + i / 256);
  return bytes;
}

std::string joined(const std::vector<std::string>& parts) {
  auto first = parse_first_part(parts[0]);
  EXPECT_TRUE(first.ok());
  EXPECT_EQ(first->parts, parts.size());
  std::string text(first->text);
  for (size_t i = 1; i < parts.size(); ++i) text += parts[i];
  return text;
}

TEST(Codec, EveryLengthComesBack) {
  for (size_t length : {0, 1, 2, 3, 4, 5, 255, 256, 1000}) {
    auto back = decode_text(encode_text(all_bytes(length)));
    ASSERT_TRUE(back.ok()) << length;
    EXPECT_EQ(*back, all_bytes(length));
  }
}

TEST(Codec, UsesOnlyPlainLetters) {
  for (char c : encode_text(all_bytes(1000)))
    EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_') << c;
}

TEST(Codec, RefusesWhatEncodeCannotHaveMade) {
  for (const char* bad : {"A", "AAAAA", "A=", "AB==", "A B", "AB\n", "AB", "AAB"})
    EXPECT_FALSE(decode_text(bad).ok()) << bad;
}

TEST(Codec, LongValuesAreSplitAndJoined) {
  for (size_t length : {0u, 10u, 763u, 764u, 5000u, 100000u}) {
    auto parts = split_value(all_bytes(length), 1023);
    ASSERT_TRUE(parts.ok());
    for (const std::string& part : *parts) EXPECT_LE(part.size(), 1023u);
    EXPECT_EQ(*decode_text(joined(*parts)), all_bytes(length));
  }
  EXPECT_FALSE(split_value(std::string(8 << 20, 'x'), 1023).ok());
}

TEST(Codec, FirstPartIsChecked) {
  for (const char* bad : {"", ".", "x.A", "0.A", "-1.A", "4097.A", "99999999999.A", "1"})
    EXPECT_FALSE(parse_first_part(bad).ok()) << bad;
}

TEST(Codec, KeysFitTheLauncher) {
  EXPECT_EQ(*part_key(3, "card", 0, 63), "v3.card");
  EXPECT_EQ(*part_key(3, "card", 2, 63), "v3.card.2");
  EXPECT_FALSE(part_key(3, "", 0, 63).ok());
  EXPECT_FALSE(part_key(3, "a key", 0, 63).ok());
  EXPECT_FALSE(part_key(3, std::string(64, 'k'), 0, 63).ok());
}

TEST(Codec, ListsOfRanksComeBack) {
  EXPECT_EQ(format_ranks({}), "");
  EXPECT_EQ(format_ranks({7}), "7");
  EXPECT_EQ(format_ranks({1, 4, 5, 6, 9}), "1,4-6,9");
  auto ranks = parse_ranks("1,4-6,9", 10);
  ASSERT_TRUE(ranks.ok());
  EXPECT_EQ(*ranks, (std::vector<int>{1, 4, 5, 6, 9}));
  for (const char* bad : {"x", "1-", "-1", "4-2", "10", "3-99999999", "1,,2"})
    EXPECT_FALSE(parse_ranks(bad, 10).ok()) << bad;
}

}  // namespace
