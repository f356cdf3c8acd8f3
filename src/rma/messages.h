// SPDX-License-Identifier: BSD-3-Clause
// The messages of one-sided communication, between processes that cannot load and store in each other's part
// of a window. Byte by byte: docs/formats/messages.md.
//
// The target keeps no state between messages: each access says where its bytes go, as runs, so that no
// datatype travels. Messages of one pair stay in order, hence an answer to kFlush means that all before
// it has been done.
#pragma once

#include <cstdint>

#include "channel/channel.h"
#include "p2p/envelope.h"

namespace vicinity::rma {

using channel::Envelope;
using channel::Proc;

enum class Packet : uint8_t {
  kAccess = p2p::kFirstOneSided,  // word: operation, if an answer is wanted; body: AccessHead, runs, data
  kAnswer,                        // word: operation; body: AnswerHead, data
  kFlush,                         // answered by kFlushed when all before it has been done
  kFlushed,                       // body: Refusal
  kLock,                          // flags: kAlone
  kLocked,
  kUnlock,  // answered by kFlushed
  kPost,
  kComplete,
};
inline constexpr uint8_t kAlone = 1;
inline constexpr uint8_t kLastPacket = static_cast<uint8_t>(Packet::kComplete);

enum class What : uint8_t { kPut = 1, kGet, kAccumulate, kFetch, kSwap };

// Bytes of a window: `count` times `bytes` of them, `stride` apart. `at` counts from the beginning of the
// window; in a dynamic one it is an address of the target.
struct Run {
  int64_t at;
  uint64_t bytes;
  int64_t stride;
  uint32_t count;
  uint32_t spare;
};
static_assert(sizeof(Run) == 32);

struct AccessHead {
  What what;
  uint8_t op;     // kAccumulate, kFetch: the constant of the ABI
  uint8_t basic;  // kAccumulate, kFetch, kSwap: object::Basic
  uint8_t spare;
  uint32_t runs;      // that follow
  uint64_t position;  // in the operation's data, comes back with the answer
};
static_assert(sizeof(AccessHead) == 16);

// Why a target did not do something. `code` 0: it did.
struct Refusal {
  int32_t code;
  uint32_t spare;
  int64_t at;
  uint64_t bytes;
};
static_assert(sizeof(Refusal) == 24);

struct AnswerHead {
  uint64_t position;
  uint64_t bytes;  // of the operation that this answers; also when refused
  Refusal refusal;
};
static_assert(sizeof(AnswerHead) == 40);

inline Envelope envelope(Packet kind, uint32_t window, uint32_t word = 0, uint8_t flags = 0) {
  return Envelope{window, 0, static_cast<uint8_t>(kind), flags, 0, word};
}

}  // namespace vicinity::rma
