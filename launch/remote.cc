// SPDX-License-Identifier: BSD-3-Clause
// Commands that start a proxy, and the socket that becomes its input and output.
#include "launch/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "wireup/launcher_params.h"

namespace vicinity::launch {

using base::fail;
using base::kOther;
using base::Result;

bool is_this_host(const std::string& name) {
  if (name == "localhost" || name == "127.0.0.1") return true;
  char own[256] = "";
  gethostname(own, sizeof own - 1);
  const std::string full = own, brief = full.substr(0, full.find('.'));
  const char* node = std::getenv("SLURMD_NODENAME");  // several nodes on one machine have its name
  return name == full || name == brief || (node && name == node);
}

Result<std::string> own_program() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) return fail(kOther, "cannot find mpiexec's own program file: %s", strerror(errno));
  return std::string(path, static_cast<size_t>(length));
}

namespace {

// For the shell that ssh starts on the other side.
std::string quoted(const std::string& word) {
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::vector<std::string> command_for(const std::string& host, const std::string& launcher,
                                     const std::string& program) {
  if (is_this_host(host)) return {program, kProxyOption};
  // Nobody could answer a question of ssh: no terminal is left to it.
  if (launcher == "ssh") {
    const int64_t patience = std::max<int64_t>(1, wireup::param_start_timeout_s.get() / 6);
    return {"ssh", "-x", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=" + std::to_string(patience),
            host,  quoted(program), kProxyOption};
  }
  // Inside of a Slurm allocation. Without -u the step daemon would wait for the end of a line.
  if (launcher == "srun")
    return {"srun", "-N1", "-n1",   "-u",        "--overlap", "--mpi=none", "--kill-on-bad-exit=0",
            "-w",   host,  program, kProxyOption};
  return {"/bin/sh", "-c", launcher + " \"$@\"", "sh", host, program, kProxyOption};
}

}  // namespace

Result<ProxyProcess> start_proxy(const std::string& host, const std::string& launcher) {
  auto program = own_program();
  if (!program.ok()) return program.status();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(kOther, "cannot make a socket: %s", strerror(errno));
  ProxyProcess proxy;
  proxy.control.reset(ends[0]);
  Descriptor theirs(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const std::vector<std::string> command = command_for(host, launcher, *program);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  proxy.pid = fork();
  if (proxy.pid < 0) return fail(kOther, "cannot start a process: %s", strerror(errno));
  if (proxy.pid == 0) {
    undo_signals_in_child();
    setsid();  // a Ctrl-C reaches mpiexec only, which passes it on
    dup2(ends[1], STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    execvp(argv[0], argv.data());
    dprintf(STDERR_FILENO, "mpiexec: cannot execute `%s`: %s\n", argv[0], strerror(errno));
    _exit(kNotFound);
  }
  return proxy;
}

}  // namespace vicinity::launch
