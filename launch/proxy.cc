// SPDX-License-Identifier: BSD-3-Clause
// The loop of a proxy: one poll over mpiexec, signals, and for each rank PMI, input and output.
#include "launch/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

#include "base/clock.h"
#include "region/backing.h"

namespace vicinity::launch {
namespace {

// Above this much waiting for mpiexec, the ranks' output is left in their pipes, so that a slow terminal
// slows the writers down instead of filling memory.
constexpr size_t kOutgoingLimit = 1u << 20;

}  // namespace

int Proxy::run() {
  setsid();  // the terminal's signals come through mpiexec only
  signals_ = open_signals({SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT});
  fcntl(in_, F_SETFL, fcntl(in_, F_GETFL) | O_NONBLOCK);
  fcntl(out_, F_SETFL, fcntl(out_, F_GETFL) | O_NONBLOCK);
  // Nothing but this loop may write into the stream of frames.
  send(FrameWriter(FrameType::kHello).text(std::string(launch::kHello) + " " + VICINITY_VERSION).take());
  while (!quit_) {
    watch_all();
    const int ready = poll(polls_.data(), polls_.size(), wait_ms());
    for (size_t i = 0; ready > 0 && i < polls_.size(); ++i)
      if (polls_[i].revents) dispatch(watches_[i], polls_[i].revents);
    if (kill_at_ns_ && base::now_ns() >= kill_at_ns_) {
      kill_at_ns_ = 0;
      end_all();
    }
  }
  end_all();
  for (size_t i = 0; i < ranks_.size(); ++i)
    while (forward_once(i, ranks_[i].child.output, 1) || forward_once(i, ranks_[i].child.error, 2)) {
    }
  flush_control();
  sweep_regions();
  return 0;
}

// What ranks that were killed while they made their region's file have left behind.
void Proxy::sweep_regions() const {
  if (!job_) return;
  constexpr std::string_view kName = "VICINITY_REGION_DIR=";
  std::set<std::string> directories;
  for (size_t i = 0; i < ranks_.size(); ++i) {
    std::string directory = region::File::directory();
    for (const std::string& entry : environment_of(i))
      if (entry.starts_with(kName)) directory = entry.substr(kName.size());
    directories.insert(directory);
  }
  for (const std::string& directory : directories) region::File::sweep(directory);
}

void Proxy::trouble(int rank, int exit_code, const std::string& text) {
  send(FrameWriter(FrameType::kTrouble)
           .number(static_cast<uint32_t>(rank))
           .number(static_cast<uint32_t>(exit_code))
           .text(text)
           .take());
}

void Proxy::note(const std::string& text) {
  if (job_ && job_->verbose) send(FrameWriter(FrameType::kNote).text(text).take());
}

int Proxy::wait_ms() const {
  if (!kill_at_ns_) return -1;
  return static_cast<int>(std::max<int64_t>(0, (kill_at_ns_ - base::now_ns()) / 1000000 + 1));
}

void Proxy::watch(int fd, short events, Source source, size_t rank) {
  polls_.push_back({fd, events, 0});
  watches_.push_back({source, rank});
}

void Proxy::watch_all() {
  polls_.clear();
  watches_.clear();
  watch(in_, POLLIN, Source::kControlIn);
  watch(signals_.get(), POLLIN, Source::kSignals);
  if (!outgoing_.empty()) watch(out_, POLLOUT, Source::kControlOut);
  const bool room = outgoing_.size() < kOutgoingLimit;
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const Rank& rank = ranks_[i];
    if (rank.child.pmi.open()) {
      const bool answers = !pmi_->output(static_cast<int>(i)).empty();
      watch(rank.child.pmi.get(), static_cast<short>(POLLIN | (answers ? POLLOUT : 0)), Source::kPmi, i);
    }
    if (room && rank.child.output.open()) watch(rank.child.output.get(), POLLIN, Source::kOutput, i);
    if (room && rank.child.error.open()) watch(rank.child.error.get(), POLLIN, Source::kError, i);
    if (rank.child.input.open() && !rank.input.empty())
      watch(rank.child.input.get(), POLLOUT, Source::kInput, i);
  }
}

void Proxy::dispatch(const Watch& what, short events) {
  switch (what.source) {
    case Source::kControlIn:
      return read_control();
    case Source::kControlOut:
      return write_control();
    case Source::kSignals:
      return reap();
    case Source::kPmi:
      if (events & POLLOUT) write_pmi(what.rank);
      if (events & ~POLLOUT) read_pmi(what.rank);
      return;
    case Source::kInput:
      return write_input(what.rank);
    case Source::kOutput:
    case Source::kError:
      return read_output(what.rank, what.source);
  }
}

void Proxy::read_control() {
  char bytes[65536];
  const ssize_t got = read(in_, bytes, sizeof bytes);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {  // mpiexec is gone
    quit_ = true;
    return;
  }
  incoming_.append(bytes, static_cast<size_t>(got));
  while (!quit_) {
    auto frame = incoming_.next();
    if (!frame.ok()) {
      trouble(-1, 1, base::failure_text(frame.status().code()));
      quit_ = true;
    }
    if (!frame.ok() || !*frame) return;
    handle(**frame);
  }
}

