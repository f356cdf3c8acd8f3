// SPDX-License-Identifier: BSD-3-Clause
// The proxy's part that starts ranks: environment, binding, processes.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "launch/environment.h"
#include "launch/proxy.h"

extern char** environ;

namespace vicinity::launch {

void Proxy::start(std::string_view payload) {
  auto job = Start::decode(payload);
  if (!job.ok()) {
    trouble(-1, 1, base::failure_text(job.status().code()));
    return;
  }
  job_ = std::move(*job);
  pmi_.emplace(*job_);
  ranks_.resize(job_->ranks.size());
  const auto cpus = choose_cpus();
  for (size_t i = 0; i < ranks_.size() && !quit_; ++i) start_rank(i, cpus[i]);
  if (!quit_) send(FrameWriter(FrameType::kStarted).take());
}

// Default: a core per rank when there are enough of them that no other job has claimed; of more ranks the
// same number on each core, or else they drift, and wait for the core on which most of them are. Else none.
std::vector<std::vector<int>> Proxy::choose_cpus() {
  const int count = static_cast<int>(ranks_.size());
  std::vector<std::vector<int>> nothing(ranks_.size());
  auto bind = parse_unit(job_->bind_to.empty() ? "core" : job_->bind_to, "-bind-to");
  auto map = parse_unit(job_->map_by.empty() ? "none" : job_->map_by, "-map-by");
  if (!bind.ok() || !map.ok() || *bind == Unit::kNone) return nothing;
  const Topology all = read_topology();
  Topology usable = all;
  if (job_->bind_to.empty()) {
    const int cores = all.count(&Cpu::core);
    if (count > cores && count % cores != 0) {
      note("not bound: " + std::to_string(count) + " ranks on " + std::to_string(cores) + " cores");
      return nothing;
    }
    const int wanted = std::min(count, cores);
    if (job_->claim_cpus) usable = claims_.take_cores(all, *map == Unit::kNone ? wanted : cores);
    if (usable.cpus.empty() && *map != Unit::kNone) usable = claims_.take_cores(all, wanted);
    if (usable.cpus.empty()) {
      note("not bound: other jobs have claimed cores");
      return nothing;
    }
  }
  return place_ranks(usable, count, *bind, *map);
}

std::vector<std::string> Proxy::environment_of(size_t index) const {
  const LocalRank& rank = job_->ranks[index];
  const App& app = job_->apps[static_cast<size_t>(rank.app)];
  Environment environment;
  if (job_->keep_environment)
    for (char** entry = environ; *entry; ++entry)
      if (!names_a_launcher(*entry)) environment.set(*entry);
  for (const std::string& entry : app.environment) environment.set(entry);
  const std::string number = std::to_string(rank.rank);
  environment.set("PMI_RANK", number);
  environment.set("PMI_ID", number);
  environment.set("PMI_SIZE", std::to_string(job_->size));
  if (!job_->preput.empty()) environment.set("PMI_SPAWNED", "1");
  if (job_->recovery) environment.set("VICINITY_RECOVERY", "yes");
  environment.set("MPI_LOCALNRANKS", std::to_string(ranks_.size()));
  environment.set("MPI_LOCALRANKID", std::to_string(index));
  environment.set("VICINITY_MPIEXEC", VICINITY_VERSION);
  return environment.entries();
}

void Proxy::start_rank(size_t index, const std::vector<int>& cpus) {
  const LocalRank& rank = job_->ranks[index];
  ChildPlan plan;
  plan.app = &job_->apps[static_cast<size_t>(rank.app)];
  plan.environment = environment_of(index);
  plan.has_stdin = rank.has_stdin;
  CPU_ZERO(&plan.cpus);
  std::string bound;
  for (int cpu : cpus) {
    CPU_SET(cpu, &plan.cpus);
    plan.bind = true;
    bound += (bound.empty() ? "" : ",") + std::to_string(cpu);
  }
  auto child = start_child(plan);
  if (!child.ok()) {
    const int code = child.status().code();
    ranks_[index].exited = true;
    trouble(rank.rank, code == kNotFound || code == kNotExecutable ? code : 1, base::failure_text(code));
    quit_ = true;
    return;
  }
  ranks_[index].child = std::move(*child);
  note("rank " + std::to_string(rank.rank) + " is process " + std::to_string(ranks_[index].child.pid) +
       (plan.bind ? " on CPU " + bound : " unbound"));
}

}  // namespace vicinity::launch
