// SPDX-License-Identifier: BSD-3-Clause
// Exchange of texts between leaders. In front of each text goes its length, 8 bytes.
#include "world/bridge.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/progress.h"
#include "object/datatype.h"
#include "p2p/p2p.h"

namespace vicinity::world {
namespace {

using base::fail;
using base::kOk;

// What is on its way in both directions.
class Exchange {
 public:
  Exchange(int fd, const std::string& text) : fd_(fd) {
    const uint64_t length = text.size();
    out_.assign(reinterpret_cast<const char*>(&length), sizeof length);
    out_ += text;
  }
  // False: not yet.
  bool advance() {
    send();
    receive();
    return !status_.ok() || (sent_ == out_.size() && received_ == want_);
  }
  Status status() const { return status_; }
  std::string take() { return in_.substr(sizeof(uint64_t)); }

 private:
  void send() {
    while (status_.ok() && sent_ < out_.size()) {
      const ssize_t n = ::send(fd_, out_.data() + sent_, out_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n < 0) return judge("send to");
      sent_ += static_cast<size_t>(n);
    }
  }
  void receive() {
    while (status_.ok() && received_ < want_) {
      in_.resize(want_);
      const ssize_t n = ::recv(fd_, in_.data() + received_, want_ - received_, MSG_DONTWAIT);
      if (n == 0)
        status_ = fail(MPI_ERR_PORT, "the other side ended, or gave up, while the two groups were meeting");
      if (n == 0) return;
      if (n < 0) return judge("receive from");
      received_ += static_cast<size_t>(n);
      if (received_ != sizeof(uint64_t) || want_ != sizeof(uint64_t)) continue;
      uint64_t length = 0;
      std::memcpy(&length, in_.data(), sizeof length);
      if (length > uint64_t{kMostTold}) {
        status_ = fail(MPI_ERR_PORT, "the other side announces %llu bytes; is it Vicinity MPI?",
                       static_cast<unsigned long long>(length));
        return;
      }
      want_ += length;
    }
  }
  void judge(const char* what) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return;
    status_ = fail(MPI_ERR_PORT, "cannot %s the other side: %s", what, std::strerror(errno));
  }

  const int fd_;
  std::string out_, in_;
  size_t sent_ = 0, received_ = 0, want_ = sizeof(uint64_t);
  Status status_;
};

}  // namespace

SocketBridge::~SocketBridge() {
  if (owner_ == Owner::kWe) close(fd_);
}

Status SocketBridge::swap(const std::string& out, std::string* in) {
  Exchange exchange(fd_, out);
  base::wait_until([&] { return exchange.advance(); });
  if (exchange.status().ok()) *in = exchange.take();
  return exchange.status();
}

Status CommBridge::swap(const std::string& out, std::string* in) {
  object::Datatype& number = object::builtin(MPI_INT64_T);
  object::Datatype& byte = object::builtin(MPI_BYTE);
  const auto lane = object::Lane::kControl;
  const int64_t mine = static_cast<int64_t>(out.size());
  int64_t other = 0;
  VICINITY_TRY(p2p::sendrecv(&mine, 1, number, rank_, tag_, &other, 1, number, rank_, tag_, comm_, lane));
  if (other < 0 || other > kMostTold)
    return fail(MPI_ERR_OTHER, "the other side announces %lld bytes; %lld are the most",
                static_cast<long long>(other), static_cast<long long>(kMostTold));
  in->resize(static_cast<size_t>(other));
  return p2p::sendrecv(out.data(), mine, byte, rank_, tag_, in->data(), other, byte, rank_, tag_, comm_,
                       lane);
}

}  // namespace vicinity::world