void Proxy::handle(const Frame& frame) {
  FrameReader reader(frame.payload);
  switch (frame.type) {
    case FrameType::kStart:
      if (!job_) start(frame.payload);
      return;
    case FrameType::kBarrierOut:
      return barrier_out(reader);
    case FrameType::kStdin:
      return take_input(reader);
    case FrameType::kSignal:
      return signal_all(reader.signed_number());
    case FrameType::kStop:
      signal_all(SIGTERM);
      signal_all(SIGCONT);  // a stopped process would not notice
      kill_at_ns_ = base::now_ns() + int64_t{reader.number()} * 1000000;
      return;
    case FrameType::kQuit:
      quit_ = true;
      return;
    case FrameType::kSpawned:
      return answer_spawn(reader);
    case FrameType::kSpawnLost: {
      const std::string port(reader.text());
      if (pmi_) pmi_->spawn_lost(port, std::string(reader.text()));
      return;
    }
    case FrameType::kDied:
      if (auto status = pmi_ ? pmi_->died(reader.signed_number()) : base::kOk; !status.ok())
        trouble(-1, 1, base::failure_text(status.code()));
      return;
    default:
      return;  // frames of the other direction
  }
}

void Proxy::write_control() {
  const ssize_t sent = write(out_, outgoing_.data(), outgoing_.size());
  if (sent > 0) outgoing_.erase(0, static_cast<size_t>(sent));
  if (sent < 0 && errno != EAGAIN && errno != EINTR) quit_ = true;
}

// At the end: what is left goes out as long as mpiexec reads, one second at most.
void Proxy::flush_control() {
  const int64_t until = base::now_ns() + 1000000000;
  while (!outgoing_.empty() && base::now_ns() < until) {
    pollfd room{out_, POLLOUT, 0};
    if (poll(&room, 1, 100) <= 0) continue;
    const ssize_t sent = write(out_, outgoing_.data(), outgoing_.size());
    if (sent > 0) outgoing_.erase(0, static_cast<size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return;
  }
}

void Proxy::read_pmi(size_t index) {
  Rank& rank = ranks_[index];
  if (!rank.child.pmi.open()) return;
  char bytes[16384];
  const ssize_t got = recv(rank.child.pmi.get(), bytes, sizeof bytes, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    rank.child.pmi.reset();
    return;
  }
  const auto status = pmi_->receive(static_cast<int>(index), {bytes, static_cast<size_t>(got)});
  if (!status.ok()) {
    trouble(job_->ranks[index].rank, 1, base::failure_text(status.code()));
    rank.child.pmi.reset();
  }
  if (rank.child.pmi.open()) write_pmi(index);
  after_pmi();
}

void Proxy::write_pmi(size_t index) {
  Rank& rank = ranks_[index];
  std::string& output = pmi_->output(static_cast<int>(index));
  if (!rank.child.pmi.open() || output.empty()) return;
  const ssize_t sent = ::send(rank.child.pmi.get(), output.data(), output.size(), MSG_NOSIGNAL);
  if (sent > 0) output.erase(0, static_cast<size_t>(sent));
}

void Proxy::tell_abort() {
  if (auto abort = pmi_->take_abort())
    send(FrameWriter(FrameType::kAbort)
             .number(static_cast<uint32_t>(job_->ranks[static_cast<size_t>(abort->local)].rank))
             .number(static_cast<uint32_t>(abort->exit_code))
             .text(abort->message)
             .take());
}

void Proxy::after_pmi() {
  // Who aborts because another has died may say so before we have heard of the death, which is the news.
  if (pmi_->aborter() >= 0 && !hearing_out_) reap();
  for (auto& spawn : pmi_->take_spawns())
    send(SpawnRequest{job_->ranks[static_cast<size_t>(spawn.local)].rank, std::move(spawn.commands),
                      std::move(spawn.preput)}
             .encode());
  for (const auto& [local, count] : pmi_->take_guests())
    send(FrameWriter(FrameType::kGuests)
             .number(static_cast<uint32_t>(job_->ranks[static_cast<size_t>(local)].rank))
             .number(static_cast<uint32_t>(count))
             .take());
  for (int local : pmi_->take_arrivals())
    send(FrameWriter(FrameType::kArrived)
             .number(static_cast<uint32_t>(job_->ranks[static_cast<size_t>(local)].rank))
             .take());
  check_lost_barrier();
  if (!pmi_->barrier_is_full()) return;
  const Pairs pairs = pmi_->take_pairs();
  FrameWriter frame(FrameType::kBarrierIn);
  frame.number(static_cast<uint32_t>(pairs.size()));
  for (const auto& [key, value] : pairs) frame.text(key).text(value);
  send(frame.take());
}

// The payload is one list for each other host.
void Proxy::barrier_out(FrameReader& reader) {
  if (!pmi_) return;
  Pairs pairs;
  for (uint32_t lists = reader.number(); lists > 0 && reader.ok(); --lists)
    for (uint32_t count = reader.number(); count > 0 && reader.ok(); --count) {
      const std::string key(reader.text());
      pairs.emplace_back(key, reader.text());
    }
  if (!reader.complete()) return trouble(-1, 1, "a barrier message is damaged");
  pmi_->release(pairs);
  for (size_t i = 0; i < ranks_.size(); ++i) write_pmi(i);
}

void Proxy::answer_spawn(FrameReader& reader) {
  const int number = reader.signed_number();
  const std::string why(reader.text());
  for (size_t i = 0; pmi_ && reader.ok() && i < ranks_.size(); ++i) {
    if (job_->ranks[i].rank != number) continue;
    pmi_->answer_spawn(static_cast<int>(i), why);
    write_pmi(i);
  }
}

void Proxy::read_output(size_t index, Source source) {
  Child& child = ranks_[index].child;
  if (source == Source::kOutput)
    forward_once(index, child.output, 1);
  else
    forward_once(index, child.error, 2);
}

// Passes on what is there now. False when there is nothing more at the moment, or for ever.
bool Proxy::forward_once(size_t index, Descriptor& from, int stream) {
  if (!from.open()) return false;
  char bytes[65536];
  const ssize_t got = read(from.get(), bytes, sizeof bytes);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (got <= 0) {
    from.reset();
    return false;
  }
  send(FrameWriter(FrameType::kOutput)
           .number(static_cast<uint32_t>(job_->ranks[index].rank))
           .number(static_cast<uint32_t>(stream))
           .text({bytes, static_cast<size_t>(got)})
           .take());
  return true;
}

void Proxy::take_input(FrameReader& reader) {
  const int number = reader.signed_number();
  const std::string_view text = reader.text();
  for (size_t i = 0; reader.ok() && i < ranks_.size(); ++i) {
    if (job_->ranks[i].rank != number) continue;
    if (text.empty()) ranks_[i].input_ended = true;
    ranks_[i].input += text;
    write_input(i);
    return;
  }
}

void Proxy::write_input(size_t index) {
  Rank& rank = ranks_[index];
  if (!rank.input.empty()) {
    ssize_t taken = rank.child.input.open()
                        ? write(rank.child.input.get(), rank.input.data(), rank.input.size())
                        : static_cast<ssize_t>(rank.input.size());
    // A rank that has closed its input does not want it: the rest is dropped.
    if (taken < 0 && errno != EAGAIN && errno != EINTR) taken = static_cast<ssize_t>(rank.input.size());
    if (taken > 0) {
      rank.input.erase(0, static_cast<size_t>(taken));
      send(FrameWriter(FrameType::kStdinTaken).number(static_cast<uint32_t>(taken)).take());
    }
  }
  if (rank.input.empty() && rank.input_ended) rank.child.input.reset();
}

void Proxy::reap() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) > 0)
    if (info.ssi_signo != SIGCHLD) quit_ = true;  // somebody ends the proxy itself
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
    for (size_t i = 0; i < ranks_.size(); ++i)
      if (ranks_[i].child.pid == pid && !ranks_[i].exited) rank_ended(i, status);
  tell_abort();
}

