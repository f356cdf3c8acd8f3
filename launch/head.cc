// SPDX-License-Identifier: BSD-3-Clause
// The loop of mpiexec: one poll over signals, input, output and all hosts.
#include "launch/head.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "wireup/launcher_params.h"

namespace vicinity::launch {
namespace {

constexpr size_t kStdinWindow = 64 * 1024;  // bytes on their way to a rank that it has not taken
// Fixed places in the poll list; the hosts follow.
enum Place : size_t { kSignals, kStdin, kStdout, kStderr, kFirstHost };

}  // namespace

int Head::run() {
  signals_ = open_signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT});
  if (auto status = output_.open_files(); !status.ok()) {
    say(base::failure_text(status.code()));
    return 1;
  }
  if (start_hosts())
    while (!everything_ended()) loop_once();
  wind_up();
  return exit_code_;
}

bool Head::everything_ended() const {
  return std::none_of(hosts_.begin(), hosts_.end(), [](const Host& host) { return host.control.open(); });
}

void Head::loop_once() {
  watch_all();
  const int ready = poll(polls_.data(), polls_.size(), wait_ms());
  for (size_t i = 0; ready > 0 && i < polls_.size(); ++i)
    if (polls_[i].fd >= 0 && polls_[i].revents) dispatch(i);
  const int64_t now = base::now_ns();
  output_.show_idle(now);
  if (timeout_at_ns_ && now >= timeout_at_ns_) {
    timeout_at_ns_ = 0;
    char text[96];
    std::snprintf(text, sizeof text, "the job ran longer than %g s (-timeout); ending it",
                  options_.timeout_s);
    stop(124, text);
  }
  if (start_by_ns_ && now >= start_by_ns_) give_up_silent_hosts();
  if (alive_ == 0 && !quitting_) {
    quitting_ = true;
    send_all(FrameWriter(FrameType::kQuit).take());
    quit_at_ns_ = now + 5'000'000'000;
  }
  if (quit_at_ns_ && now >= quit_at_ns_) {
    quit_at_ns_ = 0;
    for (Host& host : hosts_) host.control.reset();  // proxies end all when they see that
  }
}

int Head::wait_ms() {
  int64_t next = INT64_MAX;
  for (int64_t at : {timeout_at_ns_, start_by_ns_, quit_at_ns_, output_.next_show_ns()})
    if (at) next = std::min(next, at);
  if (next == INT64_MAX) return -1;
  return static_cast<int>(std::clamp<int64_t>((next - base::now_ns()) / 1000000 + 1, 0, 3600000));
}

void Head::watch_all() {
  polls_.clear();
  polls_.push_back({signals_.get(), POLLIN, 0});
  // In the background, reading the terminal would stop us.
  const bool may_read = stdin_open_ && stdin_in_flight_ < kStdinWindow && !quitting_ &&
                        (!isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) == getpgrp());
  polls_.push_back({may_read ? STDIN_FILENO : -1, POLLIN, 0});
  for (int stream : {1, 2}) {
    Sink& sink = output_.sink(stream);
    polls_.push_back({sink.waiting().empty() ? -1 : sink.fd(), POLLOUT, 0});
  }
  const bool room = !output_.congested();
  for (const Host& host : hosts_) {
    const int events = (room ? POLLIN : 0) | (host.outgoing.empty() ? 0 : POLLOUT);
    polls_.push_back({events ? host.control.get() : -1, static_cast<short>(events), 0});
  }
}

void Head::dispatch(size_t index) {
  switch (index) {
    case kSignals:
      return read_signals();
    case kStdin:
      return read_stdin();
    case kStdout:
    case kStderr:
      // Nobody reads our output any more: the job ends as a program would by SIGPIPE.
      if (!output_.sink(index == kStdout ? 1 : 2).write_some() && index == kStdout) stop(128 + SIGPIPE, "");
      return;
    default:
      break;
  }
  const size_t host = index - kFirstHost;
  if (polls_[index].revents & POLLOUT) write_host(host);
  if (polls_[index].revents & ~POLLOUT) read_host(host);
}

