// SPDX-License-Identifier: BSD-3-Clause
// The text that UCX 1.13 prints of an endpoint, and worse.
#include "channel/ucx/lanes.h"

#include <gtest/gtest.h>

namespace vicinity::channel::ucx {
namespace {

TEST(Lanes, EachOnceInTheirOrder) {
  EXPECT_EQ(lanes_in("#\n# UCP endpoint\n#\n"
                     "#    lane[0]:  2:rc_verbs/mlx5_0:1.0 md[2]  -> md[2]/ib/sysdev[255] am am_bw#0\n"
                     "#    lane[1]:  2:rc_verbs/mlx5_0:1.1 md[2]  -> md[2]/ib/sysdev[255] am_bw#1\n"
                     "#    lane[2]: 10:ud_verbs/mlx5_0:1.0 md[2]  -> md[2]/ib/sysdev[255] wireup{am}\n"
                     "#    lane[3]:  1:rc_verbs/mlx5_0:11.0\n"
                     "#    tag_send: 0..<egr/short>..93\n"),
            "rc_verbs/mlx5_0:1, ud_verbs/mlx5_0:1, rc_verbs/mlx5_0:11");
}

TEST(Lanes, LeavesOutWhatItDoesNotUnderstand) {
  for (const char* text :
       {"", "lane[", "lane[0]", "lane[0]:", "lane[0]: 2", "lane[0]: 2:", "lane[0]: 2:tcp md[1]"})
    EXPECT_EQ(lanes_in(text), "") << text;
  EXPECT_EQ(lanes_in("lane[0]:  1:tcp/lab0.0"), "tcp/lab0");
  EXPECT_EQ(lanes_in("lane[0]:  1:tcp/lab0"), "tcp/lab0");
}

}  // namespace
}  // namespace vicinity::channel::ucx
