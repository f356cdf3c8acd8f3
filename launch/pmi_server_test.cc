// SPDX-License-Identifier: BSD-3-Clause
// The server as a client sees it: answers, barriers, refusals, violations.
#include "launch/pmi_server.h"

#include <gtest/gtest.h>

using namespace vicinity::launch;

namespace {

class PmiServerTest : public testing::Test {
 protected:
  PmiServerTest() : server_(job()) {}
  static Start job() {
    Start start;
    start.job = "j";
    start.mapping = "(vector,(0,1,2))";
    start.size = 2;
    start.universe_size = 8;
    start.apps.resize(2);
    start.ranks = {{0, 0, false}, {1, 1, false}};
    return start;
  }
  std::string ask(int local, const std::string& line) {
    EXPECT_TRUE(server_.receive(local, line + "\n").ok()) << line;
    return std::exchange(server_.output(local), "");
  }
  void init_both() {
    for (int local : {0, 1}) ask(local, "cmd=init pmi_version=1 pmi_subversion=1");
  }
  PmiServer server_;
};

TEST_F(PmiServerTest, AnswersAsHydraDoes) {
  EXPECT_EQ(ask(1, "cmd=init pmi_version=1 pmi_subversion=1"),
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
  EXPECT_EQ(ask(1, "cmd=get_maxes"), "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n");
  EXPECT_EQ(ask(1, "cmd=get_appnum"), "cmd=appnum appnum=1\n");
  EXPECT_EQ(ask(1, "cmd=get_my_kvsname"), "cmd=my_kvsname kvsname=j\n");
  EXPECT_EQ(ask(1, "cmd=get_universe_size"), "cmd=universe_size size=8\n");
  EXPECT_EQ(ask(1, "cmd=get kvsname=j key=PMI_process_mapping"),
            "cmd=get_result rc=0 value=(vector,(0,1,2))\n");
  EXPECT_EQ(ask(1, "cmd=finalize"), "cmd=finalize_ack\n");
  EXPECT_EQ(server_.progress(1), RankEnd::kFinalized);
  EXPECT_EQ(server_.progress(0), RankEnd::kNeverInMpi);
}

TEST_F(PmiServerTest, ARankCannotFillTheMemoryOfMpiexec) {
  init_both();
  const std::string value(1000, 'v');
  const auto put = [&](int local, const std::string& key) {
    return server_.receive(local, "cmd=put kvsname=j key=" + key + " value=" + value + "\n");
  };
  // The same key again and again takes no more room.
  for (int i = 0; i < 3000; i++) ASSERT_TRUE(put(0, "same").ok());
  EXPECT_EQ(server_.take_pairs().size(), 1u);
  int kept = 0;
  while (put(0, "key" + std::to_string(kept)).ok()) ASSERT_LT(++kept, 3000);
  EXPECT_GT(kept, 900);
  EXPECT_NE(std::string(vicinity::base::failure_text(vicinity::base::kOther)).find("1024 KiB"),
            std::string::npos);
  EXPECT_TRUE(put(1, "other").ok());  // its neighbour goes on
}

TEST_F(PmiServerTest, BarrierWaitsForAllAndCarriesPairs) {
  init_both();
  EXPECT_EQ(ask(0, "cmd=put kvsname=j key=a value=b"), "cmd=put_result rc=0\n");
  EXPECT_EQ(ask(0, "cmd=barrier_in"), "");
  EXPECT_FALSE(server_.barrier_is_full());
  EXPECT_TRUE(server_.anyone_waits());
  EXPECT_EQ(ask(1, "cmd=barrier_in"), "");
  EXPECT_TRUE(server_.barrier_is_full());
  EXPECT_FALSE(server_.barrier_is_full());  // told once
  EXPECT_EQ(server_.take_pairs(), (Pairs{{"a", "b"}}));
  server_.release({{"far", "away"}});
  EXPECT_EQ(std::exchange(server_.output(1), ""), "cmd=barrier_out\n");
  EXPECT_EQ(ask(1, "cmd=get kvsname=j key=far"), "cmd=get_result rc=0 value=away\n");
  EXPECT_EQ(ask(1, "cmd=get kvsname=j key=a"), "cmd=get_result rc=0 value=b\n");
  EXPECT_FALSE(server_.anyone_waits());
}

TEST_F(PmiServerTest, RefusesKindly) {
  init_both();
  EXPECT_NE(ask(0, "cmd=get kvsname=j key=none").find("rc=-1"), std::string::npos);
  EXPECT_NE(ask(0, "cmd=get kvsname=other key=a").find("rc=-1"), std::string::npos);
  EXPECT_NE(ask(0, "cmd=put kvsname=j key=a value=" + std::string(1024, 'x')).find("rc=-1"),
            std::string::npos);
  EXPECT_NE(ask(0, "cmd=publish_name service=x").find("rc=-1"), std::string::npos);
}

TEST_F(PmiServerTest, SpawnIsCollectedAndAnswered) {
  init_both();
  auto one = vicinity::wireup::format_spawn({2, {"./a", "two words"}, {{"wdir", "/x"}}}, 0, 2, {{"k", "v"}});
  auto two = vicinity::wireup::format_spawn({3, {"./b"}, {}}, 1, 2, {{"k", "v"}});
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_TRUE(server_.receive(0, *one).ok());
  EXPECT_TRUE(server_.take_spawns().empty());
  EXPECT_TRUE(server_.receive(0, *two).ok());
  const auto spawns = server_.take_spawns();
  ASSERT_EQ(spawns.size(), 1u);
  ASSERT_EQ(spawns[0].commands.size(), 2u);
  EXPECT_EQ(spawns[0].commands[0].processes, 2);
  EXPECT_EQ(spawns[0].commands[0].argv, (std::vector<std::string>{"./a", "two words"}));
  EXPECT_EQ(spawns[0].commands[0].info, (Pairs{{"wdir", "/x"}}));
  EXPECT_EQ(spawns[0].commands[1].processes, 3);
  EXPECT_EQ(spawns[0].preput.at(0), (std::pair<std::string, std::string>{"k", "v"}));
  server_.answer_spawn(0, "no such=program");
  EXPECT_EQ(std::exchange(server_.output(0), ""), "cmd=spawn_result rc=-1 msg=no such:program\n");
  server_.answer_spawn(0, "");
  EXPECT_EQ(std::exchange(server_.output(0), ""), "cmd=spawn_result rc=0\n");
  EXPECT_FALSE(server_.receive(0, "mcmd=spawn\nnprocs=0\n").ok());
  EXPECT_FALSE(server_.receive(1, "mcmd=spawn\nnonsense\n").ok());
}

TEST_F(PmiServerTest, TellsWhySpawnedProcessesNeverCome) {
  init_both();
  const std::string port = "vicinity1:secret:1", key = vicinity::wireup::spawn_failure_key(port);
  EXPECT_LT(key.size(), 64u);
  EXPECT_NE(key, vicinity::wireup::spawn_failure_key("vicinity1:secret:2"));
  EXPECT_NE(ask(1, "cmd=get kvsname=j key=" + key).find("rc=-1"), std::string::npos);
  server_.spawn_lost(port, "rank 1 has died, code=9");
  EXPECT_EQ(ask(1, "cmd=get kvsname=j key=" + key), "cmd=get_result rc=0 value=rank 1 has died, code:9\n");
  EXPECT_EQ(ask(0, "cmd=vicinity_arrived"), "");
  EXPECT_EQ(server_.take_arrivals(), std::vector<int>{0});
  EXPECT_TRUE(server_.take_arrivals().empty());
}

TEST_F(PmiServerTest, AbortIsReported) {
  init_both();
  ask(1, "cmd=abort exitcode=7 message=it is over");
  auto abort = server_.take_abort();
  ASSERT_TRUE(abort);
  EXPECT_EQ(abort->local, 1);
  EXPECT_EQ(abort->exit_code, 7);
  EXPECT_EQ(abort->message, "it is over");
  EXPECT_FALSE(server_.take_abort());
}

TEST_F(PmiServerTest, ViolationsAreFailures) {
  for (const char* bad : {"cmd=get_maxes\n", "nonsense\n", "cmd=\n", "cmd=init\n", "\n"}) {
    PmiServer server(job());
    EXPECT_FALSE(server.receive(0, bad).ok()) << bad;
  }
  init_both();
  EXPECT_FALSE(server_.receive(0, "cmd=init pmi_version=1 pmi_subversion=1\n").ok());
  ask(1, "cmd=barrier_in");
  EXPECT_FALSE(server_.receive(1, "cmd=barrier_in\n").ok());
  EXPECT_FALSE(server_.receive(0, std::string(20000, 'x')).ok());
}

TEST_F(PmiServerTest, TellsWhoHasDied) {
  init_both();
  const std::string question = "cmd=get kvsname=j key=PMI_dead_processes";
  EXPECT_NE(ask(0, question).find("rc=-1"), std::string::npos);
  for (int rank : {7, 2, 3}) EXPECT_TRUE(server_.died(rank).ok());
  EXPECT_EQ(ask(0, question), "cmd=get_result rc=0 value=2-3,7\n");
  bool kept = true;
  for (int rank = 1000; rank < 2000 && kept; rank += 2) kept = server_.died(rank).ok();
  EXPECT_FALSE(kept);
}

}  // namespace