void Head::read_host(size_t index) {
  Host& host = hosts_[index];
  if (!host.control.open()) return;
  char bytes[65536];
  const ssize_t got = recv(host.control.get(), bytes, sizeof bytes, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return host_closed(index);
  host.incoming.append(bytes, static_cast<size_t>(got));
  while (host.control.open()) {
    auto frame = host.incoming.next();
    if (!frame.ok()) {
      stop(1, "host " + host.name +
                  ": something printed into the connection to the proxy there, perhaps a start-up file "
                  "of the shell; it must be silent");
      return host_closed(index);
    }
    if (!*frame) return;
    handle(index, **frame);
  }
}

void Head::write_host(size_t index) {
  Host& host = hosts_[index];
  if (!host.control.open()) return;
  const ssize_t sent = ::send(host.control.get(), host.outgoing.data(), host.outgoing.size(), MSG_NOSIGNAL);
  if (sent > 0) host.outgoing.erase(0, static_cast<size_t>(sent));
  // A broken connection shows when it is read.
  if (sent < 0 && errno != EAGAIN && errno != EINTR) host.outgoing.clear();
}

void Head::host_closed(size_t index) {
  Host& host = hosts_[index];
  host.control.reset();
  const bool lost = host.exited < host.ranks;
  alive_ -= host.ranks - host.exited;
  host.exited = host.ranks;
  if (!lost || quitting_) return;
  lost_local_ = true;
  if (spawn_failed(index, "host " + host.name + " cannot be reached, or its proxy ended")) return;
  if (host.greeted && recovers() && !is_under_way(host.job) && jobs_[host.job].silent_hosts == 0)
    host_lost(index);
  else if (host.greeted)
    failed(host.job, 1, "the proxy on host " + host.name + " ended before its processes; ending the job");
  else
    stop(1, "host " + host.name +
                " cannot be reached: the launcher command ended without starting the proxy there; "
                "see -launcher");
}

// The launcher command neither connects nor ends: it is ended.
void Head::give_up_silent_hosts() {
  start_by_ns_ = 0;
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].greeted || !hosts_[i].control.open()) continue;
    if (!spawn_failed(i, "host " + hosts_[i].name + " has not answered in time"))
      stop(1, "host " + hosts_[i].name + " has not answered within " +
                  std::to_string(wireup::param_start_timeout_s.get()) +
                  " s (VICINITY_START_TIMEOUT_S): the launcher command is still trying; see -launcher");
    if (hosts_[i].pid > 0) kill(hosts_[i].pid, SIGKILL);
    host_closed(i);
  }
}

void Head::send(size_t index, const std::string& frame) {
  if (!hosts_[index].control.open()) return;
  const bool idle = hosts_[index].outgoing.empty();
  hosts_[index].outgoing += frame;
  if (idle) write_host(index);
}

void Head::send_all(const std::string& frame) {
  for (size_t i = 0; i < hosts_.size(); ++i) send(i, frame);
}

void Head::read_stdin() {
  char bytes[16384];
  const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const size_t length = got > 0 ? static_cast<size_t>(got) : 0;  // an error ends the input too
  if (length == 0) stdin_open_ = false;
  for (size_t rank = 0; rank < jobs_[0].ranks; ++rank) {
    if (options_.stdin_rank != kStdinAll && options_.stdin_rank != static_cast<int>(rank)) continue;
    if (ranks_[rank].exited) continue;
    send(ranks_[rank].host,
         FrameWriter(FrameType::kStdin).number(static_cast<uint32_t>(rank)).text({bytes, length}).take());
    stdin_in_flight_ += length;
  }
}

// Nothing is left behind: launcher processes are reaped, what a dead proxy had started is ended.
void Head::wind_up() {
  output_.finish();
  const int64_t until = base::now_ns() + 2'000'000'000;
  bool waited_long = false;
  for (Host& host : hosts_) {
    while (host.pid > 0 && waitpid(host.pid, nullptr, WNOHANG) == 0) {
      if (base::now_ns() > until && !waited_long) {
        waited_long = true;
        for (const Host& other : hosts_)
          if (other.pid > 0) kill(other.pid, SIGKILL);
      }
      usleep(500);
    }
    host.pid = -1;
  }
  for (int pass = 0; lost_local_ && pass < kKillPasses && kill_descendants() > 0; ++pass) {
    usleep(kKillPauseUs);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
}

}  // namespace vicinity::launch
