// SPDX-License-Identifier: BSD-3-Clause
// Placing on a made-up machine, reading the real one, claims.
#include "launch/topology.h"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "launch/claims.h"

using namespace vicinity::launch;

namespace {

using Places = std::vector<std::vector<int>>;

// Two sockets of two cores of two threads; thread t of core c is CPU c + 4 t.
Topology machine() {
  Topology topology;
  for (int core = 0; core < 4; ++core)
    for (int thread = 0; thread < 2; ++thread)
      topology.cpus.push_back({core + 4 * thread, core, core / 2, core / 2, core / 2});
  return topology;
}

TEST(PlaceRanks, CoresInOrder) {
  EXPECT_EQ(place_ranks(machine(), 2, Unit::kCore, Unit::kNone), (Places{{0, 4}, {1, 5}}));
  EXPECT_EQ(place_ranks(machine(), 5, Unit::kCore, Unit::kNone)[4], (std::vector<int>{1, 5}));
}

TEST(PlaceRanks, UsualPartnersDoNotShareACore) {
  Topology two;
  two.cpus = {{0, 0, 0, 0, 0}, {1, 1, 0, 0, 0}};
  const Places places = place_ranks(two, 8, Unit::kCore, Unit::kNone);
  EXPECT_EQ(places, (Places{{0}, {1}, {1}, {0}, {1}, {0}, {0}, {1}}));
  for (size_t distance : {1u, 2u, 4u})
    for (size_t rank = 0; rank < 8; ++rank) EXPECT_NE(places[rank], places[rank ^ distance]);
  two.cpus.pop_back();
  EXPECT_EQ(place_ranks(two, 3, Unit::kCore, Unit::kNone), (Places{{0}, {0}, {0}}));
}

TEST(PlaceRanks, SpreadOverSockets) {
  EXPECT_EQ(place_ranks(machine(), 4, Unit::kCore, Unit::kSocket), (Places{{0, 4}, {2, 6}, {1, 5}, {3, 7}}));
  EXPECT_EQ(place_ranks(machine(), 2, Unit::kSocket, Unit::kSocket), (Places{{0, 4, 1, 5}, {2, 6, 3, 7}}));
}

TEST(PlaceRanks, ThreadsAndWholeHost) {
  EXPECT_EQ(place_ranks(machine(), 3, Unit::kThread, Unit::kNone), (Places{{0}, {4}, {1}}));
  EXPECT_EQ(place_ranks(machine(), 2, Unit::kThread, Unit::kCore), (Places{{0}, {1}}));
  EXPECT_EQ(place_ranks(machine(), 1, Unit::kHost, Unit::kNone)[0].size(), 8u);
}

TEST(PlaceRanks, BindingToMoreThanTheMapUnit) {
  EXPECT_EQ(place_ranks(machine(), 3, Unit::kSocket, Unit::kCore),
            (Places{{0, 4, 1, 5}, {0, 4, 1, 5}, {2, 6, 3, 7}}));
}

TEST(PlaceRanks, NoneBindsNothing) {
  EXPECT_EQ(place_ranks(machine(), 2, Unit::kNone, Unit::kNone), (Places{{}, {}}));
}

TEST(ReadTopology, AgreesWithTheAffinityMask) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  EXPECT_EQ(read_topology().cpus.size(), static_cast<size_t>(CPU_COUNT(&allowed)));
  const Topology plain = read_topology_sysfs("/sys/devices/system", allowed);
  EXPECT_EQ(plain.cpus.size(), static_cast<size_t>(CPU_COUNT(&allowed)));
  EXPECT_EQ(plain.count(&Cpu::core), read_topology().count(&Cpu::core));
}

TEST(Units, UnknownNamesAreRefused) {
  EXPECT_TRUE(parse_unit("socket", "-bind-to").ok());
  EXPECT_FALSE(parse_unit("chair", "-bind-to").ok());
}

TEST(Claims, JobsKeepApart) {
  char folder[] = "/tmp/vicinity-claims-XXXXXX";
  ASSERT_TRUE(mkdtemp(folder));
  {
    CpuClaims first(folder), second(folder), third(folder);
    EXPECT_EQ(first.take_cores(machine(), 2).cpus.size(), 4u);
    const Topology rest = second.take_cores(machine(), 2);
    ASSERT_EQ(rest.cpus.size(), 4u);
    EXPECT_EQ(rest.cpus[0].core, 2);
    EXPECT_TRUE(third.take_cores(machine(), 1).cpus.empty());
  }
  CpuClaims later(folder);
  EXPECT_EQ(later.take_cores(machine(), 4).cpus.size(), 8u);
  std::filesystem::remove_all(folder);
}

}  // namespace
