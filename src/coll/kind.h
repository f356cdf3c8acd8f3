// SPDX-License-Identifier: BSD-3-Clause
// The collective operations of MPI 5.0, chapter 6, and how one of their messages is tagged.
//
// A tag names the operation, a few bits of what all ranks must agree on (root, predefined operation),
// and the sequence number of the call on its communicator:
//
//   bit 30      notice     not data: the sender waits in this call for the receiver (mismatch.h)
//   bit 29..25  kind       which operation
//   bit 24..20  agreement  a number made of root and operation, modulo 32
//   bit 19..0   sequence   number of the call on this communicator, modulo 2^20
//
// Ranks that call different operations therefore never exchange data by accident, and whoever waits
// can tell from a stray message what its sender is doing (mismatch.h).
#pragma once

#include <cstdint>

namespace vicinity::coll {

enum class Kind : uint8_t {
  kNone,
  kBarrier,
  kBcast,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kReduce,
  kAllreduce,
  kReduceScatterBlock,
  kReduceScatter,
  kScan,
  kExscan,
};
inline constexpr uint8_t kKinds = static_cast<uint8_t>(Kind::kExscan) + 1;

static_assert(kKinds <= 32);

const char* mpi_name(Kind kind);  // "MPI_Bcast"

inline constexpr uint32_t kSequenceMask = (1u << 20) - 1;
inline constexpr int kNoRoot = -1;

inline int make_tag(Kind kind, uint32_t agreement, uint32_t sequence) {
  return static_cast<int>(static_cast<uint32_t>(kind) << 25 | agreement % 32 << 20 |
                          (sequence & kSequenceMask));
}
inline constexpr int kNotice = 1 << 30;
inline bool is_notice(int tag) { return (tag & kNotice) != 0; }
inline Kind kind_of(int tag) {
  const uint32_t kind = static_cast<uint32_t>(tag & ~kNotice) >> 25;
  return kind < kKinds ? static_cast<Kind>(kind) : Kind::kNone;
}
inline uint32_t sequence_of(int tag) { return static_cast<uint32_t>(tag) & kSequenceMask; }

}  // namespace vicinity::coll
