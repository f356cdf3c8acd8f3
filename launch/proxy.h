// SPDX-License-Identifier: BSD-3-Clause
// The proxy: one per host, started by mpiexec directly or through the remote launcher. Starts the ranks
// of its host, serves PMI to them, passes input and output on, and sees to it that no process is left.
//
// It ends all of them when its control connection closes: that is how the death of mpiexec, by whatever
// means, reaches every host.
#pragma once

#include <poll.h>

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "launch/claims.h"
#include "launch/frame.h"
#include "launch/pmi_server.h"
#include "launch/process.h"
#include "launch/start.h"

namespace vicinity::launch {

class Proxy {
 public:
  // `in` and `out` carry the frames from and to mpiexec.
  Proxy(int in, int out) : in_(in), out_(out) {}
  int run();  // exit code of the proxy

 private:
  struct Rank {
    Child child;
    std::string input;         // waiting for the rank's standard input
    bool input_ended = false;  // close it when `input` is empty
    bool exited = false;
  };
  // What one entry of the poll list belongs to.
  enum class Source { kControlIn, kControlOut, kSignals, kPmi, kInput, kOutput, kError };
  struct Watch {
    Source source;
    size_t rank;
  };

  void send(std::string frame) { outgoing_ += frame; }
  void trouble(int rank, int exit_code, const std::string& text);
  void note(const std::string& text);

  // proxy_start.cc
  void start(std::string_view payload);
  void start_rank(size_t index, const std::vector<int>& cpus);
  std::vector<std::vector<int>> choose_cpus();
  std::vector<std::string> environment_of(size_t index) const;

  void watch_all();
  void watch(int fd, short events, Source source, size_t rank = 0);
  void dispatch(const Watch& what, short events);
  void read_control();
  void handle(const Frame& frame);
  void write_control();
  void flush_control();
  void read_pmi(size_t index);
  void write_pmi(size_t index);
  void tell_abort();
  void after_pmi();
  void check_lost_barrier();
  void read_output(size_t index, Source source);
  bool forward_once(size_t index, Descriptor& from, int stream);
  void take_input(FrameReader& reader);
  void write_input(size_t index);
  void barrier_out(FrameReader& reader);
  void answer_spawn(FrameReader& reader);
  void reap();
  void rank_ended(size_t index, int wait_status);
  void signal_all(int signal);
  void end_all();
  void sweep_regions() const;
  int wait_ms() const;

  int in_, out_;
  std::string outgoing_;
  FrameStream incoming_;
  Descriptor signals_;
  std::optional<Start> job_;
  std::optional<PmiServer> pmi_;
  std::vector<Rank> ranks_;
  CpuClaims claims_;
  int64_t kill_at_ns_ = 0;    // when SIGKILL follows SIGTERM; 0: not ending
  bool hearing_out_ = false;  // a rank has ended: what all have said before that is read first
  int missing_rank_ = -1;     // one that has ended
  RankEnd missing_end_ = RankEnd::kNeverInMpi;
  bool quit_ = false;
  std::vector<pollfd> polls_;
  std::vector<Watch> watches_;
};

}  // namespace vicinity::launch
