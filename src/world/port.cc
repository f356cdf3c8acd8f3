// SPDX-License-Identifier: BSD-3-Clause
// Ports: listening sockets, their names, and the handshake.
//
// Who connects sends the secret (16 bytes). MPI_Comm_accept answers 'A', and the connection is one when the
// other has said 'C': a process that has given up in the meantime is passed over.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/progress.h"
#include "world/bridge.h"

namespace vicinity::world {
namespace {

using base::fail;
using base::kOk;

constexpr const char* kPrefix = "vicinity1";
constexpr size_t kSecretBytes = 16;
constexpr int64_t kHandshakeMs = 5000;  // for somebody who has connected already

struct Listener {
  int fd;
  uint8_t secret[kSecretBytes];
};

// Of this process, by name. Guarded by the engine lock.
std::map<std::string, Listener>& listeners() {
  static auto* all = new std::map<std::string, Listener>;
  return *all;
}

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_;
};

std::string hex(const uint8_t* bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

// A short name of this kernel: there the loopback address is tried first.
std::string kernel_name() {
  char id[64] = "unknown";
  if (FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "re")) {
    if (!std::fgets(id, sizeof id, file)) id[0] = '\0';
    std::fclose(file);
  }
  std::string name;
  for (const char* c = id; *c && name.size() < 32; ++c)
    if ((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z')) name += *c;
  return name;
}

std::string own_addresses() {
  std::string text;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return text;
  for (ifaddrs* one = all; one; one = one->ifa_next) {
    if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_LOOPBACK) ||
        !(one->ifa_flags & IFF_UP))
      continue;
    char name[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in*>(one->ifa_addr)->sin_addr, name, sizeof name);
    if (text.size() + sizeof name > 600) break;  // MPI_MAX_PORT_NAME
    text += (text.empty() ? "" : ",") + std::string(name);
  }
  freeifaddrs(all);
  return text;
}

template <class Condition>
bool wait_ms(int64_t timeout_ms, Condition&& condition) {
  const int64_t end = timeout_ms == kForEver ? INT64_MAX : base::now_ns() + timeout_ms * 1'000'000;
  bool good = false;
  base::wait_until([&] { return (good = condition()) || base::now_ns() > end; });
  return good;
}

bool try_later() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

Status patient() { return kOk; }

// Exactly so many bytes; false: the other side is gone, takes too long, or there is no hope.
bool read_bytes(int fd, void* bytes, size_t count, int64_t timeout_ms, const Hope& hope = patient) {
  size_t have = 0;
  bool gone = false;
  const bool ended = wait_ms(timeout_ms, [&] {
    const ssize_t n = recv(fd, static_cast<char*>(bytes) + have, count - have, MSG_DONTWAIT);
    if (n > 0) have += static_cast<size_t>(n);
    gone = n == 0 || (n < 0 && (!try_later() || !hope().ok()));
    return gone || have == count;
  });
  return ended && !gone;
}

bool write_bytes(int fd, const void* bytes, size_t count) {
  return send(fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(count);
}

struct Name {
  uint8_t secret[kSecretBytes];
  uint16_t port = 0;
  std::vector<std::string> addresses;  // in the order in which to try them
};

bool unhex(const std::string& text, uint8_t* bytes) {
  if (text.size() != 2 * kSecretBytes || text.find_first_not_of("0123456789abcdef") != text.npos)
    return false;
  for (size_t i = 0; i < kSecretBytes; ++i)
    bytes[i] = static_cast<uint8_t>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  return true;
}

std::vector<std::string> split_at(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

Result<Name> parse(const std::string& text) {
  const std::vector<std::string> parts = split_at(text, ':');
  Name name;
  const bool shaped = parts.size() == 5 && parts[0] == kPrefix && unhex(parts[1], name.secret);
  const long port = shaped ? std::strtol(parts[2].c_str(), nullptr, 10) : 0;
  if (port < 1 || port > 65535)
    return fail(MPI_ERR_PORT,
                "argument `port_name` is `%.80s`, which is no name that MPI_Open_port has given",
                text.c_str());
  name.port = static_cast<uint16_t>(port);
  const bool here = parts[3] == kernel_name();
  if (here) name.addresses.push_back("127.0.0.1");
  for (const std::string& address : split_at(parts[4], ','))
    if (!address.empty()) name.addresses.push_back(address);
  return name;
}

}  // namespace

Result<std::string> open_port() {
  Listener listener;
  Socket socket_fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t length = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (socket_fd.get() < 0 || bind(socket_fd.get(), any, sizeof address) != 0 ||
      listen(socket_fd.get(), 128) != 0 || getsockname(socket_fd.get(), any, &length) != 0)
    return fail(MPI_ERR_PORT, "no port can be opened: %s", std::strerror(errno));
  if (getrandom(listener.secret, sizeof listener.secret, 0) != sizeof listener.secret)
    return fail(MPI_ERR_PORT, "no port can be opened: getrandom: %s", std::strerror(errno));
  const std::string name = std::string(kPrefix) + ":" + hex(listener.secret, kSecretBytes) + ":" +
                           std::to_string(ntohs(address.sin_port)) + ":" + kernel_name() + ":" +
                           own_addresses();
  listener.fd = socket_fd.release();
  listeners().emplace(name, listener);
  return name;
}

Status close_port(const std::string& name) {
  const auto found = listeners().find(name);
  if (found == listeners().end())
    return fail(MPI_ERR_PORT,
                "argument `port_name` is `%.80s`, which this process has not opened, or has closed",
                name.c_str());
  close(found->second.fd);
  listeners().erase(found);
  return kOk;
}

Result<int> accept_at(const std::string& name, int64_t timeout_ms, const Hope& hope) {
  const auto found = listeners().find(name);
  if (found == listeners().end())
    return fail(
        MPI_ERR_PORT,
        "argument `port_name` is `%.80s`, which this process has not opened; only the process that called "
        "MPI_Open_port can accept at it",
        name.c_str());
  const Listener listener = found->second;
  const int64_t end = timeout_ms == kForEver ? INT64_MAX : base::now_ns() + timeout_ms * 1'000'000;
  while (base::now_ns() < end) {
    int fd = -1;
    bool broken = false;
    Status hopeful;
    const int64_t left = end == INT64_MAX ? kForEver : (end - base::now_ns()) / 1'000'000 + 1;
    (void)wait_ms(left, [&] {
      fd = accept4(listener.fd, nullptr, nullptr, SOCK_CLOEXEC);
      broken = fd < 0 && !try_later() && errno != ECONNABORTED;
      if (fd < 0 && !broken) hopeful = hope();
      return fd >= 0 || broken || !hopeful.ok();
    });
    if (!hopeful.ok()) return hopeful;
    if (broken) return fail(MPI_ERR_PORT, "nobody can connect to the port: %s", std::strerror(errno));
    if (fd < 0) break;
    Socket visitor(fd);
    uint8_t secret[kSecretBytes];
    char answer = 0;
    if (read_bytes(fd, secret, sizeof secret, kHandshakeMs) &&
        std::memcmp(secret, listener.secret, sizeof secret) == 0 && write_bytes(fd, "A", 1) &&
        read_bytes(fd, &answer, 1, kHandshakeMs) && answer == 'C')
      return visitor.release();
    VICINITY_LOG(kInfo, "somebody connected to a port and gave up, or does not know its secret");
  }
  return fail(MPI_ERR_PORT, "nobody has connected to the port in %lld ms",
              static_cast<long long>(timeout_ms));
}

namespace {

// The connection is made in the background; false: nobody listens there.
bool reach(int fd, const std::string& address, uint16_t port, int64_t timeout_ms) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  if (inet_pton(AF_INET, address.c_str(), &to.sin_addr) != 1) return false;
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) return true;
  if (errno != EINPROGRESS) return false;
  int error = 0;
  const bool ended = wait_ms(timeout_ms, [&] {
    sockaddr_in peer;
    socklen_t length = sizeof peer;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) == 0) return true;
    length = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0 || error != 0;
  });
  return ended && error == 0;
}

}  // namespace

