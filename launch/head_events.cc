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

std::string Head::who(int number) const {
  const auto rank = static_cast<size_t>(number);
  const Host& host = hosts_[ranks_[rank].host];
  std::string text = "rank " + std::to_string(rank - jobs_[host.job].first_rank);
  if (host.job > 0) text += " of spawned job " + std::to_string(host.job);
  return text + " on " + host.name;
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
  if (frame.type == FrameType::kStarted) return host_started(host);
  if (frame.type == FrameType::kSpawn) return spawn(host, frame.payload);
  const int first = reader.signed_number();
  if (frame.type == FrameType::kStdinTaken) {
    stdin_in_flight_ -= std::min(stdin_in_flight_, static_cast<size_t>(first));
    return;
  }
  const int second = reader.signed_number();
  // All others are about a rank of that host, as its job numbers it; kTrouble may be about none.
  const Job& job = jobs_[hosts_[host].job];
  const bool known = first >= 0 && static_cast<size_t>(first) < job.ranks &&
                     ranks_[job.first_rank + static_cast<size_t>(first)].host == host;
  const int rank = known ? static_cast<int>(job.first_rank) + first : -1;
  if (frame.type == FrameType::kTrouble) {
    const std::string why(reader.text());
    if (spawn_failed(host, why)) return;
    return failed(hosts_[host].job, second, (known ? who(rank) : "host " + hosts_[host].name) + ": " + why);
  }
  if (known) handle_rank(rank, frame.type, second, reader);
}

void Head::handle_rank(int rank, FrameType type, int value, FrameReader& reader) {
  if (type == FrameType::kOutput) {
    const std::string_view text = reader.text();
    if (!text.empty()) output_.take(rank, value == 2 ? 2 : 1, text, base::now_ns());
  } else if (type == FrameType::kAbort) {
    const std::string text(reader.text());
    failed(job_of(rank), value & 255 ? value & 255 : 1,
           who(rank) + " called MPI_Abort with code " + std::to_string(value) +
               (text.empty() ? "" : ": " + text) + "; ending the job");
  } else if (type == FrameType::kExited) {
    rank_exited(rank, value, static_cast<RankEnd>(reader.number()));
  } else if (type == FrameType::kGuests) {
    ranks_[static_cast<size_t>(rank)].apart = value == 0;
  } else if (type == FrameType::kArrived) {
    ranks_[static_cast<size_t>(rank)].arrived = true;
  }
}

void Head::greet(size_t host, FrameReader& reader) {
  const std::string expected = std::string(kHello) + " " + VICINITY_VERSION, found(reader.text());
  hosts_[host].greeted = true;
  if (found == expected) return;
  stop(1, "host " + hosts_[host].name + " has another version of mpiexec: `" + found.substr(0, 60) +
              "` instead of `" + expected + "`");
}

// Every host gets what all others of its job have put.
void Head::barrier_in(size_t index, const std::string& payload) {
  hosts_[index].in_barrier = true;
  hosts_[index].pairs = payload;
  const size_t job = hosts_[index].job;
  const auto awaited = [job](const Host& host) { return host.job == job && !host.in_barrier; };
  if (std::any_of(hosts_.begin(), hosts_.end(), awaited)) return check_lost_barrier(job);
  std::vector<size_t> members;
  for (size_t i = 0; i < hosts_.size(); ++i)
    if (hosts_[i].job == job) members.push_back(i);
  for (size_t to : members) {
    FrameWriter frame(FrameType::kBarrierOut);
    frame.number(static_cast<uint32_t>(members.size() - 1));
    for (size_t from : members)
      if (from != to) frame.raw(hosts_[from].pairs);
    send(to, frame.take());
  }
  for (size_t member : members) {
    hosts_[member].in_barrier = false;
    hosts_[member].pairs.clear();
  }
}

// A barrier that some ranks have entered and a rank that has ended can never reach.
void Head::check_lost_barrier(size_t job) {
  const auto waits = [job](const Host& host) { return host.job == job && host.in_barrier; };
  if (std::none_of(hosts_.begin(), hosts_.end(), waits)) return;
  for (size_t i = 0; i < jobs_[job].ranks; ++i) {
    const size_t rank = jobs_[job].first_rank + i;
    if (!ranks_[rank].exited) continue;
    return failed(job, 1, who(static_cast<int>(rank)) + " " + ended_too_early(ranks_[rank].end));
  }
}

