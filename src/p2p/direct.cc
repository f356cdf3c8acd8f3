// SPDX-License-Identifier: BSD-3-Clause
// Receives without a request: opening, taking, and the spin on one ring before the general wait.
#include "p2p/direct.h"

#include "base/progress.h"
#include "p2p/completion.h"
#include "p2p/engine.h"

namespace vicinity::p2p {
namespace {

constexpr uint64_t kContext = 0xffff'ffff;  // of Wanted::address
constexpr int kRounds = 16;          // looks at everything while there is hope that the message comes soon
constexpr int kLooksPerRound = 128;  // at the source's ring alone before each of them

// Spins on the ring of the source: shorter than the general loop, which also looks at everything else.
void spin(Direct& direct) {
  if (base::crowded()) return;
  for (int round = 0; round < kRounds && direct.state == Direct::State::kWaiting; ++round) {
    const int events = peer::listen(direct.from, kLooksPerRound, direct.wanted);
    if (direct.wanted.taken) [[likely]]
      direct.state = Direct::State::kTaken;
    if (events != 0) continue;
    if (base::engine_lock.wanted()) return;
    base::progress();
  }
}

bool open(Direct& direct, void* buf, MPI_Count count, const Datatype& type, int source, int tag,
          Communicator& comm, Lane lane) {
  if (direct.state != Direct::State::kFree || source < 0) return false;
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(count), static_cast<uint64_t>(type.size), &bytes))
    return false;
  if (!type.dense && bytes != 0) return false;
  const Proc from = comm.proc(source);
  if (!context_of(comm, lane).nothing_from(from) || !engine().landings.empty()) return false;
  if (engine().troubled && (lane != Lane::kUser || comm.revoked || engine().is_lost(from))) [[unlikely]]
    return false;
  const Envelope e = envelope(Packet::kEager, comm.wire_context(lane), tag, 0);
  direct.from = from;
  direct.wanted.address = Direct::address_of(e);
  direct.wanted.mask = tag == MPI_ANY_TAG ? kContext : ~uint64_t{0};
  direct.wanted.kind = e.kind;
  direct.wanted.where = object::data_start(buf, type);
  direct.wanted.room = bytes;
  direct.wanted.taken = false;
  direct.state = Direct::State::kWaiting;
  return true;
}

void tell(const channel::Wanted& message, int source, MPI_Status* status) {
  Counters& counters = engine().counters;
  ++counters.received_messages;
  counters.received_bytes += message.bytes;
  if (!status) return;
  MPI_Status full = object::empty_status();
  full.MPI_SOURCE = source;
  full.MPI_TAG = static_cast<int>(message.address >> 32);
  object::set_bytes(full, static_cast<MPI_Count>(message.bytes));
  give_status(status, full);
}

}  // namespace

bool land_direct(Direct& direct, const Envelope& e, size_t bytes, channel::Landing& landing) {
  if (bytes > direct.wanted.room) {
    direct.close();
    return false;
  }
  direct.state = Direct::State::kLanding;
  direct.wanted.address = Direct::address_of(e);
  direct.wanted.bytes = bytes;
  direct.ack = e.flags & kAckWanted ? e.word : 0;
  landing = {direct.wanted.where, bytes, &direct};
  return true;
}

void landed_direct(Direct& direct) {
  if (direct.state != Direct::State::kLanding) return;  // the peer was lost meanwhile
  direct.state = Direct::State::kTaken;
  if (direct.ack) peer::connection(direct.from).post(envelope(Packet::kFin, 0, 0, direct.ack), nullptr, 0);
}

bool receive_directly(void* buf, MPI_Count count, const Datatype& type, int source, int tag,
                      Communicator& comm, Lane lane, MPI_Status* status) {
  Direct& direct = engine().direct;
  if (!open(direct, buf, count, type, source, tag, comm, lane)) return false;
  spin(direct);
  if (direct.state < Direct::State::kTaken)
    base::wait_until([&direct] { return direct.state >= Direct::State::kTaken; }, direct.from);
  const bool taken = direct.state == Direct::State::kTaken;
  direct.state = Direct::State::kFree;
  if (taken) tell(direct.wanted, source, status);
  return taken;
}

}  // namespace vicinity::p2p
