// SPDX-License-Identifier: BSD-3-Clause
// Ranks that believe to be in different guests talk through a file: what an ivshmem device is after mmap.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/progress.h"
#include "peer/fork_test.h"
#include "peer/host_forming.h"
#include "peer/peer.h"
#include "region/host_backing.h"

namespace vicinity::peer {
namespace {

using test::run_ranks;

struct SummingSink final : channel::Sink {
  std::vector<std::byte> room = std::vector<std::byte>(1 << 20);
  uint64_t arrived = 0, sum = 0;
  uint32_t lost_count = 0;
  channel::Landing land(Proc, const Envelope& envelope, size_t bytes) override {
    sum += static_cast<uint32_t>(envelope.tag) + bytes;
    return {room.data(), bytes, nullptr};
  }
  void landed(const channel::Landing&, size_t) override { ++arrived; }
  void lost(Proc, const char*) override { ++lost_count; }
};

TEST(Patience, OnlyTimeInWhichWeLookIsSpent) {
  constexpr int64_t kSecond = 1'000'000'000;
  base::Patience patience(3 * kSecond, 0);
  EXPECT_FALSE(patience.over(kSecond / 2));
  EXPECT_FALSE(patience.over(3600 * kSecond)) << "the machine stood still for an hour";
  EXPECT_FALSE(patience.over(3601 * kSecond));
  EXPECT_TRUE(patience.over(3602 * kSecond));
}

TEST(SignOfLife, OnlyTimeInWhichWeLookIsSilence) {
  constexpr int64_t kSecond = 1'000'000'000;
  SignOfLife sign(7, 0);
  EXPECT_EQ(sign.silence(7, kSecond / 2), kSecond / 2);
  EXPECT_EQ(sign.silence(7, kSecond), kSecond);
  EXPECT_EQ(sign.silence(7, 3600 * kSecond), 2 * kSecond) << "we slept for an hour, perhaps the peer too";
  EXPECT_LE(sign.silence(8, 3600 * kSecond + 5), 5);
  int64_t now = 3601 * kSecond, before = 0;
  for (int look = 0; look < 100; ++look) {
    now += kSecond / 4;
    const int64_t silence = sign.silence(8, now);
    EXPECT_GT(silence, before);
    before = silence;
  }
  EXPECT_GE(before, 25 * kSecond);
}

class HostRegionJob : public testing::Test {
 protected:
  HostRegionJob() {
    path_ = "/dev/shm/vicinity-host-test-" + std::to_string(getpid());
    setenv("VICINITY_HOST_REGION", path_.c_str(), 1);
    setenv("VICINITY_HOST_REGION_SIZE", "8M", 1);
    setenv("VICINITY_HOST_REGION_DEAD_MS", "1000", 1);
  }
  ~HostRegionJob() override {
    unlink(path_.c_str());
    for (const char* name :
         {"VICINITY_HOST_REGION", "VICINITY_HOST_REGION_SIZE", "VICINITY_HOST_REGION_DEAD_MS"})
      unsetenv(name);
  }
  region::HostRegion::Use use() {
    auto memory = region::open_host_memory(path_);
    auto region = region::HostRegion::adopt(std::move(memory->mapping));
    EXPECT_TRUE(region.ok()) << base::failure_text(base::kOther);
    return region->use();
  }
  std::string path_;
};

// `guests`: so many different kernels, ranks dealt to them in turn.
void be_in_guest(int rank, int guests) {
  setenv("VICINITY_HOST_ID", ("guest" + std::to_string(rank % guests)).c_str(), 1);
  CHECK_OR(1, base::params_load().ok());
}

void talk(int rank, int size, SummingSink& sink, uint32_t messages) {
  std::vector<std::byte> data(1 << 15);
  uint64_t expected_sum = 0;
  for (uint32_t number = 0; number < messages; ++number)
    for (int step = 1; step < size; ++step) {
      const auto to = static_cast<Proc>((rank + step) % size);
      const size_t bytes = number * 37 % std::min<size_t>(connection(to).largest(), 9000);
      Answer answer;
      base::wait_until([&] {
        answer = connection(to).try_send({1, static_cast<int32_t>(number), 0, 0, 0, 0}, data.data(), bytes);
        return answer != Answer::kRetry;
      });
      CHECK_OR(5, answer == Answer::kDone);
      expected_sum += number + bytes;
    }
  base::wait_until([&] { return sink.arrived == uint64_t{messages} * static_cast<uint64_t>(size - 1); });
  CHECK_OR(5, sink.sum == expected_sum);
}

TEST_F(HostRegionJob, GuestsTalkThroughItAndKernelsThroughTheirOwn) {
  const auto body = [](int rank, wireup::Wireup& wireup) {
    be_in_guest(rank, 2);
    SummingSink sink;
    CHECK_OR(1, start(wireup, sink).ok());
    for (Proc other = 0; other < 4; ++other) {
      if (static_cast<int>(other) == rank) continue;
      const bool near = (static_cast<int>(other) - rank) % 2 == 0;
      const std::string reason = connection(other).reason();
      CHECK_OR(2, reason.find(near ? "(memfd)" : "(host file)") != std::string::npos);
    }
    talk(rank, 4, sink, 500);
    CHECK_OR(6, wireup.fence().ok());
    stop();
    return 0;
  };
  EXPECT_EQ(run_ranks(4, body), 0);
  EXPECT_EQ(use().jobs, 0u);
}

TEST_F(HostRegionJob, OneKernelUsesItWhereItsOwnRegionsAreForbidden) {
  setenv("VICINITY_REGION", "no", 1);
  const auto body = [](int rank, wireup::Wireup& wireup) {
    SummingSink sink;
    CHECK_OR(1, start(wireup, sink).ok());
    CHECK_OR(2, map_text().find("(host file)") != std::string::npos);
    talk(rank, 3, sink, 500);
    CHECK_OR(6, wireup.fence().ok());
    stop();
    return 0;
  };
  EXPECT_EQ(run_ranks(3, body), 0);
  unsetenv("VICINITY_REGION");
}

TEST_F(HostRegionJob, WhoIsThereIsAskedAgain) {
  const auto body = [](int rank, wireup::Wireup& wireup) {
    be_in_guest(rank, 3);
    SummingSink sink;
    CHECK_OR(1, start(wireup, sink).ok());
    CHECK_OR(2, present(0) && present(1) && present(2));
    CHECK_OR(3, wireup.fence().ok());
    if (rank == 2) stop();
    if (rank != 2) base::wait_until([] { return !present(2); });
    if (rank != 2) CHECK_OR(4, present(0) && present(1));
    CHECK_OR(5, wireup.fence().ok());
    stop();
    return 0;
  };
  EXPECT_EQ(run_ranks(3, body), 0);
}

// 20 jobs whose ranks are killed in the middle: the 8 MiB hold about five of them.
TEST_F(HostRegionJob, KilledJobsLeaveItUsable) {
  for (int round = 0; round < 20; ++round) {
    const auto body = [](int rank, wireup::Wireup& wireup) {
      be_in_guest(rank, 2);
      SummingSink sink;
      CHECK_OR(1, start(wireup, sink).ok());
      talk(rank, 2, sink, 50);
      kill(getpid(), SIGKILL);
      return 0;
    };
    ASSERT_EQ(run_ranks(2, body), 1000 + SIGKILL) << "round " << round;
  }
  EXPECT_GE(use().jobs, 1u);
}

// Two jobs of two ranks, 2000 messages each way.
void run_two_jobs() {
  const auto body = [](int rank, wireup::Wireup& wireup) {
    be_in_guest(rank, 2);
    SummingSink sink;
    CHECK_OR(1, start(wireup, sink).ok());
    talk(rank, 2, sink, 2000);
    CHECK_OR(6, wireup.fence().ok());
    stop();
    return 0;
  };
  const pid_t second = fork();
  if (second == 0) _exit(run_ranks(2, body));
  EXPECT_EQ(run_ranks(2, body), 0);
  int status = 0;
  waitpid(second, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(HostRegionJob, TwoJobsAtOnce) {
  run_two_jobs();
  EXPECT_EQ(use().jobs, 0u);
}

// Both watch the same dead, and one of them is faster with taking their place back. Both have room then.
TEST_F(HostRegionJob, TwoJobsBuryTheSameDead) {
  auto memory = region::open_host_memory(path_);
  auto region = region::HostRegion::adopt(std::move(memory->mapping));
  ASSERT_TRUE(region.ok());
  EXPECT_TRUE(region->claim({}, 2, 2, region->use().largest_free).ok());
  run_two_jobs();
  EXPECT_EQ(use().jobs, 0u);
}

// Clones of one guest: all identities are equal, but the memory is not. They must not believe each other.
TEST_F(HostRegionJob, EqualIdentitiesDoNotMakeNeighbours) {
  const auto body = [](int rank, wireup::Wireup& wireup) {
    setenv("VICINITY_HOST_REGION", "no", 1);
    setenv("VICINITY_REGION", "file", 1);
    setenv("VICINITY_CHANNELS", "ring,cma", 1);  // nor does the network help
    const std::string folder =
        "/dev/shm/vicinity-clone-" + std::to_string(getppid()) + "-" + std::to_string(rank);
    mkdir(folder.c_str(), 0700);
    setenv("VICINITY_REGION_DIR", folder.c_str(), 1);
    CHECK_OR(1, base::params_load().ok());
    SummingSink sink;
    const bool started = start(wireup, sink).ok();
    rmdir(folder.c_str());
    return started ? 1 : 0;
  };
  EXPECT_EQ(run_ranks(2, body), 0);
}

TEST(VmListTest, MembersInOrder) {
  std::vector<std::byte> bytes(1003);
  VmList list(bytes.data(), 1003);
  EXPECT_TRUE(list.empty());
  for (uint32_t rank : {1002u, 0u, 7u, 8u, 500u}) list.beat(rank);
  EXPECT_EQ(list.members(), (std::vector<uint32_t>{0, 7, 8, 500, 1002}));
  for (int i = 0; i < 600; ++i) {
    list.beat(7);
    ASSERT_TRUE(list.has(7));
  }
  list.leave(7);
  EXPECT_FALSE(list.has(7));
  EXPECT_FALSE(list.has(5000));
}

}  // namespace
}  // namespace vicinity::peer
