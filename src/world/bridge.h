// SPDX-License-Identifier: BSD-3-Clause
// How the leaders of two groups that do not know each other yet exchange words: over a socket, or over a
// communicator that both are in. Everything waits with progress and ends when the other side does.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "object/communicator.h"

namespace vicinity::world {

using object::Communicator;
using object::Result;
using object::Status;

// What all processes of one side say together. The other side may be another guest, and say anything.
inline constexpr int64_t kMostTold = int64_t{1} << 28;  // bytes

class Bridge {
 public:
  virtual ~Bridge() = default;
  // Sends a text and receives that of the other side.
  virtual Status swap(const std::string& out, std::string* in) = 0;
};

// A connected stream socket. Never reads more than what swap() has been sent, so that nothing is missing when
// it goes back to its owner (MPI_Comm_join).
class SocketBridge final : public Bridge {
 public:
  enum class Owner : bool { kWe, kUser };
  SocketBridge(int fd, Owner owner) : fd_(fd), owner_(owner) {}
  SocketBridge(const SocketBridge&) = delete;
  SocketBridge& operator=(const SocketBridge&) = delete;
  ~SocketBridge() override;
  Status swap(const std::string& out, std::string* in) override;

 private:
  const int fd_;
  const Owner owner_;
};

class CommBridge final : public Bridge {
 public:
  CommBridge(Communicator& comm, int rank, int tag) : comm_(comm), rank_(rank), tag_(tag) {}
  Status swap(const std::string& out, std::string* in) override;

 private:
  Communicator& comm_;
  const int rank_;
  const int tag_;
};

// A port is a listening TCP socket and a secret. Its name holds everything that another process needs to find
// it: "vicinity1:<secret>:<TCP port>:<kernel>:<address>,<address>..." (docs/design/dynamic.md).
Result<std::string> open_port();
Status close_port(const std::string& name);

inline constexpr int64_t kForEver = INT64_MAX;
// Asked now and then: why nobody is to wait any longer.
using Hope = std::function<Status()>;
// Waits until somebody who knows the secret has connected to our port; a socket.
Result<int> accept_at(const std::string& name, int64_t timeout_ms, const Hope& hope);
// Until the other side has accepted.
Result<int> connect_to(const std::string& name, int64_t timeout_ms, const Hope& hope);

}  // namespace vicinity::world
