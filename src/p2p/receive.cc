// SPDX-License-Identifier: BSD-3-Clause
// Receives: posting, matching with what has come, and the landing of eager messages.
//
// An eager message that finds its receive is written straight to the user's buffer when that is one
// run of bytes; otherwise it lands in payload memory and is unpacked. An unexpected one is matched a
// second time when it has landed completely, because a receive may have been posted meanwhile.
#include <algorithm>
#include <cstring>
#include <utility>

#include "p2p/engine.h"

namespace vicinity::p2p {
namespace {

void acknowledge(const Arrival& arrival) {
  if (arrival.envelope.flags & kAckWanted)
    peer::connection(arrival.from).post(envelope(Packet::kFin, 0, 0, arrival.envelope.word), nullptr, 0);
}

// Copies the payload of an eager message to the receive that it was matched with.
void finish_eager(Transfer& receive, Arrival* arrival) {
  acknowledge(*arrival);
  receive.moved = std::min(arrival->length, receive.bytes);
  if (arrival->error != MPI_SUCCESS) receive.error = arrival->error;
  if (arrival->data && receive.moved > 0 && receive.error == MPI_SUCCESS) {
    if (receive.dense) {
      std::memcpy(receive.dense, arrival->data, receive.moved);
    } else {
      receive.cursor.reset(receive.buf, receive.count, *receive.type);
      receive.cursor.unpack(arrival->data, receive.moved);
    }
  }
  give_arrival(arrival);
  finish_receive(receive);
}

}  // namespace

// Room for the payload of a message; without memory the message is dropped and its receive fails.
void take_room(Arrival& arrival, size_t bytes) {
  if (bytes <= sizeof arrival.small) {
    arrival.data = arrival.small;
    return;
  }
  arrival.data = take_payload(bytes);
  if (arrival.data) {
    arrival.data_bytes = bytes;
  } else {
    arrival.error = MPI_ERR_NO_MEM;
  }
}

void set_matched(Transfer& receive, Proc from, int32_t tag, uint64_t length) {
  receive.complete = false;  // it may have been suspended (failure.cc)
  receive.error = MPI_SUCCESS;
  receive.from = from;
  receive.length = length;
  receive.moved = 0;
  receive.status.MPI_SOURCE = rank_of(*receive.comm, from);
  receive.status.MPI_TAG = tag;
}

void finish_receive(Transfer& receive) {
  Counters& counters = engine().counters;
  ++counters.received_messages;
  counters.received_bytes += receive.moved;
  object::set_bytes(receive.status, static_cast<MPI_Count>(receive.moved));
  int error = receive.error;
  if (error == MPI_SUCCESS && receive.length > receive.bytes) error = MPI_ERR_TRUNCATE;
  complete(receive, error);
}

void deliver(Transfer& receive, Arrival* arrival) {
  set_matched(receive, arrival->from, arrival->envelope.tag, arrival->length);
  if (arrival->envelope.kind == static_cast<uint8_t>(Packet::kEager)) return finish_eager(receive, arrival);
  const Proc from = arrival->from;
  if (void* offer = std::exchange(arrival->offer, nullptr)) {
    const uint64_t bytes = arrival->length;
    give_arrival(arrival);
    return begin_fetch(receive, from, offer, bytes);
  }
  const uint32_t sender = arrival->envelope.word;
  const RtsBody rts = arrival->rts;
  const bool readable = arrival->envelope.flags & kReadable;
  give_arrival(arrival);
  begin_read(receive, from, sender, rts, readable);
}

void launch_receive(Transfer& t) {
  t.complete = false;
  t.error = MPI_SUCCESS;
  t.cancel_asked = false;
  t.moved = t.length = 0;
  t.from = kAnyProc;
  t.status = object::empty_status();
  if (t.rank == MPI_PROC_NULL) {
    t.status.MPI_SOURCE = MPI_PROC_NULL;
    return complete(t);
  }
  const Lane lane = static_cast<Lane>(t.context - t.comm->context);
  Context& context = context_of(*t.comm, lane);
  if (Arrival* arrival = context.find_unexpected(t.peer, t.tag)) {
    context.drop(arrival);
    return deliver(t, arrival);
  }
  t.stamp = engine().next_stamp++;
  if (!engine().troubled) [[likely]]
    return context.post(&t);
  if (const int error = obstacle(t)) return complete(t, error);
  context.post(&t);
  if (t.peer == kAnyProc && unacknowledged(*t.comm)) suspend_posted(t);
}

channel::Landing land_eager(Proc from, const Envelope& e, size_t bytes) {
  Direct& direct = engine().direct;
  if (channel::Landing landing; direct.waits_for(from, e) && land_direct(direct, e, bytes, landing))
    return landing;
  Arrival* arrival = take_arrival();
  if (!arrival) return {};
  arrival->from = from;
  arrival->envelope = e;
  arrival->length = bytes;
  engine().landings.push_back(arrival);
  Transfer* receive = engine().contexts.of(e.context).match_posted(from, e.tag);
  arrival->transfer = receive;
  if (!receive) {
    take_room(*arrival, bytes);
    return {arrival->data, arrival->data ? bytes : 0, arrival};
  }
  set_matched(*receive, from, e.tag, bytes);
  receive->stage = Stage::kLanding;
  const size_t room = std::min<uint64_t>(bytes, receive->bytes);
  if (receive->dense) return {receive->dense, room, arrival};
  take_room(*arrival, room);
  return {arrival->data, arrival->data ? room : 0, arrival};
}

void landed_eager(Arrival& arrival, size_t) {
  if (arrival.transfer) return finish_eager(*arrival.transfer, &arrival);
  Context& context = engine().contexts.of(arrival.envelope.context);
  if (Transfer* receive = context.match_posted(arrival.from, arrival.envelope.tag)) {
    set_matched(*receive, arrival.from, arrival.envelope.tag, arrival.length);
    return finish_eager(*receive, &arrival);
  }
  context.keep(&arrival);
}

Status irecv(void* buf, MPI_Count count, Datatype& type, int source, int tag, Communicator& comm, Lane lane,
             Request** request) {
  *request = &done_null_receive;
  if (source == MPI_PROC_NULL) return object::kOk;
  auto made = make_transfer(false, buf, count, type, source, tag, comm, lane, Mode::kStandard);
  VICINITY_TRY(made.status());
  *request = *made;
  launch_receive(**made);
  return object::kOk;
}

Status recv(void* buf, MPI_Count count, Datatype& type, int source, int tag, Communicator& comm, Lane lane,
            MPI_Status* status) {
  if (receive_directly(buf, count, type, source, tag, comm, lane, status)) return object::kOk;
  Request* request = nullptr;
  VICINITY_TRY(irecv(buf, count, type, source, tag, comm, lane, &request));
  return finish(request, status);
}

}  // namespace vicinity::p2p
