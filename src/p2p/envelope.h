// SPDX-License-Identifier: BSD-3-Clause
// The messages of point-to-point: what kind, flags and word of an Envelope mean, and the bodies of
// control messages. Byte by byte: docs/formats/messages.md.
//
// An id names a request at its owner (ids.h). It comes back from the peer and is therefore looked up
// and checked, never trusted. Everything that a peer sends is checked before use; what
// cannot be right makes the peer lost (Engine::liar), never this process.
#pragma once

#include <cstdint>

#include "channel/channel.h"

namespace vicinity::p2p {

using channel::Envelope;
using channel::Proc;

enum class Packet : uint8_t {
  kEager = 1,   // context, tag: of the message; word: sender's id if kAckWanted, else 0; body: the message
  kRts = 2,     // context, tag: of the message; word: sender's id; body: RtsBody
  kCts = 3,     // word: sender's id; body: CtsBody
  kData = 4,    // word: receiver's id; context, tag: low and high half of the offset; body: the bytes there
  kFin = 5,     // word: sender's id; the receiver has matched and has all it wants
  kCancel = 6,  // context, tag: of the message; word: sender's id
  kCancelAnswer = 7,  // word: sender's id; flags: kCancelled or 0
  kPartReady = 8,     // word: sender's id; body: PartReadyBody; the receiver has started a round
  kPartData = 9,      // as kData, for partitioned requests
  kRevoke = 11,       // context: of a communicator that is revoked
  kSurvival = 12,     // context: of a communicator; an agreement among its survivors (fault/)
  kAbandon = 13,      // context: of a communicator; its agreements have lost a message and come to no end
  kOffer = 10,        // context, tag: of the message; word: sender's id; fetched from where it is (offer.cc)
};

// Kinds from here on belong to one-sided communication (rma/messages.h).
inline constexpr uint8_t kFirstOneSided = 64;

inline constexpr uint8_t kAckWanted = 1;  // kEager: answer kFin once matched (synchronous mode)
inline constexpr uint8_t kReadable = 1;   // kRts: the message is one run of bytes at RtsBody.address
inline constexpr uint8_t kCancelled = 1;  // kCancelAnswer: the message was not matched and is gone

struct RtsBody {
  uint64_t bytes;    // of the message
  uint64_t address;  // in the sender's address space, for cma; meaningless unless kReadable
};
static_assert(sizeof(RtsBody) == 16);

struct CtsBody {
  uint64_t from;  // send the bytes [from, to) of the message
  uint64_t to;
  uint32_t receiver;  // id to name in kData
  uint32_t spare;
};
static_assert(sizeof(CtsBody) == 24);

// Sent as an ordinary eager message on Lane::kPartitioned by MPI_Psend_init.
struct PartInitBody {
  uint64_t bytes;       // of all partitions together
  uint32_t sender;      // id to name in kPartReady
  uint32_t partitions;  // at the sender; for people
};
static_assert(sizeof(PartInitBody) == 16);

struct PartReadyBody {
  uint64_t bytes;     // how many the receiver has room for
  uint32_t receiver;  // id to name in kPartData
  uint32_t spare;
};
static_assert(sizeof(PartReadyBody) == 16);

inline constexpr size_t kLargestControl = 64;

inline Envelope envelope(Packet kind, uint32_t context, int32_t tag, uint32_t word, uint8_t flags = 0) {
  return Envelope{context, tag, static_cast<uint8_t>(kind), flags, 0, word};
}
inline Envelope data_envelope(Packet kind, uint64_t offset, uint32_t receiver) {
  return envelope(kind, static_cast<uint32_t>(offset), static_cast<int32_t>(offset >> 32), receiver);
}
inline uint64_t data_offset(const Envelope& envelope) {
  return uint64_t{static_cast<uint32_t>(envelope.tag)} << 32 | envelope.context;
}

}  // namespace vicinity::p2p
