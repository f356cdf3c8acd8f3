// SPDX-License-Identifier: BSD-3-Clause
// Receives without a request: opening, taking, and the spin on one ring before the general wait.
#include "p2p/direct.h"

#include "base/progress.h"
#include "p2p/completion.h"
#include "p2p/engine.h"

namespace vicinity::p2p {
namespace {

constexpr int kRounds = 16;          // looks at everything while there is hope that the message comes soon
constexpr int kLooksPerRound = 128;  // at the source's ring alone before each of them

// Spins on the ring of the source: shorter than the general loop, which also looks at everything else.
void spin(const Direct& direct) {
  if (base::crowded()) return;
  for (int round = 0; round < kRounds && direct.state == Direct::State::kWaiting; ++round) {
    if (peer::listen(direct.from, kLooksPerRound) != 0) continue;
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
  direct.from = from;
  direct.context = comm.wire_context(lane);
  direct.wanted_tag = tag;
  direct.where = object::data_start(buf, type);
  direct.room = bytes;
  direct.state = Direct::State::kWaiting;
  return true;
}

void tell(const Direct& direct, int source, MPI_Status* status) {
  Counters& counters = engine().counters;
  ++counters.received_messages;
  counters.received_bytes += direct.bytes;
  if (!status) return;
  MPI_Status full = object::empty_status();
  full.MPI_SOURCE = source;
  full.MPI_TAG = direct.tag;
  object::set_bytes(full, static_cast<MPI_Count>(direct.bytes));
  give_status(status, full);
}

}  // namespace

bool land_direct(Direct& direct, const Envelope& e, size_t bytes, channel::Landing& landing) {
  if (bytes > direct.room) {
    direct.close();
    return false;
  }
  direct.state = Direct::State::kLanding;
  direct.tag = e.tag;
  direct.bytes = bytes;
  direct.ack = e.flags & kAckWanted ? e.word : 0;
  landing = {direct.where, bytes, &direct};
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
  base::wait_until([&direct] { return direct.state >= Direct::State::kTaken; });
  const bool taken = direct.state == Direct::State::kTaken;
  direct.state = Direct::State::kFree;
  if (taken) tell(direct, source, status);
  return taken;
}

}  // namespace vicinity::p2p
