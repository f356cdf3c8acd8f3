// SPDX-License-Identifier: BSD-3-Clause
// Info objects. They are short lists, so searching is linear.
#include "object/info.h"

#include <cstring>

#include "object/pool.h"

namespace vicinity::object {

const std::string* Info::find(const char* key) const {
  for (const auto& [name, value] : pairs)
    if (name == key) return &value;
  return nullptr;
}

void Info::set(const char* key, const char* value) {
  for (auto& [name, old] : pairs) {
    if (name != key) continue;
    old = value;
    return;
  }
  pairs.emplace_back(key, value);
}

bool Info::remove(const char* key) {
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].first != key) continue;
    pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

void Info::finish(Info* info) { destroy(info); }

Info* copy_info(const Info* from) {
  Info* copy = make<Info>();
  if (copy && from) copy->pairs = from->pairs;
  return copy;
}

Info& environment_info() {
  static Info& info = []() -> Info& {
    static Info made;
    made.kind = Kind::kInfo;
    made.handle = reinterpret_cast<uintptr_t>(MPI_INFO_ENV);
    return made;
  }();
  return info;
}

Info* HandleTraits<Info>::predefined(uintptr_t constant) {
  return constant == reinterpret_cast<uintptr_t>(MPI_INFO_ENV) ? &environment_info() : nullptr;
}

}  // namespace vicinity::object
