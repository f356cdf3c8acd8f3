// SPDX-License-Identifier: BSD-3-Clause
// Info keys of windows: what they may say and what is assumed without them. Only no_locks, the alignment,
// the granularity and alloc_shared_noncontig change what we do: elements are combined atomically and in order
// at any rate.
#include "rma/hints.h"

#include <cstdlib>
#include <cstring>

namespace vicinity::rma {
namespace {

constexpr const char* kAlignment = "mpi_minimum_memory_alignment";
constexpr const char* kGranularity = "mpi_accumulate_granularity";
constexpr uint64_t kStretch = 32768;  // long enough that taking the lock costs little

enum class Values { kTruth, kOrdering, kOps, kNumber };
struct Key {
  const char* name;
  Values values;
  const char* assumed;  // nullptr: not told
};
constexpr Key kKeys[] = {
    {"no_locks", Values::kTruth, "false"},
    {"accumulate_ordering", Values::kOrdering, "rar,raw,war,waw"},
    {"accumulate_ops", Values::kOps, "same_op_no_op"},
    {kGranularity, Values::kNumber, "0"},
    {"same_size", Values::kTruth, "false"},
    {"same_disp_unit", Values::kTruth, "false"},
    {"alloc_shared_noncontig", Values::kTruth, "false"},
    {kAlignment, Values::kNumber, nullptr},
};

bool is_ordering(const std::string& text) {
  if (text == "none") return true;
  for (size_t from = 0; from <= text.size();) {
    const size_t comma = std::min(text.find(',', from), text.size());
    const std::string word = text.substr(from, comma - from);
    if (word != "rar" && word != "raw" && word != "war" && word != "waw") return false;
    from = comma + 1;
  }
  return true;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

bool makes_sense(Values values, const std::string& text) {
  switch (values) {
    case Values::kTruth:
      return text == "true" || text == "false";
    case Values::kOrdering:
      return is_ordering(text);
    case Values::kOps:
      return text == "same_op" || text == "same_op_no_op";
    case Values::kNumber:
      return is_number(text);
  }
  return false;
}

}  // namespace

Status check_window_hints(const Info* info) {
  const std::string* text = info ? info->find(kAlignment) : nullptr;
  if (!text) return kOk;
  const unsigned long long wish = std::strtoull(text->c_str(), nullptr, 10);
  if (is_number(*text) && wish != 0 && (wish & (wish - 1)) == 0 && wish <= (1ull << 30)) return kOk;
  return fail(MPI_ERR_INFO_VALUE, "%s is %s; a power of two up to 2^30 is needed", kAlignment, text->c_str());
}

uint64_t wanted_alignment(const Info* info) {
  const std::string* text = info ? info->find(kAlignment) : nullptr;
  return text ? std::strtoull(text->c_str(), nullptr, 10) : 0;
}

bool wants_parts_apart(const Info* info) {
  const std::string* text = info ? info->find("alloc_shared_noncontig") : nullptr;
  return text && *text == "true";
}

void accept_hints(Window& window, const Info* info) {
  for (const Key& key : kKeys) {
    const std::string* text = info ? info->find(key.name) : nullptr;
    if (text && makes_sense(key.values, *text)) {
      window.info->set(key.name, text->c_str());
    } else if (key.assumed && !window.info->find(key.name)) {
      window.info->set(key.name, key.assumed);
    }
  }
  window.no_locks = *window.info->find("no_locks") == "true";
  const uint64_t granularity = std::strtoull(window.info->find(kGranularity)->c_str(), nullptr, 10);
  window.stretch = granularity ? granularity : kStretch;
}

}  // namespace vicinity::rma
