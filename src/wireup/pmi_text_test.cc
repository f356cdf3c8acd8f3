// SPDX-License-Identifier: BSD-3-Clause
// Good and bad texts of both protocols, and the shapes of messages.
#include "wireup/pmi_text.h"

#include <gtest/gtest.h>

#include "wireup/pmi_messages.h"

using namespace vicinity::wireup;

namespace {

TEST(Pmi1Text, ReadsALine) {
  auto message = parse_pmi1("cmd=get_result rc=0 msg=success value=a=b");
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(message->command, "get_result");
  EXPECT_EQ(*message->find("value"), "a=b");
  EXPECT_EQ(message->find("nothing"), nullptr);
}

TEST(Pmi1Text, AWordWithoutEqualsContinuesTheValue) {
  auto message = parse_pmi1("cmd=get_result rc=-1 msg=key not found");
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(*message->find("msg"), "key not found");
}

TEST(Pmi1Text, RefusesAnythingElse) {
  for (std::string_view bad : {"", " ", "put key=a", "cmd=", "cmd", "cmd=put word", "cmd=put =a", "key=cmd"})
    EXPECT_FALSE(parse_pmi1(bad).ok()) << bad;
  EXPECT_FALSE(parse_pmi1(std::string_view("cmd=a b=\0c", 10)).ok());
  EXPECT_FALSE(parse_pmi1("cmd=a b=" + std::string(kTextLimit, 'x')).ok());
  std::string many = "cmd=a";
  for (size_t i = 0; i <= kFieldLimit; ++i) many += " k=v";
  EXPECT_FALSE(parse_pmi1(many).ok());
}

TEST(Pmi1Text, WritesWhatItReads) {
  auto line = format_pmi1(make_request(pmi1::kPut, {"job", "key", "value with spaces"}));
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(*line, "cmd=put kvsname=job key=key value=value with spaces\n");
  EXPECT_FALSE(format_pmi1(make_request(pmi1::kPut, {"job", "key", "two\nlines"})).ok());
  EXPECT_FALSE(format_pmi1(Message{"put", {{"a key", "x"}}}).ok());
}

TEST(Pmi2Text, DoubledSemicolonsAreOne) {
  auto message = parse_pmi2("cmd=kvs-put;key=a;value=x;;y;;;");
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(*message->find("value"), "x;y;");
  auto text = format_pmi2(*message);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "000031cmd=kvs-put;key=a;value=x;;y;;;");
}

TEST(Pmi2Text, RefusesAnythingElse) {
  for (const char* bad :
       {"", "cmd", "cmd=a", "cmd=;", "key=a;cmd=b;", "cmd=a;key", "cmd=a;=b;", "cmd=a;b=c;;", ";"})
    EXPECT_FALSE(parse_pmi2(bad).ok()) << bad;
}

TEST(Pmi2Text, Lengths) {
  EXPECT_EQ(*parse_pmi2_length("000042"), 42u);
  EXPECT_EQ(*parse_pmi2_length("    42"), 42u);
  for (const char* bad : {"", "42", "      ", "4 2000", "-00042", "0x0042", "999999", "0000420"})
    EXPECT_FALSE(parse_pmi2_length(bad).ok()) << bad;
}

TEST(Numbers, OnlyWholeOnes) {
  EXPECT_EQ(*parse_number("-7"), -7);
  for (const char* bad : {"", " 1", "1 ", "1x", "0x1", "+1", "99999999999"})
    EXPECT_FALSE(parse_number(bad).ok()) << bad;
}

TEST(Shapes, RepliesAreChecked) {
  EXPECT_TRUE(check_reply(pmi1::kGet, *parse_pmi1("cmd=get_result rc=0 value=x")).ok());
  EXPECT_TRUE(
      check_reply(pmi1::kMaxes, *parse_pmi1("cmd=maxes kvsname_max=1 keylen_max=1 vallen_max=1")).ok());
  EXPECT_FALSE(check_reply(pmi1::kGet, *parse_pmi1("cmd=get_result rc=0")).ok());
  EXPECT_FALSE(check_reply(pmi1::kGet, *parse_pmi1("cmd=get_result rc=-1 msg=no value=x")).ok());
  EXPECT_FALSE(check_reply(pmi1::kGet, *parse_pmi1("cmd=put_result rc=0 value=x")).ok());
}

TEST(Shapes, EveryRequestPassesItsOwnCheck) {
  for (const Shape* shape : pmi1::kAll) {
    auto line = format_pmi1(make_request(*shape, {"1", "2", "3", "4"}));
    ASSERT_TRUE(line.ok());
    line->pop_back();
    EXPECT_TRUE(check_request(*shape, *parse_pmi1(*line)).ok()) << shape->request;
  }
  EXPECT_FALSE(check_request(pmi1::kPut, *parse_pmi1("cmd=put key=a")).ok());
}

}  // namespace
