// SPDX-License-Identifier: BSD-3-Clause
// The direct receive: a blocking receive from one named source, without a request.
//
// It is one slot of the engine. It is opened only when no other receive is posted that could take a message
// of its source, and whoever posts one meanwhile has posted it later: so it is asked first. What it cannot
// take itself (announced messages, those that are too long, the loss of the peer) closes it; the caller
// then receives in the ordinary way, and finds the message among the unexpected ones.
#pragma once

#include <cstdint>
#include <cstring>

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
  uint32_t ack = 0;        // sender's id of a synchronous message
  channel::Wanted wanted;  // kTaken: the message

  // Context and tag of an envelope, as Wanted::address has them.
  static uint64_t address_of(const Envelope& e) {
    uint64_t address;
    std::memcpy(&address, &e, sizeof address);
    return address;
  }
  bool waits_for(Proc proc, const Envelope& e) const {
    return state == State::kWaiting && proc == from && ((address_of(e) ^ wanted.address) & wanted.mask) == 0;
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