void Proxy::rank_ended(size_t index, int wait_status) {
  Rank& rank = ranks_[index];
  // A last word in PMI, an abort above all, counts before the end itself; and so does what others have said
  // before, because it may have had to be said for this rank to come so far. But not that they abort: this
  // end may be why.
  hearing_out_ = true;
  for (size_t i = 0; i < ranks_.size(); ++i) read_pmi(i);
  hearing_out_ = false;
  if (pmi_->aborter() == static_cast<int>(index)) tell_abort();
  while (forward_once(index, rank.child.output, 1)) {
  }
  while (forward_once(index, rank.child.error, 2)) {
  }
  rank.exited = true;
  rank.child.pmi.reset();
  rank.input.clear();
  rank.child.input.reset();
  send(FrameWriter(FrameType::kExited)
           .number(static_cast<uint32_t>(job_->ranks[index].rank))
           .number(static_cast<uint32_t>(wait_status))
           .number(static_cast<uint32_t>(pmi_->progress(static_cast<int>(index))))
           .take());
  missing_rank_ = job_->ranks[index].rank;
  missing_end_ = pmi_->progress(static_cast<int>(index));
  check_lost_barrier();
}

// Ranks of this host wait for one that has ended. (mpiexec checks the same among hosts.)
void Proxy::check_lost_barrier() {
  if (missing_rank_ < 0 || !pmi_->anyone_waits()) return;
  if (missing_end_ != RankEnd::kInsideMpi || job_->recovery)  // else that is told in other words
    trouble(missing_rank_, 1, ended_too_early(missing_end_));
  missing_rank_ = -1;
}

void Proxy::end_all() {
  for (int pass = 0; pass < kKillPasses && kill_descendants() > 0; ++pass) {
    usleep(kKillPauseUs);
    reap();
  }
  reap();
}

void Proxy::signal_all(int signal) {
  for (const Rank& rank : ranks_)
    if (!rank.exited && rank.child.pid > 0) kill(-rank.child.pid, signal);
}

}  // namespace vicinity::launch
