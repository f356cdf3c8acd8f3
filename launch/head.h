// SPDX-License-Identifier: BSD-3-Clause
// mpiexec itself: one proxy per host, and the loop that joins them: barriers, output, input, signals,
// and the end of the job.
//
// What a program spawns is a job of its own, with proxies of its own, under the same head. Ranks are numbered
// through: those of the first job, then those of each spawned one.
#pragma once

#include <poll.h>

#include <deque>
#include <string>
#include <vector>

#include "launch/frame.h"
#include "launch/options.h"
#include "launch/output.h"
#include "launch/plan.h"
#include "launch/process.h"
#include "launch/start.h"

namespace vicinity::launch {

class Head {
 public:
  Head(const Options& options, const Plan& plan);
  int run();  // exit code of mpiexec

 private:
  struct Host {
    std::string name;
    size_t job = 0;
    pid_t pid = -1;
    Descriptor control;
    FrameStream incoming;
    std::string outgoing;
    bool greeted = false;
    bool in_barrier = false;
    std::string pairs;  // payload of its kBarrierIn
    size_t ranks = 0, exited = 0;
  };
  struct Rank {
    size_t host = 0;
    bool exited = false;
    RankEnd end = RankEnd::kNeverInMpi;
    bool apart = false;    // of a spawned job: connected with nobody outside of it
    bool arrived = false;  // of a spawned job: has met those who have spawned it
  };
  struct Job {
    size_t first_rank = 0, ranks = 0;
    size_t silent_hosts = 0;  // that have not started all of their ranks
    int spawner = -1;         // rank that waits for an answer
    bool ended = false;       // nothing that its hosts say matters any more
    size_t parent_host = 0;   // of the rank that has spawned it, which waits at this port
    std::string port;
  };

  // head_start.cc
  bool start_hosts();
  base::Status start_proxies(size_t first_host);
  Start common_start(const Plan& plan, const std::string& job) const;
  std::string job_name() const;

  // head_spawn.cc
  void spawn(size_t host, const std::string& payload);
  base::Result<Plan> plan_spawn(const SpawnRequest& request) const;
  base::Status start_spawned(const SpawnRequest& request, const Plan& plan, int spawner);
  void host_started(size_t host);
  bool spawn_failed(size_t host, const std::string& why);
  void answer_spawn(Job& job, const std::string& trouble);
  void end_job(size_t job, const std::string& frame);
  bool is_apart(size_t job) const;
  bool is_under_way(size_t job) const;
  std::vector<std::string> inherited_environment() const;

  // head.cc: the loop
  void loop_once();
  void watch_all();
  void dispatch(size_t index);
  int wait_ms();
  bool everything_ended() const;
  void read_host(size_t host);
  void write_host(size_t host);
  void host_closed(size_t host);
  void give_up_silent_hosts();
  void read_stdin();
  void send(size_t host, const std::string& frame);
  void send_all(const std::string& frame);
  void wind_up();

  // head_events.cc: what frames and signals mean
  void handle(size_t host, const Frame& frame);
  void handle_rank(int rank, FrameType type, int value, FrameReader& reader);
  void greet(size_t host, FrameReader& reader);
  void barrier_in(size_t host, const std::string& payload);
  void rank_exited(int rank, int wait_status, RankEnd end);
  void ended_badly(int rank, int wait_status, RankEnd end);
  void check_lost_barrier(size_t job);
  void failed(size_t job, int exit_code, const std::string& message);
  void lost(int rank, int exit_code, const std::string& text, RankEnd end);
  void host_lost(size_t host);
  bool recovers() const;
  void read_signals();
  void pass_signal(int signal);
  void suspend();
  void stop(int exit_code, const std::string& message);
  void say(const std::string& text);
  std::string who(int rank) const;
  size_t job_of(int rank) const { return hosts_[ranks_[static_cast<size_t>(rank)].host].job; }

  const Options& options_;
  const Plan& plan_;
  Output output_;
  std::deque<Host> hosts_;  // they stay where they are when a job is spawned
  std::vector<Rank> ranks_;
  std::deque<Job> jobs_;
  std::string job_name_;
  Descriptor signals_;
  std::vector<pollfd> polls_;
  size_t alive_ = 0;  // ranks that have not ended
  bool stopping_ = false;
  bool quitting_ = false;    // kQuit has been sent
  bool lost_local_ = false;  // our own proxy died: its children are ours now
  int exit_code_ = 0;
  int passed_signal_ = 0;  // the last deadly signal that came from outside
  int interrupts_ = 0;
  bool stdin_open_ = false;
  size_t stdin_in_flight_ = 0;
  int64_t timeout_at_ns_ = 0;
  int64_t start_by_ns_ = 0;  // when every host must have answered
  int64_t quit_at_ns_ = 0;   // when waiting for an orderly end is over
};

}  // namespace vicinity::launch
