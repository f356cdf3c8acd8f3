// SPDX-License-Identifier: BSD-3-Clause
// Lists of hosts: files and the -host option.
//
//   # comment                      one host a line; empty lines are skipped
//   nodeA                          one slot
//   nodeA:4                        four slots
//   nodeA slots=4 max-slots=8      four slots (Open MPI's form; max-slots is read and not used)
//
// A host that is named again adds its slots. Everything else is an error with its line number.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace vicinity::launch {

struct Host {
  std::string name;
  int slots = 1;
  bool slots_given = false;
};

inline constexpr size_t kHostFileLimit = 16u << 20;
inline constexpr int kSlotsLimit = 100000;

base::Result<std::vector<Host>> parse_host_file(std::string_view text, std::string_view file_name);
base::Result<std::vector<Host>> parse_host_list(std::string_view list);  // nodeA,nodeB:4
base::Result<std::vector<Host>> read_host_file(const std::string& path);
void add_host(std::vector<Host>& hosts, const Host& host);

}  // namespace vicinity::launch