void Head::rank_exited(int number, int wait_status, RankEnd end) {
  Rank& rank = ranks_[static_cast<size_t>(number)];
  if (rank.exited) return;
  rank.exited = true;
  rank.end = end;
  --alive_;
  Host& host = hosts_[rank.host];
  ++host.exited;
  output_.rank_ended(number);
  const bool ended = jobs_[host.job].ended;
  // The proxies of a spawned job have nothing more to do; those of the first wait for all.
  if (host.job > 0 && host.exited == host.ranks) send(rank.host, FrameWriter(FrameType::kQuit).take());
  if (stopping_ || ended) return;
  if (wait_status != 0) {
    ended_badly(number, wait_status, end);
  } else if (end == RankEnd::kInsideMpi) {
    lost(number, 1, who(number) + " ended without calling MPI_Finalize", end);
  } else if (host.job > 0 && end == RankEnd::kNeverInMpi) {
    failed(host.job, 1,
           who(number) +
               " ended without calling MPI_Init, while those who have spawned it wait "
               "for it in MPI_Comm_spawn; ending the job");
  }
  if (!stopping_ && !jobs_[host.job].ended) check_lost_barrier(host.job);
}

bool Head::recovers() const { return options_.recovery || wireup::param_recovery.get(); }

// A process that the others may wait for is gone: the end of its job, unless they can do without it. A
// spawned job cannot before all of it has met those who have spawned it: nobody's MPI_Init would be over.
void Head::lost(int number, int exit_code, const std::string& text, RankEnd end) {
  const size_t job = job_of(number);
  if (!recovers() || is_under_way(job)) return failed(job, exit_code, text + "; ending the job");
  say(text + "; the job goes on without it");
  exit_code_ = exit_code_ ? exit_code_ : exit_code;
  Rank& rank = ranks_[static_cast<size_t>(number)];
  rank.apart = true;  // who is dead is connected with nobody
  if (end != RankEnd::kInsideMpi) return;
  const auto told = static_cast<uint32_t>(static_cast<size_t>(number) - jobs_[job].first_rank);
  for (size_t host = 0; host < hosts_.size(); ++host)
    if (hosts_[host].job == job) send(host, FrameWriter(FrameType::kDied).number(told).take());
}

// The proxy there is gone, and with it, by the kernel or its own last act, all its ranks.
void Head::host_lost(size_t index) {
  const size_t job = hosts_[index].job;
  for (size_t i = 0; i < jobs_[job].ranks; ++i) {
    const size_t number = jobs_[job].first_rank + i;
    Rank& rank = ranks_[number];
    if (rank.host != index || rank.exited) continue;
    rank.exited = true;
    rank.end = RankEnd::kInsideMpi;
    output_.rank_ended(static_cast<int>(number));
    lost(static_cast<int>(number), 1, who(static_cast<int>(number)) + " is gone with the proxy there",
         rank.end);
  }
  if (!stopping_ && !jobs_[job].ended) check_lost_barrier(job);
}

void Head::ended_badly(int rank, int wait_status, RankEnd end) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    // What the user sent needs no explanation.
    if (signal == passed_signal_) return stop(128 + signal, "");
    return lost(rank, 128 + signal,
                who(rank) + " was killed by signal " + std::to_string(signal) + " (" + signal_name(signal) +
                    ")" + (WCOREDUMP(wait_status) ? ", core dumped" : ""),
                end);
  }
  const int code = WEXITSTATUS(wait_status);
  const std::string text = who(rank) + " ended with exit code " + std::to_string(code);
  if (end == RankEnd::kFinalized) {
    // The others are past MPI_Finalize too, or on their way, and need nothing of it.
    if (exit_code_ == 0) say(text);
    exit_code_ = exit_code_ ? exit_code_ : code;
    return;
  }
  lost(rank, code, text + (end == RankEnd::kInsideMpi ? " without calling MPI_Finalize" : ""), end);
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
