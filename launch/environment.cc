// SPDX-License-Identifier: BSD-3-Clause
// Sorted by name, so that two jobs with the same options have the same environment.
#include "launch/environment.h"

#include <algorithm>
#include <array>

namespace vicinity::launch {
namespace {

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

bool listed(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void Environment::set(std::string_view entry) {
  const size_t equals = entry.find('=');
  if (equals == entry.npos || equals == 0) return;
  values_[std::string(entry.substr(0, equals))] = std::string(entry.substr(equals + 1));
}

std::vector<std::string> Environment::entries() const {
  std::vector<std::string> out;
  for (const auto& [name, value] : values_) out.push_back(name + "=" + value);
  return out;
}

bool names_a_launcher(std::string_view entry) {
  constexpr std::array<std::string_view, 8> kPrefixes = {
      "PMI_", "PMIX_", "PMI2_", "HYDI_", "HYDRA_PROXY", "PRTE_", "OMPI_COMM_WORLD_", "PALS_"};
  constexpr std::array<std::string_view, 3> kNames = {"MPI_LOCALNRANKS", "MPI_LOCALRANKID",
                                                      "VICINITY_MPIEXEC"};
  const std::string_view name = name_of(entry);
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](auto prefix) { return name.starts_with(prefix); }) ||
         std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

bool names_a_host(std::string_view entry) {
  constexpr std::array<std::string_view, 14> kNames = {"HOSTNAME",
                                                       "HOST",
                                                       "PWD",
                                                       "OLDPWD",
                                                       "SHLVL",
                                                       "_",
                                                       "DISPLAY",
                                                       "TMPDIR",
                                                       "XAUTHORITY",
                                                       "SSH_CLIENT",
                                                       "SSH_CONNECTION",
                                                       "SSH_TTY",
                                                       "SSH_AUTH_SOCK",
                                                       "DBUS_SESSION_BUS_ADDRESS"};
  const std::string_view name = name_of(entry);
  return name.starts_with("XDG_") || std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::vector<std::string> environment_for(const std::vector<std::string>& inherited,
                                         const EnvironmentOptions& all, const EnvironmentOptions& own,
                                         bool other_host) {
  const EnvironmentOptions& choice = own.chosen ? own : all;
  Environment environment;
  for (const std::string& entry : inherited) {
    if (names_a_launcher(entry) || (other_host && names_a_host(entry))) continue;
    if (choice.pass == Pass::kAll || (choice.pass == Pass::kListed && listed(choice.listed, name_of(entry))))
      environment.set(entry);
  }
  for (const EnvironmentOptions* options : {&all, &own})
    for (const std::string& setting : options->settings) {
      if (setting.find('=') != std::string::npos) {
        environment.set(setting);
        continue;
      }
      for (const std::string& entry : inherited)
        if (name_of(entry) == setting) environment.set(entry);
    }
  return environment.entries();
}

}  // namespace vicinity::launch
