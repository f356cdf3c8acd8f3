// SPDX-License-Identifier: BSD-3-Clause
// open() in environments that tests make up; the launchers themselves are exercised by test/wireup.
#include "wireup/wireup.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/param.h"

using namespace vicinity;

namespace {

class WireupTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"PMI_FD", "PMI_PORT", "PMI_RANK", "PMI_SIZE", "PMI_ID", "PMI_JOBID",
                             "PMIX_NAMESPACE", "VICINITY_WIREUP", "VICINITY_MPIEXEC", "SLURM_STEP_ID"})
      unsetenv(name);
    ASSERT_TRUE(base::params_load().ok());
  }
  // A launcher that answers each request with the next of `replies`.
  int scripted_launcher(std::vector<std::string> replies) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    server_ = std::thread([fd = ends[1], replies] {
      char bytes[4096];
      for (const std::string& reply : replies) {
        if (read(fd, bytes, sizeof bytes) <= 0) break;
        if (write(fd, reply.data(), reply.size()) < 0) break;
      }
      close(fd);
    });
    setenv("PMI_FD", std::to_string(ends[0]).c_str(), 1);
    setenv("PMI_RANK", "1", 1);
    setenv("PMI_SIZE", "2", 1);
    return ends[0];
  }
  void TearDown() override {
    if (server_.joinable()) server_.join();
  }
  std::thread server_;
};

TEST_F(WireupTest, AloneIsAJobOfOne) {
  auto wireup = wireup::open();
  ASSERT_TRUE(wireup.ok());
  EXPECT_EQ((*wireup)->identity().size, 1);
  EXPECT_EQ((*wireup)->identity().launcher, "alone");
  const std::string value("a\0b", 3);
  ASSERT_TRUE((*wireup)->put("card", value).ok());
  ASSERT_TRUE((*wireup)->fence().ok());
  EXPECT_EQ(*(*wireup)->get(0, "card"), value);
  EXPECT_FALSE((*wireup)->get(1, "card").ok());
  EXPECT_FALSE((*wireup)->get(0, "other").ok());
  EXPECT_TRUE((*wireup)->check().ok());
}

TEST_F(WireupTest, Pmi1GetsItsIdentityAndSeesTheEnd) {
  scripted_launcher({"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
                     "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n",
                     "cmd=my_kvsname kvsname=job7\n", "cmd=appnum appnum=3\n", "cmd=universe_size size=8\n"});
  auto wireup = wireup::open();
  ASSERT_TRUE(wireup.ok()) << base::failure_text(wireup.status().code());
  const wireup::Identity& identity = (*wireup)->identity();
  EXPECT_EQ(identity.rank, 1);
  EXPECT_EQ(identity.size, 2);
  EXPECT_EQ(identity.appnum, 3);
  EXPECT_EQ(identity.universe_size, 8);
  EXPECT_EQ(identity.job, "job7");
  EXPECT_EQ(identity.launcher, "hydra");
  server_.join();
  EXPECT_FALSE((*wireup)->check().ok());
  EXPECT_FALSE((*wireup)->fence().ok());
}

TEST_F(WireupTest, ALauncherThatAnswersNonsenseIsAnError) {
  scripted_launcher({"hello\n"});
  EXPECT_FALSE(wireup::open().ok());
}

TEST_F(WireupTest, ALauncherThatHangsUpIsAnError) {
  scripted_launcher({});
  EXPECT_FALSE(wireup::open().ok());
}

TEST_F(WireupTest, ABadEnvironmentIsAnError) {
  setenv("PMI_FD", "x", 1);
  EXPECT_FALSE(wireup::open().ok());
  setenv("PMI_FD", "5", 1);
  setenv("PMI_RANK", "4", 1);
  setenv("PMI_SIZE", "4", 1);
  EXPECT_FALSE(wireup::open().ok());
  unsetenv("PMI_FD");
  setenv("PMI_PORT", "nowhere", 1);
  setenv("PMI_ID", "0", 1);
  EXPECT_FALSE(wireup::open().ok());
}

TEST_F(WireupTest, AProtocolThatIsNotThereIsAnError) {
  setenv("VICINITY_WIREUP", "pmi1", 1);
  ASSERT_TRUE(base::params_load().ok());
  EXPECT_FALSE(wireup::open().ok());
  setenv("PMI_FD", "9", 1);
  setenv("VICINITY_WIREUP", "alone", 1);
  ASSERT_TRUE(base::params_load().ok());
  EXPECT_TRUE(wireup::open().ok());
}

}  // namespace
