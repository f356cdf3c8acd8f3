// SPDX-License-Identifier: BSD-3-Clause
// Command lines, and the placing of ranks that follows from them.
#include "launch/options.h"

#include <gtest/gtest.h>

#include <sstream>

#include "launch/plan.h"

using namespace vicinity;
using namespace vicinity::launch;

namespace {

base::Result<Options> parse(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return parse_options(words);
}

std::string hosts_of(const std::string& line) {
  auto options = parse(line);
  if (!options.ok()) return "bad options";
  auto plan = make_plan(*options);
  if (!plan.ok()) return "bad plan";
  std::string text;
  for (const PlannedRank& rank : plan->ranks) text += plan->hosts[static_cast<size_t>(rank.host)];
  return text;
}

TEST(Options, ProgramAndItsArguments) {
  auto options = parse("-n 4 ./a.out -n 5 -x");
  ASSERT_TRUE(options.ok());
  ASSERT_EQ(options->segments.size(), 1u);
  EXPECT_EQ(options->segments[0].ranks, 4);
  EXPECT_EQ(options->segments[0].argv, (std::vector<std::string>{"./a.out", "-n", "5", "-x"}));
}

TEST(Options, OneOrTwoDashesAndOtherNames) {
  auto options = parse("--np 2 --tag-output -genv A 1 -genv B=2 -x C a");
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->segments[0].ranks, 2);
  EXPECT_TRUE(options->label);
  EXPECT_EQ(options->environment.settings, (std::vector<std::string>{"A=1", "B=2", "C"}));
}

TEST(Options, SegmentsKeepTheirOwn) {
  auto options = parse("-n 1 -env A 1 a x : -n 2 -wdir /tmp b");
  ASSERT_TRUE(options.ok());
  ASSERT_EQ(options->segments.size(), 2u);
  EXPECT_EQ(options->segments[0].environment.settings.size(), 1u);
  EXPECT_TRUE(options->segments[1].environment.settings.empty());
  EXPECT_EQ(options->segments[1].directory, "/tmp");
  EXPECT_EQ(options->segments[0].argv.size(), 2u);
}

TEST(Options, MistakesAreNamed) {
  for (const char* line : {"",
                           "-n",
                           "-n 0 a",
                           "-n x a",
                           "-n 2x a",
                           "-n -1 a",
                           "-nosuch a",
                           "-n 2",
                           "a :",
                           ": a",
                           "-env A",
                           "-env =1 a",
                           "-bind-to nowhere a",
                           "-map-by x a",
                           "-timeout 0 a",
                           "-timeout x a",
                           "-stdin x a",
                           "-host , a",
                           "-hostfile /nosuch a",
                           "-n 99999999999 a"})
    EXPECT_FALSE(parse(line).ok()) << line;
  (void)parse("-nosuch a");
  EXPECT_NE(std::string(base::failure_text(base::kArgument)).find("-nosuch"), std::string::npos);
}

TEST(Options, HelpNamesEveryOption) {
  const std::string help = help_text();
  for (const char* name : {"-n, -np", "-hostfile", "-bind-to", "-timeout", "-launcher", "-genvlist"})
    EXPECT_NE(help.find(name), std::string::npos) << name;
  EXPECT_TRUE(parse("-help")->help);
  EXPECT_TRUE(parse("--version")->version);
}

TEST(Plan, FillsSlotsThenStartsAgain) {
  EXPECT_EQ(hosts_of("-n 4 -host A:2,B:2 a"), "AABB");
  EXPECT_EQ(hosts_of("-n 6 -host A:2,B a"), "AABAAB");
  EXPECT_EQ(hosts_of("-n 4 -host A:2,B:2 -map-by node a"), "ABAB");
  EXPECT_EQ(hosts_of("-n 4 -host A,B -ppn 2 a"), "AABB");
  EXPECT_EQ(hosts_of("-host A:2,B a"), "AAB");
  EXPECT_EQ(hosts_of("a"), "localhost");
  EXPECT_EQ(hosts_of("-n 2 -host A:3,B a : -n 2 b"), "AAAB");
  EXPECT_EQ(hosts_of("-n 1 -host A a : -n 2 -host B b"), "ABB");
  EXPECT_EQ(hosts_of("-n 2 -stdin 2 a"), "bad plan");
}

TEST(Plan, MappingIsInBlocks) {
  EXPECT_EQ(process_mapping(*make_plan(*parse("-n 4 -host A:2,B:2 a"))), "(vector,(0,2,2))");
  EXPECT_EQ(process_mapping(*make_plan(*parse("-n 3 -host A:2,B a"))), "(vector,(0,1,2),(1,1,1))");
  EXPECT_EQ(process_mapping(*make_plan(*parse("-n 4 -host A,B a"))), "(vector,(0,2,1),(0,2,1))");
}

TEST(Plan, UniverseIsTheSlots) {
  EXPECT_EQ(make_plan(*parse("-n 2 -host A:4,B:4 a"))->universe_size, 8);
  EXPECT_EQ(make_plan(*parse("-n 2 a"))->universe_size, 2);
  EXPECT_EQ(make_plan(*parse("-usize 9 -n 2 a"))->universe_size, 9);
}

}  // namespace
