// SPDX-License-Identifier: BSD-3-Clause
// mpiexec (also installed as mpirun). With --vicinity-proxy it is the proxy of one host; see proxy.h.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/param.h"
#include "launch/head.h"
#include "launch/options.h"
#include "launch/plan.h"
#include "launch/proxy.h"
#include "launch/remote.h"
#include "launch/slurm.h"

using namespace vicinity;

namespace {

int complain(base::Status status) {
  std::fprintf(stderr, "mpiexec: %s\n", base::failure_text(status.code()));
  return 2;
}

// Standard input and output carry frames: they move out of the way, so that nothing prints into them.
int run_proxy() {
  const int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
  const int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (in < 0 || out < 0 || nothing < 0) return 1;
  dup2(nothing, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  launch::Proxy proxy(in, out);
  return proxy.run();
}

// Descriptors 0, 1 and 2 must be open, or the next pipe takes their place.
void open_standard_streams() {
  int fd;
  while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO) {
  }
  if (fd > STDERR_FILENO) close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  if (argc == 2 && std::strcmp(argv[1], launch::kProxyOption) == 0) return run_proxy();
  auto options = launch::parse_options(std::vector<std::string>(argv + 1, argv + argc));
  if (!options.ok()) return complain(options.status());
  if (options->help) return std::fputs(launch::help_text().c_str(), stdout) < 0;
  if (options->version) return std::printf("mpiexec (Vicinity MPI) %s\n", VICINITY_VERSION) < 0;
  if (auto status = base::params_load(base::Unknown::kIgnore); !status.ok()) return complain(status);
  if (auto status = launch::adopt_allocation(*options); !status.ok()) return complain(status);
  auto plan = launch::make_plan(*options);
  if (!plan.ok()) return complain(plan.status());
  launch::Head head(*options, *plan);
  return head.run();
}
