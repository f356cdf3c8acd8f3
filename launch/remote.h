// SPDX-License-Identifier: BSD-3-Clause
// How mpiexec starts a proxy: directly on this host, through ssh or a command of the user's elsewhere.
#pragma once

#include <string>

#include "base/status.h"
#include "launch/process.h"

namespace vicinity::launch {

inline constexpr const char* kProxyOption = "--vicinity-proxy";

struct ProxyProcess {
  pid_t pid = -1;
  Descriptor control;  // a socket: its standard input and output
};

bool is_this_host(const std::string& name);
base::Result<std::string> own_program();

// `launcher` is "ssh", "srun" or a command for the shell, which gets the host and the proxy's words as
// arguments.
base::Result<ProxyProcess> start_proxy(const std::string& host, const std::string& launcher);

}  // namespace vicinity::launch
