// SPDX-License-Identifier: BSD-3-Clause
// A row as the library writes it, and damaged ones.
#include "launch/map_file.h"

#include <gtest/gtest.h>

using namespace vicinity::launch;

namespace {

constexpr char kHead[] = "vicinity-map 1\njob j 1\nrank 1 size 2 pid 77 host nodeA\n";

TEST(MapFile, ReadsARow) {
  auto row = parse_map(
      std::string(kHead) +
      "peer 0 host nodeA channel ring copies 1 sent 3 400 received 5 600 reason same host, CMA works\n");
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->job, "j 1");
  EXPECT_EQ(row->rank, 1);
  ASSERT_EQ(row->peers.size(), 1u);
  EXPECT_EQ(row->peers[0].channel, "ring");
  EXPECT_EQ(row->peers[0].bytes_received, 600u);
  EXPECT_EQ(row->peers[0].reason, "same host, CMA works");
}

TEST(MapFile, RefusesDamage) {
  for (const std::string& text :
       {std::string(), std::string("vicinity-map 2\n"), std::string("vicinity-map 1\njob\n"),
        std::string("vicinity-map 1\njob j\nrank 2 size 2 pid 1 host h\n"),
        std::string(kHead) + "peer 2 host h channel c copies 1 sent 1 1 received 1 1 reason x\n",
        std::string(kHead) + "peer 0 host h channel c copies x sent 1 1 received 1 1 reason x\n",
        std::string(kHead) + "peer 0 host h\n"})
    EXPECT_FALSE(parse_map(text).ok()) << text;
}

}  // namespace
