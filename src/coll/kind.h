// SPDX-License-Identifier: BSD-3-Clause
// The collective operations of MPI 5.0, chapter 6, and how one of their messages is tagged.
//
// A tag names the form of the call, the operation, a few bits of what all ranks must agree on (root,
// predefined operation), and the number of the call on its communicator:
//
//   bit 30..29  form       blocking, nonblocking, persistent; or a notice of a blocking call, which is not
//                          data: the sender waits in this call for the receiver (mismatch.h)
//   bit 28..24  kind       which operation
//   bit 23..19  agreement  a number made of root and operation, modulo 32
//   bit 18..0   sequence   number of the call on this communicator, modulo 2^19
//
// Blocking and nonblocking calls are numbered together, as they are started: in the same order on all ranks
// (MPI 5.0, 6.12). Persistent ones are numbered apart, as they are initialised, because MPI_Start may be
// called in any order (6.13); all rounds of one have the same tag. Ranks that call different operations
// therefore never exchange data by accident, and whoever waits can tell from a stray message what its sender
// is doing (mismatch.h).
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
  kNeighborAllgather,
  kNeighborAllgatherv,
  kNeighborAlltoall,
  kNeighborAlltoallv,
  kNeighborAlltoallw,
};
inline constexpr uint8_t kKinds = static_cast<uint8_t>(Kind::kNeighborAlltoallw) + 1;

static_assert(kKinds <= 32);

enum class Form : uint8_t { kBlocking, kNonblocking, kPersistent, kNotice };

// "MPI_Bcast", "MPI_Ibcast", "MPI_Bcast_init"
struct Name {
  char text[40];
};
Name mpi_name(Kind kind, Form form = Form::kBlocking);

inline constexpr uint32_t kSequenceMask = (1u << 19) - 1;
inline constexpr int kNoRoot = -1;

inline int make_tag(Kind kind, uint32_t agreement, uint32_t sequence, Form form = Form::kBlocking) {
  return static_cast<int>(static_cast<uint32_t>(form) << 29 | static_cast<uint32_t>(kind) << 24 |
                          agreement % 32 << 19 | (sequence & kSequenceMask));
}
inline Form form_of(int tag) { return static_cast<Form>(static_cast<uint32_t>(tag) >> 29 & 3); }
inline Kind kind_of(int tag) {
  const uint32_t kind = static_cast<uint32_t>(tag) >> 24 & 31;
  return kind < kKinds ? static_cast<Kind>(kind) : Kind::kNone;
}
inline uint32_t sequence_of(int tag) { return static_cast<uint32_t>(tag) & kSequenceMask; }

// The notice of a blocking call, and back.
inline constexpr int kNoticeBits = static_cast<int>(Form::kNotice) << 29;
inline bool is_notice(int tag) { return form_of(tag) == Form::kNotice; }

}  // namespace vicinity::coll
