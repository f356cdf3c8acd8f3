// SPDX-License-Identifier: BSD-3-Clause
// mpiexec's part that sets a job up.
#include <sys/random.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <filesystem>

#include "base/clock.h"
#include "launch/environment.h"
#include "launch/head.h"
#include "launch/remote.h"
#include "launch/start.h"
#include "wireup/launcher_params.h"

extern char** environ;

namespace vicinity::launch {

Head::Head(const Options& options, const Plan& plan)
    : options_(options),
      plan_(plan),
      output_({options.label, options.output_pattern, options.error_pattern},
              static_cast<int>(plan.ranks.size())),
      hosts_(plan.hosts.size()),
      ranks_(plan.ranks.size()),
      alive_(plan.ranks.size()) {
  char own[256] = "localhost";
  gethostname(own, sizeof own - 1);
  for (size_t i = 0; i < hosts_.size(); ++i)
    hosts_[i].name = plan.hosts[i] == "localhost" ? own : plan.hosts[i];
  for (size_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i].host = static_cast<size_t>(plan.ranks[i].host);
    ++hosts_[ranks_[i].host].ranks;
  }
  jobs_.push_back({.ranks = ranks_.size(), .silent_hosts = hosts_.size()});
  stdin_open_ = options.stdin_rank != kStdinNone;
  if (options.timeout_s > 0) timeout_at_ns_ = base::now_ns() + static_cast<int64_t>(options.timeout_s * 1e9);
}

// Unique among all jobs that may ever share a host, a guest or a file system.
std::string Head::job_name() const {
  char host[64] = "", name[160];
  gethostname(host, sizeof host - 1);
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random))
    random = static_cast<uint64_t>(base::now_ns());
  std::snprintf(name, sizeof name, "vicinity-%s-%ld-%016" PRIx64, host, static_cast<long>(getpid()), random);
  return name;
}

// One for each host from this one on.
base::Status Head::start_proxies(size_t first_host) {
  const std::string launcher = options_.launcher.empty() ? wireup::param_launcher.get() : options_.launcher;
  for (size_t i = first_host; i < hosts_.size(); ++i) {
    auto proxy = start_proxy(hosts_[i].name, launcher);
    if (!proxy.ok()) return proxy.status();
    hosts_[i].pid = proxy->pid;
    hosts_[i].control = std::move(proxy->control);
  }
  start_by_ns_ = base::now_ns() + wireup::param_start_timeout_s.get() * 1'000'000'000;
  return base::kOk;
}

Start Head::common_start(const Plan& plan, const std::string& job) const {
  Start common;
  common.job = job;
  common.mapping = process_mapping(plan);
  common.size = static_cast<int>(plan.ranks.size());
  common.universe_size = plan.universe_size;
  common.bind_to = options_.bind_to;
  common.map_by = options_.map_by == "slot" || options_.map_by == "node" ? "" : options_.map_by;
  common.claim_cpus = wireup::param_claim_cpus.get();
  common.verbose = options_.verbose;
  common.recovery = recovers();
  return common;
}

std::vector<std::string> Head::inherited_environment() const {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry; ++entry) entries.emplace_back(*entry);
  return entries;
}

bool Head::start_hosts() {
  job_name_ = job_name();
  if (auto status = start_proxies(0); !status.ok()) {
    stop(1, base::failure_text(status.code()));
    return false;
  }
  std::vector<Start> starts(hosts_.size(), common_start(plan_, job_name_));
  for (size_t rank = 0; rank < plan_.ranks.size(); ++rank) {
    const PlannedRank& planned = plan_.ranks[rank];
    const bool has_stdin = options_.stdin_rank == kStdinAll || options_.stdin_rank == static_cast<int>(rank);
    starts[static_cast<size_t>(planned.host)].ranks.push_back(
        {static_cast<int>(rank), planned.app, has_stdin});
  }
  const std::vector<std::string> inherited = inherited_environment();
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  for (size_t i = 0; i < hosts_.size(); ++i) {
    starts[i].host = hosts_[i].name;
    starts[i].keep_environment = !is_this_host(hosts_[i].name);
    for (const Segment& segment : options_.segments)
      starts[i].apps.push_back(
          {segment.argv,
           environment_for(inherited, options_.environment, segment.environment, starts[i].keep_environment),
           (segment.directory.empty() ? here : here / segment.directory).string(), segment.path});
    send(i, starts[i].encode());
  }
  return true;
}

}  // namespace vicinity::launch
