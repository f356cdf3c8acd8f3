// SPDX-License-Identifier: BSD-3-Clause
// The direct receive: a blocking receive from one named source, without a request.
//
// It is one slot of the engine. It is opened only when no other receive is posted that could take a message
// of its source, and whoever posts one meanwhile has posted it later: so it is asked first. What it cannot
// take itself (announced messages, those that are too long, the loss of the peer) closes it; the caller
// then receives in the ordinary way, and finds the message among the unexpected ones.
#pragma once

#include <cstdint>

#include "object/datatype.h"
#include "p2p/envelope.h"
#include "p2p/p2p.h"

namespace vicinity::p2p {

struct Direct {
  enum class State : uint8_t {
    kFree,     // not in use
    kWaiting,  // for a message
    kLanding,  // it is being written to `where`
    kTaken,    // it is there
    kClosed,   // receive in the ordinary way
  };
  State state = State::kFree;
  Proc from = 0;
  uint32_t context = 0;
  int32_t wanted_tag = 0;
  int32_t tag = 0;       // of the message
  uint32_t ack = 0;      // sender's id of a synchronous message
  void* where = nullptr;
  uint64_t room = 0;
  uint64_t bytes = 0;    // of the message

  bool waits_for(Proc proc, const Envelope& e) const {
    return state == State::kWaiting && proc == from && e.context == context &&
           (wanted_tag == e.tag || wanted_tag == MPI_ANY_TAG);
  }
  // A message that it waits for has come and cannot be taken directly.
  void close() { state = State::kClosed; }
  // The ordinary way finds out whether it makes sense to go on.
  void lost(Proc proc) {
    if (state == State::kWaiting || (proc == from && state == State::kLanding)) close();
  }
};

// An eager message for which waits_for() holds: where it goes, or an empty landing and the slot is closed.
bool land_direct(Direct& direct, const Envelope& envelope, size_t bytes, channel::Landing& landing);
void landed_direct(Direct& direct);

// True: received, with status. False: nothing has happened that an ordinary receive does not see.
bool receive_directly(void* buf, MPI_Count count, const Datatype& type, int source, int tag,
                      Communicator& comm, Lane lane, MPI_Status* status);

}  // namespace vicinity::p2p
