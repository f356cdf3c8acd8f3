// SPDX-License-Identifier: BSD-3-Clause
// mpiexec's part for MPI_Comm_spawn: more processes while the job runs, as a job of their own.
//
// A spawned job is connected with those who have spawned it, so what ends one ends the other; until its ranks
// have told that they are connected with nobody outside any more (MPI_Comm_disconnect). From then on its
// failures are its own. So they are, where the job goes on without the dead, before it is connected at all:
// then it is MPI_Comm_spawn that fails.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/clock.h"
#include "launch/environment.h"
#include "launch/head.h"
#include "launch/hostfile.h"
#include "launch/remote.h"
#include "wireup/launcher_params.h"

namespace vicinity::launch {
namespace {

using base::fail;
using base::Result;
using base::Status;

std::string value_of(const wireup::SpawnCommand& command, const std::string& key) {
  for (const auto& [name, value] : command.info)
    if (name == key) return value;
  return "";
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words(1);
  for (char c : list) {
    if (c == ',' || c == ' ') {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

}  // namespace

// The info keys `host` or `hosts` name hosts, which take processes in turn; else it is the host of ours that
// has the fewest.
Result<Plan> Head::plan_spawn(const SpawnRequest& request) const {
  Plan plan;
  std::map<std::string, size_t> load;
  std::map<std::string, int> index;
  for (size_t i = 0; i < plan_.hosts.size(); ++i) load[hosts_[i].name] = 0;
  for (const Rank& rank : ranks_)
    if (!rank.exited) ++load[hosts_[rank.host].name];
  for (size_t app = 0; app < request.commands.size(); ++app) {
    const wireup::SpawnCommand& command = request.commands[app];
    std::vector<std::string> hosts = words_of(value_of(command, "host"));
    if (hosts.empty()) hosts = words_of(value_of(command, "hosts"));
    for (int i = 0; i < command.processes; ++i) {
      const auto least = std::min_element(load.begin(), load.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
      std::string name = hosts.empty() ? least->first : hosts[static_cast<size_t>(i) % hosts.size()];
      if (name == "localhost") name = hosts_[0].name;
      ++load[name];
      const auto [host, is_new] = index.emplace(name, static_cast<int>(plan.hosts.size()));
      if (is_new) plan.hosts.push_back(name);
      plan.ranks.push_back({host->second, static_cast<int>(app)});
    }
  }
  if (ranks_.size() + plan.ranks.size() > 1000000)
    return fail(base::kArgument, "that are too many processes");
  plan.universe_size = plan_.universe_size;
  return plan;
}

void Head::spawn(size_t host, const std::string& payload) {
  auto request = SpawnRequest::decode(payload);
  if (!request.ok())
    return stop(1, "host " + hosts_[host].name + ": " + base::failure_text(request.status().code()));
  const Job& from = jobs_[hosts_[host].job];
  if (request->rank < 0 || static_cast<size_t>(request->rank) >= from.ranks || stopping_) return;
  const int spawner = static_cast<int>(from.first_rank) + request->rank;
  auto plan = plan_spawn(*request);
  const size_t job = jobs_.size();
  const Status status = plan.ok() ? start_spawned(*request, *plan, spawner) : plan.status();
  if (status.ok()) return;
  Job refused{.spawner = spawner};
  const bool begun = jobs_.size() > job;
  answer_spawn(begun ? jobs_[job] : refused, base::failure_text(status.code()));
  if (begun) end_job(job, FrameWriter(FrameType::kQuit).take());
}

Status Head::start_spawned(const SpawnRequest& request, const Plan& plan, int spawner) {
  const size_t first_host = hosts_.size(), job = jobs_.size(),
               spawner_host = ranks_[static_cast<size_t>(spawner)].host;
  jobs_.push_back({.first_rank = ranks_.size(),
                   .ranks = plan.ranks.size(),
                   .silent_hosts = plan.hosts.size(),
                   .spawner = spawner,
                   .parent_host = spawner_host});
  for (const auto& [key, value] : request.preput)
    if (key == wireup::kParentPort) jobs_.back().port = value;
  for (const std::string& name : plan.hosts) {
    hosts_.emplace_back();
    hosts_.back().name = name;
    hosts_.back().job = job;
  }
  Start common = common_start(plan, job_name_ + "-" + std::to_string(job));
  common.preput = request.preput;
  std::vector<Start> starts(plan.hosts.size(), common);
  for (size_t i = 0; i < plan.ranks.size(); ++i) {
    const auto host = static_cast<size_t>(plan.ranks[i].host);
    starts[host].ranks.push_back({static_cast<int>(i), plan.ranks[i].app, false});
    ranks_.push_back({.host = first_host + host});
    ++hosts_[first_host + host].ranks;
  }
  alive_ += plan.ranks.size();
  output_.add(static_cast<int>(plan.ranks.size()), static_cast<int>(job));
  // The program and the environment of a spawned job are those of the job that spawns it, where the request
  // does not say otherwise.
  const size_t origin =
      hosts_[spawner_host].job == 0 ? static_cast<size_t>(plan_.ranks[static_cast<size_t>(spawner)].app) : 0;
  const Segment& segment = options_.segments[origin];
  const std::vector<std::string> inherited = inherited_environment();
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error) / segment.directory;
  VICINITY_TRY(start_proxies(first_host));
  for (size_t i = 0; i < starts.size(); ++i) {
    const std::string& name = hosts_[first_host + i].name;
    starts[i].host = name;
    starts[i].keep_environment = !is_this_host(name);
    for (const wireup::SpawnCommand& command : request.commands) {
      const std::string directory = value_of(command, "wdir"), path = value_of(command, "path");
      starts[i].apps.push_back(
          {command.argv,
           environment_for(inherited, options_.environment, segment.environment, starts[i].keep_environment),
           (here / directory).string(), path.empty() ? segment.path : path});
    }
    send(first_host + i, starts[i].encode());
  }
  return base::kOk;
}

void Head::answer_spawn(Job& job, const std::string& trouble) {
  if (job.spawner < 0) return;
  const Rank& rank = ranks_[static_cast<size_t>(job.spawner)];
  const Job& from = jobs_[hosts_[rank.host].job];
  send(rank.host, FrameWriter(FrameType::kSpawned)
                      .number(static_cast<uint32_t>(static_cast<size_t>(job.spawner) - from.first_rank))
                      .text(trouble)
                      .take());
  job.spawner = -1;
}

void Head::host_started(size_t host) {
  Job& job = jobs_[hosts_[host].job];
  if (job.silent_hosts > 0 && --job.silent_hosts == 0) answer_spawn(job, "");
}

// Before all processes run, a failure is that of MPI_Comm_spawn, and the rest of the job goes on.
bool Head::spawn_failed(size_t host, const std::string& why) {
  const size_t index = hosts_[host].job;
  Job& job = jobs_[index];
  if (index == 0 || (job.silent_hosts == 0 && !job.ended)) return false;
  answer_spawn(job, why);
  end_job(index, FrameWriter(FrameType::kQuit).take());
  return true;
}

// Of this job alone.
void Head::end_job(size_t index, const std::string& frame) {
  jobs_[index].ended = true;
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].job != index) continue;
    send(i, frame);
    if (hosts_[i].control.open()) continue;
    alive_ -= hosts_[i].ranks - hosts_[i].exited;
    hosts_[i].exited = hosts_[i].ranks;
  }
}

bool Head::is_apart(size_t index) const {
  if (index == 0) return false;
  const auto first = ranks_.begin() + static_cast<std::ptrdiff_t>(jobs_[index].first_rank);
  return std::all_of(first, first + static_cast<std::ptrdiff_t>(jobs_[index].ranks),
                     [](const Rank& rank) { return rank.apart; });
}

// Not all of a spawned job have met those who have spawned it yet.
bool Head::is_under_way(size_t index) const {
  if (index == 0) return false;
  const auto first = ranks_.begin() + static_cast<std::ptrdiff_t>(jobs_[index].first_rank);
  return !std::all_of(first, first + static_cast<std::ptrdiff_t>(jobs_[index].ranks),
                      [](const Rank& rank) { return rank.arrived; });
}

// A job has failed, and with it all that are connected with it.
void Head::failed(size_t job, int exit_code, const std::string& message) {
  if (stopping_ || jobs_[job].ended) return;
  const bool never_came = recovers() && is_under_way(job);
  if (!is_apart(job) && !never_came) return stop(exit_code, message);
  say(message);
  if (exit_code_ == 0) exit_code_ = exit_code;
  if (never_came) {
    answer_spawn(jobs_[job], message);
    send(jobs_[job].parent_host,
         FrameWriter(FrameType::kSpawnLost).text(jobs_[job].port).text(message).take());
  }
  end_job(job,
          FrameWriter(FrameType::kStop).number(static_cast<uint32_t>(wireup::param_grace_ms.get())).take());
}

}  // namespace vicinity::launch
