// SPDX-License-Identifier: BSD-3-Clause
// The `vicinity` command: what is here, what can be set, what a job did.
#include "launch/vicinity.h"

#include <cstdio>

namespace {

constexpr char kHelp[] =
    "vicinity tells about this installation of Vicinity MPI, this host, and jobs.\n\n"
    "  vicinity info                 version, host, and what the library can use here\n"
    "  vicinity doctor               what could be fast here and is not, why, and the remedy\n"
    "  vicinity doctor --erase WHAT  makes memory (a path, a PCI address, ivshmem) an empty host region\n"
    "  vicinity params [NAME...]     every parameter: value, default, what is allowed, what it does\n"
    "  vicinity params --markdown    the same for documentation; --man for a manual page\n"
    "  vicinity map [JOB] [-v]       which channel each pair of processes used (jobs run with "
    "VICINITY_MAP=1);\n"
    "                                without JOB: the newest of this user; -v: messages, bytes, reasons\n"
    "  vicinity lab up|run|ssh|map|status|down\n"
    "                                a virtual cluster of QEMU guests here; see vicinity lab --help\n"
    "  vicinity bench [--full]       measures beside other MPIs; see vicinity bench --help\n"
    "  vicinity --version\n\n"
    "mpiexec --help tells how jobs are started. See vicinity(1).\n";

}  // namespace

int main(int argc, char** argv) {
  using namespace vicinity::launch;
  const std::string command = argc > 1 ? argv[1] : "--help";
  const Arguments arguments(argv + (argc > 1 ? 2 : 1), argv + argc);
  if (command == "--help" || command == "-h" || command == "help") return std::fputs(kHelp, stdout) < 0;
  if (command == "--version" || command == "-V")
    return std::printf("Vicinity MPI %s\n", VICINITY_VERSION) < 0;
  if (command == "params") return show_params(arguments);
  if (command == "info") return show_info(arguments);
  if (command == "doctor") return run_doctor(arguments);
  if (command == "map") return show_map(arguments);
  if (command == "lab" || command == "bench") return run_script(command, arguments);
  std::fprintf(stderr, "vicinity: `%s` is not known; see vicinity --help\n", command.c_str());
  return 2;
}
