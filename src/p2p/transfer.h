// SPDX-License-Identifier: BSD-3-Clause
// Transfer: the request behind one send or one receive. Arrival: a message that has come or is coming.
//
// A Transfer keeps its arguments from construction to the end, so a persistent one can be launched
// again and again.
#pragma once

#include <cstdint>

#include "object/datatype.h"
#include "object/request.h"
#include "p2p/envelope.h"
#include "p2p/p2p.h"
#include "peer/peer.h"

namespace vicinity::p2p {

inline constexpr Proc kAnyProc = UINT32_MAX;

enum class Stage : uint8_t {
  kIdle,       // not launched yet, or complete
  kPosted,     // receive: in a queue of its context
  kLanding,    // receive: an eager message is being written to it
  kReading,    // receive: CTS sent, data messages come
  kFetching,   // receive: the channel fetches an offered message
  kQueued,     // send: waits in the connection for room in the channel
  kAwaiting,   // send: waits for CTS, FIN or the answer to a cancel
  kStreaming,  // send: in the list of streams
  kOffered,    // send: the connection holds it until it has been fetched
  kAnswering,  // send: fetched, but the answer to a cancel is still to come
};

struct Transfer;
struct SendPending : peer::Pending {
  Transfer* owner = nullptr;
};

struct Transfer : object::Request {
  base::Link place;  // in the one queue or list that its stage says
  // Arguments.
  void* buf;
  MPI_Count count;
  Datatype* type;  // held
  int rank;        // the peer as the caller named it: MPI_PROC_NULL and MPI_ANY_SOURCE too
  int32_t tag;
  uint32_t context;
  Proc peer;  // of `rank`; kAnyProc
  bool sending;
  Mode mode;
  // What follows from them.
  char* dense;     // first data byte when the buffer is one run of bytes, else nullptr
  uint64_t bytes;  // data bytes of the buffer
  // State.
  Stage stage;
  bool cancel_asked;
  int doom;                          // cancelled by interrupt(): what it fails with
  uint32_t id;                       // our name for it on the wire, 0: none
  uint32_t peer_id;                  // the peer's name for its half
  Proc from;                         // receive: who sent the message that matched
  uint64_t length;                   // receive: bytes of the message that matched
  uint64_t moved;                    // bytes of it that have arrived, or gone out
  uint64_t end;                      // stop there
  uint64_t stamp;                    // receive: order of posting
  char* staged;                      // packed bytes owned by this request
  size_t staged_bytes;               // room there
  size_t chunk_bytes;                // streaming: bytes packed and not sent yet
  void (*done)(Transfer& transfer);  // called at completion, for requests made of others
  void* owner;                       // for `done`
  SendPending pending;
  object::PackCursor cursor;
  base::Link by_key;  // receive, posted: in the table of its context, if there is one
};

// An Arrival is at first the token of a landing, then perhaps an unexpected message, then perhaps an
// MPI_Message.
struct Arrival : object::Object {
  base::Link by_source;  // unexpected queue of its source
  base::Link by_order;   // unexpected queue of its context, or the list of landings
  Proc from;
  Envelope envelope;
  uint64_t length;        // of the message (of an RTS: of the message that it announces)
  Transfer* transfer;     // receive that it was matched with before it landed
  object::Request* part;  // partitioned receive that it belongs to
  Communicator* comm;     // of MPI_Mprobe, held
  int error;              // its payload could not be kept
  void* offer;            // of kOffer: what the channel fetches it by; nullptr: fetched
  char* data;             // payload: `small`, or from the payload pool, or nullptr
  size_t data_bytes;      // room at `data` when from the pool
  RtsBody rts;
  alignas(16) char small[kLargestControl];
  base::Link by_key, by_tag;  // unexpected: in the tables of its context, if there are any
};

// Memory of both, under the engine lock. Freed ones stay readable (kind kDead).
Transfer* take_transfer();
void give_transfer(Transfer* transfer);
Arrival* take_arrival();
void give_arrival(Arrival* arrival);

// Memory for payload, in powers of two; nullptr when there is none. `bytes` is what was asked.
char* take_payload(size_t bytes);
void give_payload(char* payload, size_t bytes);

}  // namespace vicinity::p2p

template <>
struct vicinity::object::HandleTraits<vicinity::p2p::Arrival> {
  using Handle = MPI_Message;
  static constexpr Kind kKind = Kind::kMessage;
  static p2p::Arrival* predefined(uintptr_t) { return nullptr; }
};
