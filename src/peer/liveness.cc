// SPDX-License-Identifier: BSD-3-Clause
// Deaths by pidfd: one poll(2) over all of them, some times a second at most.
#include "peer/liveness.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

namespace vicinity::peer {

Liveness::~Liveness() {
  for (const pollfd& entry : descriptors_) close(entry.fd);
}

int Liveness::watch(channel::Proc proc, int pid) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return errno;
  descriptors_.push_back({fd, POLLIN, 0});
  procs_.push_back(proc);
  return 0;
}

void Liveness::unwatch(channel::Proc proc) {
  for (size_t i = procs_.size(); i-- > 0;)
    if (procs_[i] == proc) remove(i);
}

void Liveness::remove(size_t index) {
  close(descriptors_[index].fd);
  descriptors_.erase(descriptors_.begin() + static_cast<std::ptrdiff_t>(index));
  procs_.erase(procs_.begin() + static_cast<std::ptrdiff_t>(index));
}

int Liveness::look() {
  const int64_t now = base::now_ns();
  if (now - last_ < kInterval) return 0;
  last_ = now;
  if (also) also();
  if (descriptors_.empty() || ::poll(descriptors_.data(), descriptors_.size(), 0) <= 0) return 0;
  int events = 0;
  for (size_t i = descriptors_.size(); i-- > 0;) {
    if (descriptors_[i].revents == 0) continue;
    const channel::Proc proc = procs_[i];
    remove(i);
    ++events;
    if (died) died(proc);
  }
  return events;
}

}  // namespace vicinity::peer