Result<int> connect_to(const std::string& text, int64_t timeout_ms, const Hope& hope) {
  Result<Name> name = parse(text);
  if (!name.ok()) return name.status();
  for (const std::string& address : name->addresses) {
    Socket visit(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (visit.get() < 0) return fail(MPI_ERR_PORT, "no socket: %s", std::strerror(errno));
    if (!reach(visit.get(), address, name->port, std::min<int64_t>(timeout_ms, 10'000))) continue;
    const int on = 1;
    setsockopt(visit.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    char answer = 0;
    if (!write_bytes(visit.get(), name->secret, sizeof name->secret)) continue;
    const int64_t began = base::now_ns();
    if (read_bytes(visit.get(), &answer, 1, timeout_ms, hope) && answer == 'A' &&
        write_bytes(visit.get(), "C", 1))
      return visit.release();
    VICINITY_TRY(hope());
    if ((base::now_ns() - began) / 1'000'000 >= timeout_ms)
      return fail(MPI_ERR_PORT,
                  "nobody has called MPI_Comm_accept at the port in %lld ms (info key `timeout`, "
                  "VICINITY_CONNECT_TIMEOUT_S)",
                  static_cast<long long>(timeout_ms));
  }
  return fail(MPI_ERR_PORT, "the port is not open (any more), or its host cannot be reached: `%.80s`",
              text.c_str());
}

}  // namespace vicinity::world
