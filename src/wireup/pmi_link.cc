// SPDX-License-Identifier: BSD-3-Clause
// Blocking reads and writes; EINTR and a closed connection are handled here and nowhere else.
#include "wireup/pmi_link.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/clock.h"
#include "wireup/pmi_text.h"

namespace vicinity::wireup {

using base::fail;
using base::kOther;
using base::Result;
using base::Status;

PmiLink::PmiLink(int fd) : fd_(fd) {
  struct stat what;
  is_socket_ = fstat(fd, &what) == 0 && S_ISSOCK(what.st_mode);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  // Some launchers leave the descriptor non-blocking; all waits here are meant to block.
  const int flags = fcntl(fd, F_GETFL);
  if (flags >= 0 && (flags & O_NONBLOCK)) fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

PmiLink::~PmiLink() { close(fd_); }

Status PmiLink::send(std::string_view bytes) {
  while (!bytes.empty()) {
    // MSG_NOSIGNAL: a launcher that is gone must become an error, not a SIGPIPE.
    const ssize_t sent = is_socket_ ? ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL)
                                    : ::write(fd_, bytes.data(), bytes.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return fail(kOther, "cannot send to the launcher: %s; has it ended?", std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return base::kOk;
}

Status PmiLink::fill() {
  char bytes[4096];
  ssize_t got;
  do {
    got = read(fd_, bytes, sizeof bytes);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return fail(kOther, "cannot read from the launcher: %s", std::strerror(errno));
  if (got == 0) return fail(kOther, "the launcher closed its connection; it has ended or ends this job");
  buffer_.append(bytes, static_cast<size_t>(got));
  return base::kOk;
}

Result<std::string> PmiLink::receive_line() {
  size_t end;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    if (buffer_.size() > kTextLimit)
      return fail(kOther, "the launcher sent a line of more than %zu bytes", kTextLimit);
    VICINITY_TRY(fill());
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

Result<std::string> PmiLink::receive_exact(size_t bytes) {
  while (buffer_.size() < bytes) VICINITY_TRY(fill());
  std::string text = buffer_.substr(0, bytes);
  buffer_.erase(0, bytes);
  return text;
}

Status PmiLink::check() const {
  pollfd wanted{fd_, POLLIN, 0};
  if (poll(&wanted, 1, 0) <= 0) return base::kOk;
  char byte;
  const ssize_t got =
      is_socket_ ? recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) : ((wanted.revents & POLLIN) ? 1 : 0);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
    return fail(kOther, "the launcher is gone: its connection is closed");
  return base::kOk;
}

void PmiLink::await_end(int timeout_ms) {
  const int64_t until = base::now_ns() + int64_t{timeout_ms} * 1000000;
  for (int64_t left; (left = until - base::now_ns()) > 0;) {
    pollfd wanted{fd_, POLLIN, 0};
    if (poll(&wanted, 1, static_cast<int>(left / 1000000) + 1) <= 0) continue;
    char bytes[256];
    if (const ssize_t got = read(fd_, bytes, sizeof bytes); got == 0 || (got < 0 && errno != EINTR)) return;
  }
}

Result<int> connect_port(const std::string& host_port) {
  const size_t colon = host_port.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == host_port.size())
    return fail(kOther, "PMI_PORT=%s is not host:port", host_port.c_str());
  const std::string host = host_port.substr(0, colon), port = host_port.substr(colon + 1);
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found))
    return fail(kOther, "PMI_PORT=%s: host not found: %s", host_port.c_str(), gai_strerror(error));
  int fd = -1, error = 0;
  for (addrinfo* at = found; at && fd < 0; at = at->ai_next) {
    fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
      error = errno;
      close(fd);
      fd = -1;
    }
  }
  freeaddrinfo(found);
  if (fd < 0) return fail(kOther, "PMI_PORT=%s: cannot connect: %s", host_port.c_str(), std::strerror(error));
  return fd;
}

}  // namespace vicinity::wireup
