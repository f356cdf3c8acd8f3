// SPDX-License-Identifier: BSD-3-Clause
// Environments as lists of NAME=VALUE, and which variables go from mpiexec to the ranks.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace vicinity::launch {

class Environment {
 public:
  void set(std::string_view entry);  // "NAME=VALUE"; anything else is ignored
  void set(const std::string& name, const std::string& value) { values_[name] = value; }
  void remove(const std::string& name) { values_.erase(name); }
  std::vector<std::string> entries() const;

 private:
  std::map<std::string, std::string> values_;
};

// Does this variable belong to a launcher around us (PMI_*, PMIX_*, ...)? Inherited, it would make a rank
// talk to the wrong one.
bool names_a_launcher(std::string_view entry);
// Is it about the host or the terminal of mpiexec, and wrong on any other?
bool names_a_host(std::string_view entry);

enum class Pass { kAll, kNone, kListed };

// The options -genvall/-genvnone/-genvlist and -genv/-x for all programs; -envall/... and -env for one.
struct EnvironmentOptions {
  bool chosen = false;
  Pass pass = Pass::kAll;
  std::vector<std::string> listed;
  std::vector<std::string> settings;  // NAME=VALUE, or NAME: pass on what mpiexec has
};

// What one program gets. The program's own choice of what to pass comes before that for all.
std::vector<std::string> environment_for(const std::vector<std::string>& inherited,
                                         const EnvironmentOptions& all, const EnvironmentOptions& own,
                                         bool other_host);

}  // namespace vicinity::launch
