// SPDX-License-Identifier: BSD-3-Clause
// process_vm_readv in pieces, and its proof.
#include "channel/cma/cma.h"

#include <errno.h>
#include <sys/random.h>

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "base/param.h"

namespace vicinity::channel::cma {
namespace {

base::Param<bool> cma_wanted{
    "VICINITY_CMA", "channel", true,
    "Copy large messages between processes of one kernel in one step (process_vm_readv), where it works.",
    "MV2_SMP_USE_CMA"};

Token make_token() {
  Token token{};
  if (getrandom(&token, sizeof token, GRND_NONBLOCK) != sizeof token) {
    token.words[0] = static_cast<uint64_t>(base::now_ns());
    token.words[1] = reinterpret_cast<uintptr_t>(&token);
  }
  return token;
}

constexpr size_t kMostPieces = 64;              // of one call; the kernel takes up to 1024
constexpr size_t kMostBytes = size_t{1} << 30;  // of one call; it stops short of 2 GiB

}  // namespace

const Token& own_token() {
  static const Token token = make_token();
  return token;
}

bool wanted() { return cma_wanted.get(); }

const char* probe(int pid, uint64_t address, const Token& expected) {
  Token found{};
  const iovec piece{&found, sizeof found};
  switch (read(pid, address, &piece, 1, sizeof found)) {
    case 0:
      break;
    case EPERM:
      return "the kernel refuses process_vm_readv (EPERM: ptrace scope, seccomp or user namespace)";
    case ESRCH:
      return "its pid does not exist here (another pid namespace)";
    case ENOSYS:
      return "the kernel has no process_vm_readv (ENOSYS)";
    case EFAULT:
      return "its pid means another process here (EFAULT)";
    default:
      return "process_vm_readv failed";
  }
  if (std::memcmp(&found, &expected, sizeof found) != 0) return "its pid means another process here";
  return nullptr;
}

int read(int pid, uint64_t address, const iovec* into, size_t pieces, size_t bytes) {
  iovec local[kMostPieces];
  size_t piece = 0, offset = 0;  // where in `into` we are
  while (bytes != 0) {
    size_t count = 0, wanted_bytes = 0;
    size_t next = piece, next_offset = offset;
    while (next < pieces && count < kMostPieces && wanted_bytes < std::min(bytes, kMostBytes)) {
      const size_t rest = std::min(bytes, kMostBytes) - wanted_bytes;
      const size_t part = std::min(into[next].iov_len - next_offset, rest);
      if (part) {
        local[count++] = {static_cast<std::byte*>(into[next].iov_base) + next_offset, part};
        wanted_bytes += part;
      }
      next_offset = 0;
      ++next;
    }
    if (count == 0) return EINVAL;  // the pieces hold less than `bytes`
    iovec remote{reinterpret_cast<void*>(address), wanted_bytes};
    const ssize_t got = process_vm_readv(pid, local, count, &remote, 1, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return EFAULT;
    bytes -= static_cast<size_t>(got);
    address += static_cast<uint64_t>(got);
    for (auto left = static_cast<size_t>(got); left != 0;) {  // the kernel may stop anywhere
      const size_t part = std::min(into[piece].iov_len - offset, left);
      left -= part;
      offset += part;
      if (offset == into[piece].iov_len) ++piece, offset = 0;
    }
    while (piece < pieces && into[piece].iov_len == offset) ++piece, offset = 0;
  }
  return 0;
}

}  // namespace vicinity::channel::cma
