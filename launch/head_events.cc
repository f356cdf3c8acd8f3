// SPDX-License-Identifier: BSD-3-Clause
// mpiexec's part that decides: what a frame or a signal means for the job.
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "launch/head.h"
#include "launch/start.h"
#include "wireup/launcher_params.h"

namespace vicinity::launch {

void Head::say(const std::string& text) {
  // Through the same queue as the ranks' output, so that it stands on a line of its own and in order.
  output_.sink(2).add(0, "", "mpiexec: " + text + "\n", false);
}

std::string Head::who(int rank) const {
  return "rank " + std::to_string(rank) + " on " +
         hosts_[static_cast<size_t>(plan_.ranks[static_cast<size_t>(rank)].host)].name;
}

// Ends the job early. The first reason is the one that is told and whose code counts.
void Head::stop(int exit_code, const std::string& message) {
  if (stopping_) return;
  stopping_ = true;
  if (!message.empty()) say(message);
  if (exit_code_ == 0) exit_code_ = exit_code;
  const auto grace_ms = static_cast<uint32_t>(wireup::param_grace_ms.get());
  send_all(FrameWriter(FrameType::kStop).number(grace_ms).take());
  quit_at_ns_ = base::now_ns() + (int64_t{grace_ms} + 5000) * 1'000'000;
}

void Head::handle(size_t host, const Frame& frame) {
  FrameReader reader(frame.payload);
  if (frame.type == FrameType::kHello) return greet(host, reader);
  if (frame.type == FrameType::kBarrierIn) return barrier_in(host, frame.payload);
  if (frame.type == FrameType::kNote) return say(hosts_[host].name + ": " + std::string(reader.text()));
  const int first = reader.signed_number();
  if (frame.type == FrameType::kStdinTaken) {
    stdin_in_flight_ -= std::min(stdin_in_flight_, static_cast<size_t>(first));
    return;
  }
  const int second = reader.signed_number();
  if (frame.type == FrameType::kTrouble) {
    const std::string about =
        first >= 0 && first < static_cast<int>(ranks_.size()) ? who(first) : "host " + hosts_[host].name;
    return stop(second, about + ": " + std::string(reader.text()));
  }
  // All others are about a rank of that host.
  if (first < 0 || first >= static_cast<int>(ranks_.size()) ||
      plan_.ranks[static_cast<size_t>(first)].host != static_cast<int>(host))
    return;
  if (frame.type == FrameType::kOutput) {
    const std::string_view text = reader.text();
    if (!text.empty()) output_.take(first, second == 2 ? 2 : 1, text, base::now_ns());
  } else if (frame.type == FrameType::kAbort) {
    const std::string text(reader.text());
    stop(second & 255 ? second & 255 : 1, who(first) + " called MPI_Abort with code " +
                                              std::to_string(second) + (text.empty() ? "" : ": " + text) +
                                              "; ending the job");
  } else if (frame.type == FrameType::kExited) {
    rank_exited(first, second, static_cast<RankEnd>(reader.number()));
  }
}

void Head::greet(size_t host, FrameReader& reader) {
  const std::string expected = std::string(kHello) + " " + VICINITY_VERSION, found(reader.text());
  hosts_[host].greeted = true;
  if (found == expected) return;
  stop(1, "host " + hosts_[host].name + " has another version of mpiexec: `" + found.substr(0, 60) +
              "` instead of `" + expected + "`");
}

// Every host gets what all others have put.
void Head::barrier_in(size_t index, const std::string& payload) {
  hosts_[index].in_barrier = true;
  hosts_[index].pairs = payload;
  if (!std::all_of(hosts_.begin(), hosts_.end(), [](const Host& host) { return host.in_barrier; }))
    return check_lost_barrier();
  for (size_t to = 0; to < hosts_.size(); ++to) {
    FrameWriter frame(FrameType::kBarrierOut);
    frame.number(static_cast<uint32_t>(hosts_.size() - 1));
    for (size_t from = 0; from < hosts_.size(); ++from)
      if (from != to) frame.raw(hosts_[from].pairs);
    send(to, frame.take());
  }
  for (Host& host : hosts_) {
    host.in_barrier = false;
    host.pairs.clear();
  }
}

// A barrier that some ranks have entered and a rank that has ended can never reach.
void Head::check_lost_barrier() {
  if (std::none_of(hosts_.begin(), hosts_.end(), [](const Host& host) { return host.in_barrier; })) return;
  for (size_t rank = 0; rank < ranks_.size(); ++rank)
    if (ranks_[rank].exited)
      return stop(
          1, who(static_cast<int>(rank)) + " " +
                 ended_too_early(ranks_[rank].finalized ? RankEnd::kFinalized : RankEnd::kNeverInMpi));
}

void Head::rank_exited(int number, int wait_status, RankEnd end) {
  Rank& rank = ranks_[static_cast<size_t>(number)];
  if (rank.exited) return;
  rank.exited = true;
  rank.finalized = end == RankEnd::kFinalized;
  --alive_;
  ++hosts_[static_cast<size_t>(plan_.ranks[static_cast<size_t>(number)].host)].exited;
  output_.rank_ended(number);
  if (stopping_) return;
  if (wait_status != 0) return ended_badly(number, wait_status, end);
  if (end == RankEnd::kInsideMpi)
    return stop(1, who(number) + " ended without calling MPI_Finalize; ending the job");
  check_lost_barrier();
}

void Head::ended_badly(int rank, int wait_status, RankEnd end) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    // What the user sent needs no explanation.
    if (signal == passed_signal_) return stop(128 + signal, "");
    return stop(128 + signal, who(rank) + " was killed by signal " + std::to_string(signal) + " (" +
                                  signal_name(signal) + ")" +
                                  (WCOREDUMP(wait_status) ? ", core dumped" : "") + "; ending the job");
  }
  const int code = WEXITSTATUS(wait_status);
  const std::string text = who(rank) + " ended with exit code " + std::to_string(code);
  if (end == RankEnd::kFinalized) {
    // The others are past MPI_Finalize too, or on their way, and need nothing of it.
    if (exit_code_ == 0) say(text);
    exit_code_ = exit_code_ ? exit_code_ : code;
    return;
  }
  stop(code, text + (end == RankEnd::kInsideMpi ? " without calling MPI_Finalize" : "") + "; ending the job");
}

