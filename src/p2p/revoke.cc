// SPDX-License-Identifier: BSD-3-Clause
// Revocation of a communicator, and the carriage of messages among survivors.
//
// Whoever revokes, or hears of it for the first time, tells all members: so all hear of it although any of
// them may die while it tells the others. Communicators are known by their context, which both sides have
// agreed on; a revocation may be here before the communicator is (early.h).
#include <mpi-ext.h>

#include <cstring>
#include <memory>
#include <new>

#include "base/log.h"
#include "p2p/engine.h"

namespace vicinity::p2p {
namespace {

constexpr Lane kAllLanes[] = {Lane::kUser, Lane::kCollective, Lane::kPartitioned, Lane::kControl};

void revoke_here(Communicator& comm) {
  object::mark_revoked(comm);
  for (Lane lane : kAllLanes) interrupt(comm, lane, MPIX_ERR_REVOKED);
}

void tell(const Communicator& comm, const object::Group& group) {
  for (Proc proc : group.procs)
    if (proc != peer::self() && !engine().is_lost(proc))
      peer::connection(proc).post(envelope(Packet::kRevoke, comm.context, 0, 0), nullptr, 0);
}

// A message with a copy of its own, for as long as it waits in the connection.
struct Parcel : peer::Pending {
  std::unique_ptr<std::byte[]> copy;
};

}  // namespace

void introduce(Communicator& comm) {
  engine().communicators.insert_or_assign(comm.context, &comm);
  bool revoked = false;
  for (Proc from : engine().early.take(comm.context)) {
    if (comm.has_member(from))
      revoked = true;
    else
      VICINITY_LOG(kError, "process %u has revoked communicator %u, of which it is no member: ignored", from,
                   comm.context);
  }
  if (revoked) revoke(comm);
  if (engine().survival) engine().survival->introduced(comm);
}

void revoke(Communicator& comm) {
  if (comm.revoked) return;
  object::retain(&comm);
  engine().troubled = true;
  engine().direct.lost(kAnyProc);
  revoke_here(comm);
  if (comm.local) revoke_here(*comm.local);
  tell(comm, *comm.group);
  if (comm.remote) tell(comm, *comm.remote);
  object::release(&comm);
}

void on_revoke(Proc from, uint32_t context) {
  Communicator* comm = communicator(context);
  if (comm) {
    if (!comm->has_member(from)) return engine().liar(from, "it revoked a communicator of others");
    return revoke(*comm);
  }
  if (!was_freed(context) && !engine().early.keep(context, from))
    engine().liar(from, "it revokes more communicators than can be on their way");
}

Communicator* communicator(uint32_t context) {
  const auto found = engine().communicators.find(context);
  return found == engine().communicators.end() ? nullptr : found->second;
}

bool was_freed(uint32_t context) { return engine().freed.has(context); }

channel::Landing land_survival(Proc from, const Envelope& envelope, size_t bytes) {
  Arrival* arrival = take_arrival();
  if (!arrival) {
    if (engine().survival) engine().survival->missed(from, envelope.context);
    return {};
  }
  arrival->from = from;
  arrival->envelope = envelope;
  engine().landings.push_back(arrival);
  take_room(*arrival, bytes);
  return {arrival->data, arrival->data ? bytes : 0, arrival};
}

void landed_survival(Arrival& arrival, size_t bytes) {
  Survival* survival = engine().survival;
  if (survival && arrival.data)
    survival->heard(arrival.from, arrival.envelope.context, reinterpret_cast<const std::byte*>(arrival.data),
                    bytes);
  else if (survival)
    survival->missed(arrival.from, arrival.envelope.context);
  give_arrival(&arrival);
}

namespace {

Sent send_or_queue(Proc to, const Envelope& e, const std::byte* body, size_t bytes) {
  if (engine().is_lost(to)) return Sent::kGone;
  peer::VirtualConnection& connection = peer::connection(to);
  const channel::Answer answer = connection.try_send(e, body, bytes);
  if (answer != channel::Answer::kRetry) return answer == channel::Answer::kDone ? Sent::kYes : Sent::kGone;
  auto* parcel = new (std::nothrow) Parcel;
  if (parcel) parcel->copy.reset(new (std::nothrow) std::byte[bytes]);
  if (!parcel || !parcel->copy) {
    delete parcel;
    return Sent::kNoMemory;
  }
  if (bytes) std::memcpy(parcel->copy.get(), body, bytes);
  parcel->envelope = e;
  parcel->data = parcel->copy.get();
  parcel->bytes = bytes;
  parcel->sent = [](peer::Pending* self, base::Status) { delete static_cast<Parcel*>(self); };
  connection.queue(parcel);
  return Sent::kYes;
}

}  // namespace

Sent send_survival(Proc to, uint32_t context, const std::byte* body, size_t bytes) {
  return send_or_queue(to, envelope(Packet::kSurvival, context, 0, 0), body, bytes);
}

Sent send_abandon(Proc to, uint32_t context) {
  return send_or_queue(to, envelope(Packet::kAbandon, context, 0, 0), nullptr, 0);
}

}  // namespace vicinity::p2p
