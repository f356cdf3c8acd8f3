// SPDX-License-Identifier: BSD-3-Clause
// Sends. A small one is written to the channel at once: no request, no allocation. One that finds no
// room waits in the connection. A large one is announced (kRts) and fetched by the receiver.
#include <algorithm>
#include <cstring>

#include "base/param.h"
#include "p2p/engine.h"

namespace vicinity::p2p {
namespace {

base::Param<int64_t> eager_size{"VICINITY_EAGER_SIZE",
                                "p2p",
                                64 << 10,
                                0,
                                1 << 30,
                                "Largest message in bytes that is sent without asking the receiver first; no "
                                "more than one message of the channel can carry.",
                                "MV2_SMP_EAGERSIZE"};

void count_eager(uint64_t bytes) {
  Counters& counters = engine().counters;
  ++counters.eager_messages;
  counters.eager_bytes += bytes;
}

// The connection has taken a message that had to wait, or has lost its peer.
void eager_sent(peer::Pending* pending, base::Status status) {
  Transfer& t = *static_cast<SendPending*>(pending)->owner;
  if (!status.ok()) return complete(t, MPI_ERR_PROC_ABORTED);
  count_eager(t.bytes);
  if (t.mode != Mode::kSynchronous) return complete(t);
  t.stage = Stage::kAwaiting;
  if (t.cancel_asked) {
    t.cancel_asked = false;
    static_cast<void>(cancel_send(t));
  }
}

void queue_eager(Transfer& t, peer::VirtualConnection& connection, const Envelope& envelope,
                 const void* data) {
  if (!t.dense && t.bytes > 0) {  // `data` is the scratch buffer, which others need
    t.staged = take_payload(t.bytes);
    if (!t.staged) return complete(t, MPI_ERR_NO_MEM);
    t.staged_bytes = t.bytes;
    std::memcpy(t.staged, data, t.bytes);
    data = t.staged;
  }
  t.pending.envelope = envelope;
  t.pending.data = data;
  t.pending.bytes = t.bytes;
  t.pending.offered = false;
  t.pending.sent = eager_sent;
  t.pending.owner = &t;
  t.stage = Stage::kQueued;
  connection.queue(&t.pending);
}

void start_eager(Transfer& t, peer::VirtualConnection& connection) {
  const bool synchronous = t.mode == Mode::kSynchronous;
  if (synchronous) {
    t.id = engine().ids.add(&t, Role::kSend);
    if (!t.id) return complete(t, MPI_ERR_NO_MEM);
    t.stage = Stage::kAwaiting;
  }
  const Envelope e = envelope(Packet::kEager, t.context, t.tag, t.id, synchronous ? kAckWanted : uint8_t{0});
  const void* data = t.dense ? t.dense : packed(t.buf, t.count, *t.type, t.bytes);
  // The answer to a synchronous message may be here before try_send returns (a message to ourselves).
  switch (connection.try_send(e, data, t.bytes)) {
    case channel::Answer::kDone:
      count_eager(t.bytes);
      if (!synchronous) complete(t);
      return;
    case channel::Answer::kRetry:
      return queue_eager(t, connection, e, data);
    case channel::Answer::kFailed:
      return complete(t, MPI_ERR_PROC_ABORTED);
  }
}

void start_rendezvous(Transfer& t, peer::VirtualConnection& connection) {
  t.id = engine().ids.add(&t, Role::kSend);
  if (!t.id) return complete(t, MPI_ERR_NO_MEM);
  t.stage = Stage::kAwaiting;
  const RtsBody body{t.bytes, t.dense ? reinterpret_cast<uint64_t>(t.dense) : 0};
  connection.post(envelope(Packet::kRts, t.context, t.tag, t.id, t.dense ? kReadable : uint8_t{0}), &body,
                  sizeof body);
}

}  // namespace

size_t eager_limit(const peer::VirtualConnection& connection) {
  return std::min(static_cast<size_t>(eager_size.get()), connection.largest());
}

const void* packed(const void* buf, MPI_Count count, const Datatype& type, uint64_t bytes) {
  if (type.dense || bytes == 0) return object::data_start(buf, type);
  std::vector<char>& scratch = engine().scratch;
  if (scratch.size() < bytes) scratch.resize(bytes);
  object::pack(buf, count, type, scratch.data());
  return scratch.data();
}

void launch_send(Transfer& t) {
  t.complete = false;
  t.error = MPI_SUCCESS;
  t.cancel_asked = false;
  t.doom = MPI_SUCCESS;
  t.moved = 0;
  t.status = object::empty_status();
  if (t.rank == MPI_PROC_NULL) return complete(t);
  if (engine().troubled) [[unlikely]] {
    if (const int error = obstacle(t)) return complete(t, error);
  }
  peer::VirtualConnection& connection = peer::connection(t.peer);
  if (t.bytes <= eager_limit(connection)) {
    start_eager(t, connection);
  } else if (connection.offers() && t.dense) {
    start_offer(t, connection);
  } else {
    start_rendezvous(t, connection);
  }
}

// The whole of a small send. False: it has to go the long way.
static inline bool sent_at_once(const void* buf, MPI_Count count, const Datatype& type, int dest, int tag,
                                const Communicator& comm, Lane lane) {
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(count), static_cast<uint64_t>(type.size), &bytes))
    return false;
  peer::VirtualConnection& connection = peer::connection(comm.proc(dest));
  if (bytes > eager_limit(connection)) return false;
  const Envelope e = envelope(Packet::kEager, comm.wire_context(lane), tag, 0);
  const void* data = type.dense ? object::data_start(buf, type) : packed(buf, count, type, bytes);
  if (connection.try_send(e, data, bytes) != channel::Answer::kDone) return false;
  count_eager(bytes);
  return true;
}

Status send(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm,
            Lane lane) {
  if (dest == MPI_PROC_NULL || sent_at_once(buf, count, type, dest, tag, comm, lane)) return object::kOk;
  auto made = make_transfer(true, buf, count, type, dest, tag, comm, lane, Mode::kStandard);
  VICINITY_TRY(made.status());
  launch_send(**made);
  return finish(*made);
}

Status isend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm,
             Lane lane, Mode mode, Request** request) {
  *request = &done_send;
  if (dest == MPI_PROC_NULL) return object::kOk;
  if (mode != Mode::kSynchronous && sent_at_once(buf, count, type, dest, tag, comm, lane)) return object::kOk;
  auto made = make_transfer(true, buf, count, type, dest, tag, comm, lane, mode);
  VICINITY_TRY(made.status());
  *request = *made;
  launch_send(**made);
  return object::kOk;
}

}  // namespace vicinity::p2p
