// SPDX-License-Identifier: BSD-3-Clause
// What is passed on, what is not, and who wins.
#include "launch/environment.h"

#include <gtest/gtest.h>

using namespace vicinity::launch;

namespace {

using List = std::vector<std::string>;
const List kInherited = {"A=1", "B=x=y", "PMI_FD=3", "PMIX_RANK=0", "DISPLAY=:0", "HOME=/h"};

TEST(EnvironmentFor, PassesAllButTheLauncherAround) {
  EXPECT_EQ(environment_for(kInherited, {}, {}, false), (List{"A=1", "B=x=y", "DISPLAY=:0", "HOME=/h"}));
  EXPECT_EQ(environment_for(kInherited, {}, {}, true), (List{"A=1", "B=x=y", "HOME=/h"}));
}

TEST(EnvironmentFor, NoneAndListed) {
  EnvironmentOptions none{true, Pass::kNone, {}, {"C=3", "A"}};
  EXPECT_EQ(environment_for(kInherited, none, {}, false), (List{"A=1", "C=3"}));
  EnvironmentOptions listed{true, Pass::kListed, {"HOME", "PMI_FD"}, {}};
  EXPECT_EQ(environment_for(kInherited, listed, {}, false), (List{"HOME=/h"}));
}

TEST(EnvironmentFor, TheProgramsOwnChoiceWins) {
  EnvironmentOptions all{true, Pass::kNone, {}, {"A=global", "C=global"}};
  EnvironmentOptions own{true, Pass::kListed, {"B"}, {"A=own"}};
  EXPECT_EQ(environment_for(kInherited, all, own, false), (List{"A=own", "B=x=y", "C=global"}));
}

}  // namespace
