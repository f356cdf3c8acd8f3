// SPDX-License-Identifier: BSD-3-Clause
// The one table between handles and integers.
#include "object/handle_table.h"

#include <mutex>
#include <unordered_map>
#include <vector>

#include "object/handle.h"

namespace vicinity::object {
namespace {

struct Table {
  std::mutex lock;
  std::unordered_map<uintptr_t, int> numbers;
  std::vector<uintptr_t> handles;
};

Table& table() {
  static auto* made = new Table;  // survives static destructors
  return *made;
}

}  // namespace

int handle_to_int(uintptr_t handle) {
  if (handle < kFirstAddress) return static_cast<int>(handle);
  Table& all = table();
  std::lock_guard guard(all.lock);
  const auto [at, added] = all.numbers.emplace(handle, static_cast<int>(kFirstAddress + all.handles.size()));
  if (added) all.handles.push_back(handle);
  return at->second;
}

uintptr_t handle_from_int(int number) {
  if (number < 0) return 0;
  const auto value = static_cast<uintptr_t>(number);
  if (value < kFirstAddress) return value;
  Table& all = table();
  std::lock_guard guard(all.lock);
  const size_t index = value - kFirstAddress;
  return index < all.handles.size() ? all.handles[index] : 0;
}

}  // namespace vicinity::object
