// SPDX-License-Identifier: BSD-3-Clause
// mpiexec itself: one proxy per host, and the loop that joins them: barriers, output, input, signals,
// and the end of the job.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "launch/frame.h"
#include "launch/options.h"
#include "launch/output.h"
#include "launch/plan.h"
#include "launch/process.h"

namespace vicinity::launch {

class Head {
 public:
  Head(const Options& options, const Plan& plan);
  int run();  // exit code of mpiexec

 private:
  struct Host {
    std::string name;
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
    bool exited = false;
    bool finalized = false;
  };

  // head_start.cc
  bool start_hosts();
  std::string start_frame(size_t host) const;
  std::string job_name() const;

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
  void greet(size_t host, FrameReader& reader);
  void barrier_in(size_t host, const std::string& payload);
  void rank_exited(int rank, int wait_status, RankEnd end);
  void ended_badly(int rank, int wait_status, RankEnd end);
  void check_lost_barrier();
  void read_signals();
  void pass_signal(int signal);
  void suspend();
  void stop(int exit_code, const std::string& message);
  void say(const std::string& text);
  std::string who(int rank) const;

  const Options& options_;
  const Plan& plan_;
  Output output_;
  std::vector<Host> hosts_;
  std::vector<Rank> ranks_;
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
  int64_t quit_at_ns_ = 0;  // when waiting for an orderly end is over
};

}  // namespace vicinity::launch
