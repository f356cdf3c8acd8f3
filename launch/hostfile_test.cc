// SPDX-License-Identifier: BSD-3-Clause
// Both forms of a host file, lists, and mistakes that name their line.
#include "launch/hostfile.h"

#include <gtest/gtest.h>

using namespace vicinity;
using namespace vicinity::launch;

namespace {

TEST(HostFile, BothForms) {
  auto hosts = parse_host_file("# all\nnodeA:4\n\n nodeB slots=2 max-slots=8 # x\r\nnodeC", "f");
  ASSERT_TRUE(hosts.ok());
  ASSERT_EQ(hosts->size(), 3u);
  EXPECT_EQ((*hosts)[0].name, "nodeA");
  EXPECT_EQ((*hosts)[0].slots, 4);
  EXPECT_EQ((*hosts)[1].slots, 2);
  EXPECT_EQ((*hosts)[2].slots, 1);
  EXPECT_FALSE((*hosts)[2].slots_given);
}

TEST(HostFile, AHostNamedAgainAddsSlots) {
  auto hosts = parse_host_file("a\na\nb:3\na:2\n", "f");
  ASSERT_TRUE(hosts.ok());
  ASSERT_EQ(hosts->size(), 2u);
  EXPECT_EQ((*hosts)[0].slots, 4);
}

TEST(HostFile, MistakesNameTheLine) {
  for (const char* text : {"", "# nothing\n", "a:0", "a:x", "a:", ":3", "a slots", "a slots=", "a slots=-1",
                           "a:2 slots=3", "a b", "-oProxyCommand=x", "a;b", "a slots=100001"})
    EXPECT_FALSE(parse_host_file(text, "f").ok()) << text;
  EXPECT_FALSE(parse_host_file("good\nbad slots=x\n", "hosts.txt").ok());
  EXPECT_NE(std::string(base::failure_text(base::kArgument)).find("hosts.txt, line 2"), std::string::npos);
}

TEST(HostFile, ListsOfTheCommandLine) {
  auto hosts = parse_host_list("a,b:4");
  ASSERT_TRUE(hosts.ok());
  EXPECT_EQ((*hosts)[1].slots, 4);
  for (const char* text : {"", ",", "a,", ",a", "a b", "a:4:5"})
    EXPECT_FALSE(parse_host_list(text).ok()) << text;
}

}  // namespace
