// SPDX-License-Identifier: BSD-3-Clause
// Info objects (MPI 5.0, chapter 10): ordered key/value pairs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "object/handle.h"

namespace vicinity::object {

struct Info : Object {
  std::vector<std::pair<std::string, std::string>> pairs;  // in the order of first setting
  const std::string* find(const char* key) const;
  void set(const char* key, const char* value);
  bool remove(const char* key);  // false: it was not there
  static void finish(Info* info);
};

template <>
struct HandleTraits<Info> {
  using Handle = MPI_Info;
  static constexpr Kind kKind = Kind::kInfo;
  static Info* predefined(uintptr_t constant);  // MPI_INFO_ENV
};

// A new info with the same pairs (none when `from` is nullptr); nullptr when memory is gone.
Info* copy_info(const Info* from);

// What MPI_INFO_ENV stands for; filled by world/ when the library starts.
Info& environment_info();

}  // namespace vicinity::object
