// SPDX-License-Identifier: BSD-3-Clause
// The connection to a PMI server: blocking, buffered, ends of lines and of lengths. The only file of
// the PMI clients that reads or writes.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace vicinity::wireup {

class PmiLink {
 public:
  explicit PmiLink(int fd);  // takes the descriptor over; programs started later do not inherit it
  ~PmiLink();
  PmiLink(const PmiLink&) = delete;
  PmiLink& operator=(const PmiLink&) = delete;

  int fd() const { return fd_; }
  base::Status send(std::string_view bytes);
  base::Result<std::string> receive_line();  // without the newline
  base::Result<std::string> receive_exact(size_t bytes);
  // Fails when the other side has closed. Looks without waiting and without taking bytes away.
  base::Status check() const;
  // Waits until the other side closes, at most so long.
  void await_end(int timeout_ms);

 private:
  base::Status fill();
  int fd_;
  bool is_socket_ = true;
  std::string buffer_;
};

// PMI_FD or PMI_PORT of the environment as an open descriptor.
base::Result<int> connect_port(const std::string& host_port);

}  // namespace vicinity::wireup
