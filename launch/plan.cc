// SPDX-License-Identifier: BSD-3-Clause
// Dealing out slots, and the mapping in blocks.
#include "launch/plan.h"

#include <algorithm>
#include <map>

namespace vicinity::launch {
namespace {

using base::fail;
using base::kArgument;
using base::Result;

// Deals slots out: host by host (slot), or one to each host in turn (node). When all are taken it starts
// again, so that more ranks than slots are spread evenly.
class Dealer {
 public:
  Dealer(std::vector<Host> hosts, int per_host, bool in_turn) : hosts_(std::move(hosts)), in_turn_(in_turn) {
    for (Host& host : hosts_)
      if (per_host > 0) host.slots = per_host;
  }
  const std::string& next(std::map<std::string, int>& used) {
    while (true) {
      for (size_t tries = 0; tries < hosts_.size(); ++tries) {
        const Host& host = hosts_[at_];
        if (used[host.name] < host.slots * round_) {
          ++used[host.name];
          if (in_turn_) step();
          return host.name;
        }
        step();
      }
      ++round_;
      at_ = 0;
    }
  }

 private:
  void step() { at_ = (at_ + 1) % hosts_.size(); }
  std::vector<Host> hosts_;
  bool in_turn_;
  size_t at_ = 0;
  int round_ = 1;
};

int total_slots(const std::vector<Host>& hosts, int per_host) {
  int64_t total = 0;
  for (const Host& host : hosts) total += per_host > 0 ? per_host : host.slots;
  return static_cast<int>(std::min<int64_t>(total, 1000000));
}

}  // namespace

Result<Plan> make_plan(const Options& options) {
  Plan plan;
  // Hosts of the first program that names some are for all that name none, wherever they stand.
  std::vector<Host> common;
  for (const Segment& segment : options.segments)
    if (common.empty()) common = segment.hosts;
  const bool hosts_given = !common.empty();
  if (!hosts_given) common = {{"localhost", 1, false}};
  std::map<std::string, int> used, index;
  int64_t total = 0, slots = 0;
  for (size_t app = 0; app < options.segments.size(); ++app) {
    const Segment& segment = options.segments[app];
    const std::vector<Host>& hosts = segment.hosts.empty() ? common : segment.hosts;
    Dealer dealer(hosts, options.ranks_per_host, options.map_by == "node");
    slots = std::max<int64_t>(slots, total_slots(hosts, options.ranks_per_host));
    const bool counted = hosts_given || options.ranks_per_host > 0;
    const int ranks = segment.ranks ? segment.ranks
                      : counted     ? total_slots(hosts, options.ranks_per_host)
                                    : 1;
    total += ranks;
    if (total > 1000000) return fail(kArgument, "%lld processes are too many", static_cast<long long>(total));
    for (int i = 0; i < ranks; ++i) {
      const std::string& name = dealer.next(used);
      const auto [host, is_new] = index.emplace(name, static_cast<int>(plan.hosts.size()));
      if (is_new) plan.hosts.push_back(name);
      plan.ranks.push_back({host->second, static_cast<int>(app)});
    }
  }
  plan.universe_size =
      options.universe_size ? options.universe_size : static_cast<int>(std::max(slots, total));
  if (options.stdin_rank >= static_cast<int>(plan.ranks.size()))
    return fail(kArgument, "-stdin %d: the job has only %zu processes", options.stdin_rank,
                plan.ranks.size());
  return plan;
}

std::string process_mapping(const Plan& plan) {
  struct Block {
    int host, hosts, ranks;
  };
  std::vector<Block> blocks;
  for (size_t i = 0; i < plan.ranks.size();) {
    size_t end = i;
    while (end < plan.ranks.size() && plan.ranks[end].host == plan.ranks[i].host) ++end;
    const int host = plan.ranks[i].host, ranks = static_cast<int>(end - i);
    if (!blocks.empty() && blocks.back().ranks == ranks && blocks.back().host + blocks.back().hosts == host)
      ++blocks.back().hosts;
    else
      blocks.push_back({host, 1, ranks});
    i = end;
  }
  std::string text = "(vector";
  for (const Block& block : blocks)
    text += ",(" + std::to_string(block.host) + "," + std::to_string(block.hosts) + "," +
            std::to_string(block.ranks) + ")";
  return text + ")";
}

}  // namespace vicinity::launch
