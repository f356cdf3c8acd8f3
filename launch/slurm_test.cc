// SPDX-License-Identifier: BSD-3-Clause
// Node lists as Slurm writes them.
#include "launch/slurm.h"

#include <gtest/gtest.h>
#include <stdlib.h>

using namespace vicinity;
using namespace vicinity::launch;

namespace {

std::string expanded(const std::string& list) {
  auto names = expand_node_list(list);
  if (!names.ok()) return base::failure_text(names.status().code());
  std::string text;
  for (const std::string& name : *names) text += (text.empty() ? "" : " ") + name;
  return text;
}

TEST(NodeList, IsExpandedAsScontrolDoes) {
  EXPECT_EQ(expanded("n1"), "n1");
  EXPECT_EQ(expanded("n[1-3,7],login"), "n1 n2 n3 n7 login");
  EXPECT_EQ(expanded("n[08-11]"), "n08 n09 n10 n11");
  EXPECT_EQ(expanded("rack[1-2]n[1,3]-ib"), "rack1n1-ib rack1n3-ib rack2n1-ib rack2n3-ib");
}

TEST(NodeList, WhatIsWrongIsNamed) {
  for (const char* list : {"n[1-", "n[3-1]", "n[a]", "n[]", "a,,b", "n[1-999999999]", "n[1-90000][1-90000]"})
    EXPECT_NE(expanded(list).find("cannot be understood"), std::string::npos) << list;
}

TEST(NodeList, Counts) {
  EXPECT_EQ(*expand_counts("4(x2),1"), (std::vector<int>{4, 4, 1}));
  EXPECT_FALSE(expand_counts("4(x2").ok());
  EXPECT_FALSE(expand_counts("4(xx)").ok());
  EXPECT_FALSE(expand_counts("many").ok());
}

TEST(Allocation, GivesItsNodesUnlessHostsAreNamed) {
  setenv("SLURM_JOB_ID", "7", 1);
  setenv("SLURM_JOB_NODELIST", "n[1-2]", 1);
  setenv("SLURM_TASKS_PER_NODE", "3,1", 1);
  Options options;
  options.segments.resize(2);
  ASSERT_TRUE(adopt_allocation(options).ok());
  for (const Segment& segment : options.segments) {
    ASSERT_EQ(segment.hosts.size(), 2u);
    EXPECT_EQ(segment.hosts[0].name, "n1");
    EXPECT_EQ(segment.hosts[0].slots, 3);
    EXPECT_EQ(segment.hosts[1].slots, 1);
  }
  EXPECT_EQ(options.launcher, "srun");
  Options named;
  named.segments.resize(1);
  named.segments[0].hosts.push_back({"elsewhere", 1, false});
  ASSERT_TRUE(adopt_allocation(named).ok());
  EXPECT_EQ(named.segments[0].hosts.size(), 1u);
  EXPECT_EQ(named.launcher, "");
  unsetenv("SLURM_JOB_ID");
  Options outside;
  outside.segments.resize(1);
  ASSERT_TRUE(adopt_allocation(outside).ok());
  EXPECT_TRUE(outside.segments[0].hosts.empty());
}

}  // namespace
