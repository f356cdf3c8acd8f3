// SPDX-License-Identifier: BSD-3-Clause
// Node lists: prefix, bracketed ranges (as wide as their first number is written), suffix; items by commas.
#include "launch/slurm.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "wireup/launcher_params.h"

namespace vicinity::launch {
namespace {

using base::fail;
using base::kArgument;
using base::Result;
using base::Status;
using Names = std::vector<std::string>;

constexpr size_t kMostNodes = 200000;

bool number(std::string_view text, int* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() && *out >= 0;
}

// Up to the next comma that is not between brackets.
std::string_view next_item(std::string_view& rest) {
  int depth = 0;
  size_t at = 0;
  for (; at < rest.size(); ++at) {
    if (rest[at] == '[') ++depth;
    if (rest[at] == ']') --depth;
    if (rest[at] == ',' && depth <= 0) break;
  }
  const std::string_view item = rest.substr(0, at);
  rest = at < rest.size() ? rest.substr(at + 1) : std::string_view();
  return item;
}

// "3", "1-3" or "08-12": as wide as its first number is written.
bool add_range(std::string_view range, Names& out) {
  const size_t dash = range.find('-');
  const std::string_view low_text = range.substr(0, dash);
  int low = 0, high = 0;
  if (!number(low_text, &low)) return false;
  high = low;
  if (dash != range.npos && !number(range.substr(dash + 1), &high)) return false;
  if (high < low || static_cast<size_t>(high - low) > kMostNodes) return false;
  for (int value = low; value <= high; ++value) {
    std::string text = std::to_string(value);
    if (text.size() < low_text.size()) text.insert(0, low_text.size() - text.size(), '0');
    out.push_back(std::move(text));
  }
  return true;
}

// One item may have several brackets: rack[1-2]n[01-16].
bool expand_item(std::string_view item, Names& out) {
  Names made{""};
  while (!item.empty()) {
    const size_t open = item.find('[');
    for (std::string& name : made) name += item.substr(0, open);
    if (open == item.npos) break;
    const size_t close = item.find(']', open);
    if (close == item.npos) return false;
    Names values;
    std::string_view ranges = item.substr(open + 1, close - open - 1);
    do {
      if (!add_range(next_item(ranges), values)) return false;
    } while (!ranges.empty());
    if (made.size() * values.size() > kMostNodes) return false;
    Names longer;
    for (const std::string& name : made)
      for (const std::string& value : values) longer.push_back(name + value);
    made = std::move(longer);
    item = item.substr(close + 1);
  }
  out.insert(out.end(), made.begin(), made.end());
  return out.size() <= kMostNodes;
}

std::string variable(const char* name, const char* older) {
  const char* text = std::getenv(name);
  if (!text) text = std::getenv(older);
  return text ? text : "";
}

}  // namespace

Result<Names> expand_node_list(std::string_view list) {
  Names names;
  for (std::string_view rest = list; !rest.empty();) {
    const std::string_view item = next_item(rest);
    if (item.empty() || !expand_item(item, names))
      return fail(kArgument,
                  "SLURM_JOB_NODELIST=%.*s cannot be understood at `%.*s`; name the hosts with -hosts",
                  static_cast<int>(std::min<size_t>(list.size(), 200)), list.data(),
                  static_cast<int>(std::min<size_t>(item.size(), 80)), item.data());
  }
  return names;
}

Result<std::vector<int>> expand_counts(std::string_view text) {
  std::vector<int> counts;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view item = next_item(rest);
    int times = 1, count = 0;
    if (const size_t open = item.find("(x"); open != item.npos && item.back() == ')') {
      if (!number(item.substr(open + 2, item.size() - open - 3), &times)) times = 0;
      item = item.substr(0, open);
    }
    if (!number(item, &count) || times < 1 || static_cast<size_t>(times) > kMostNodes)
      return fail(kArgument,
                  "SLURM_TASKS_PER_NODE=%.*s cannot be understood; name the hosts with -hosts host:N",
                  static_cast<int>(std::min<size_t>(text.size(), 200)), text.data());
    counts.insert(counts.end(), static_cast<size_t>(times), count);
  }
  return counts;
}

Status adopt_allocation(Options& options) {
  const std::string list = variable("SLURM_JOB_NODELIST", "SLURM_NODELIST");
  if (list.empty() || !std::getenv("SLURM_JOB_ID")) return base::kOk;
  for (const Segment& segment : options.segments)
    if (!segment.hosts.empty()) return base::kOk;
  auto names = expand_node_list(list);
  if (!names.ok()) return names.status();
  auto slots = expand_counts(variable("SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"));
  if (!slots.ok()) return slots.status();
  std::vector<Host> hosts;
  for (size_t i = 0; i < names->size(); ++i) {
    const int count = i < slots->size() ? std::max(1, (*slots)[i]) : 1;
    hosts.push_back({(*names)[i], count, i < slots->size()});
  }
  for (Segment& segment : options.segments) segment.hosts = hosts;
  if (options.launcher.empty() && !wireup::param_launcher.was_set) options.launcher = "srun";
  return base::kOk;
}

}  // namespace vicinity::launch
