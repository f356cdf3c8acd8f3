// SPDX-License-Identifier: BSD-3-Clause
// vicinity info: this host, and what the library can use on it.
#include <dlfcn.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "launch/topology.h"
#include "launch/vicinity.h"

namespace vicinity::launch {
namespace {

void line(const char* name, const std::string& value) { std::printf("%-16s %s\n", name, value.c_str()); }

std::string size_text(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", bytes, units[unit]);
  return text;
}

std::string shared_memory() {
  struct statvfs space;
  if (statvfs("/dev/shm", &space) != 0) return std::string("none: ") + std::strerror(errno);
  const double unit = static_cast<double>(space.f_frsize);
  return size_text(unit * static_cast<double>(space.f_bavail)) + " free of " +
         size_text(unit * static_cast<double>(space.f_blocks));
}

std::string ptrace_scope() {
  std::ifstream file("/proc/sys/kernel/yama/ptrace_scope");
  int scope = 0;
  if (!(file >> scope)) return "no Yama: processes of a user may reach each other";
  const char* meaning[] = {"processes of a user may reach each other",
                           "only by permission (the library gives it)", "only root", "nobody"};
  return std::to_string(scope) + ": " + (scope >= 0 && scope <= 3 ? meaning[scope] : "unknown");
}

std::string programs() {
  std::string found;
  for (const char* name : {"srun", "mpiexec.hydra", "prterun", "ssh"}) {
    const std::string folders = std::getenv("PATH") ? std::getenv("PATH") : "";
    for (size_t start = 0; start <= folders.size();) {
      const size_t end = std::min(folders.find(':', start), folders.size());
      if (access((folders.substr(start, end - start) + "/" + name).c_str(), X_OK) == 0) {
        found += (found.empty() ? "" : ", ") + std::string(name);
        break;
      }
      start = end + 1;
    }
  }
  return found.empty() ? "none (our mpiexec needs none on one host)" : found;
}

std::string library(const char* file, const char* what_for) {
  void* handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return std::string("not found (") + file + ")";
  using Version = const char* (*)();
  std::string text = std::string(file) + ", " + what_for;
  if (auto version = reinterpret_cast<Version>(dlsym(handle, "ucp_get_version_string")))
    text += std::string(", ") + version();
  return text;  // not closed: such libraries do not like to be unloaded
}

}  // namespace

// May a process read the memory of another of this user? Tried with a child, which is what the kernel allows
// most readily: two ranks are siblings and also need ptrace_scope 0 or a prctl.
std::string single_copy() {
  static volatile long word = 17;
  int hold[2];
  if (pipe(hold) != 0) return "unknown";
  const pid_t child = fork();
  if (child < 0) return "unknown";
  if (child == 0) {
    close(hold[1]);
    char byte;
    _exit(read(hold[0], &byte, 1) != 0);
  }
  close(hold[0]);
  long copy = 0;
  const iovec here{&copy, sizeof copy}, there{const_cast<long*>(&word), sizeof word};
  const ssize_t got = process_vm_readv(child, &here, 1, &there, 1, 0);
  const int error = errno;
  close(hold[1]);
  waitpid(child, nullptr, 0);
  if (got == static_cast<ssize_t>(sizeof copy) && copy == 17) return "permitted";
  return std::string("refused: ") + std::strerror(error) + " (messages are copied twice then)";
}

int show_info(const Arguments& arguments) {
  if (!arguments.empty()) {
    std::fprintf(stderr, "vicinity info takes no arguments\n");
    return 2;
  }
  utsname system;
  uname(&system);
  const Topology topology = read_topology();
  line("version", std::string("Vicinity MPI ") + VICINITY_VERSION + ", MPI 5.0 standard ABI");
  line("build", std::string("gcc ") + __VERSION__ + " for " + system.machine + ", " VICINITY_BUILD_TYPE);
  line("host", system.nodename);
  line("system", std::string(system.sysname) + " " + system.release);
  line("processors", std::to_string(topology.cpus.size()) +
                         " that we may use: " + std::to_string(topology.count(&Cpu::socket)) +
                         " socket(s), " + std::to_string(topology.count(&Cpu::numa)) + " NUMA node(s), " +
                         std::to_string(topology.count(&Cpu::core)) + " core(s), as " + topology.source +
                         " sees it");
  line("memory",
       size_text(static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE))));
  line("/dev/shm", shared_memory());
  line("single copy", single_copy());
  line("ptrace_scope", ptrace_scope());
  line("launchers", programs());
  line("PMIx", library("libpmix.so.2", "for srun --mpi=pmix and prterun"));
  line("UCX", library("libucp.so.0", "for networks"));
  return 0;
}

}  // namespace vicinity::launch