void Head::read_signals() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info))
    pass_signal(static_cast<int>(info.ssi_signo));
}

void Head::pass_signal(int signal) {
  if (signal == SIGTSTP) return suspend();
  send_all(FrameWriter(FrameType::kSignal).number(static_cast<uint32_t>(signal)).take());
  if (signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGCONT) return;
  passed_signal_ = signal;
  ++interrupts_;
  const int64_t patience_ns = 5'000'000'000;
  if (interrupts_ > 1) {
    stop(128 + signal, "");
    send_all(FrameWriter(FrameType::kQuit).take());
    quit_at_ns_ = base::now_ns() + 2'000'000'000;
  } else if (signal == SIGINT || signal == SIGQUIT) {
    say("got " + signal_name(signal) + " and passed it on; once more ends the job at once");
  } else {
    // Batch systems and closed terminals do not ask twice.
    say("got " + signal_name(signal) + "; ending the job");
    stopping_ = true;
    exit_code_ = exit_code_ ? exit_code_ : 128 + signal;
    quit_at_ns_ = base::now_ns() + patience_ns;
  }
}

// Ctrl-Z: the ranks first, then we; a SIGCONT wakes us and is passed on.
void Head::suspend() {
  send_all(FrameWriter(FrameType::kSignal).number(SIGTSTP).take());
  for (size_t i = 0; i < hosts_.size(); ++i)
    for (int tries = 0; tries < 100 && !hosts_[i].outgoing.empty(); ++tries) {
      write_host(i);
      usleep(1000);
    }
  raise(SIGSTOP);
}

}  // namespace vicinity::launch
