// SPDX-License-Identifier: BSD-3-Clause
// Large messages. The sender announces (kRts); once matched, the receiver
//   - copies directly, when the sender is this process;
//   - reads the sender's memory (CMA) and says kFin, when the message is one run of bytes there;
//   - else asks for the bytes (kCts), which come as a pipeline of kData messages, packed from and
//     unpacked to the user's buffers without a copy of the whole.
// A read that the kernel refuses half way goes on as a pipeline from where it stopped.
#include <sys/uio.h>

#include <algorithm>

#include "base/param.h"
#include "p2p/engine.h"

namespace vicinity::p2p {
namespace {

base::Param<int64_t> pipeline_chunk{
    "VICINITY_PIPELINE_CHUNK",
    "p2p",
    128 << 10,
    256,
    1 << 20,
    "Bytes per message of a large transfer that goes through the channel; no more "
    "than half of what one message of the channel can carry."};

base::Param<int64_t> single_copy_from{
    "VICINITY_SINGLE_COPY_FROM",
    "p2p",
    INT64_MAX,
    0,
    INT64_MAX,
    "Smallest message in bytes that the receiver copies with the help of the kernel (CMA). Smaller ones, and "
    "all "
    "by default, go through the region: two copies, but both processes copy at the same time, and the kernel "
    "takes its time over every page. One copy saves memory bandwidth where that is short."};

constexpr size_t kPieces = 128;  // of the receive buffer per call of the kernel

// Bytes per data message: at least two are in flight, so that both ends copy at once.
size_t chunk_bytes(const peer::VirtualConnection& connection) {
  const size_t half = std::max<size_t>(connection.largest() / 2, 1);
  return std::min(static_cast<size_t>(pipeline_chunk.get()), half);
}

// One copy by the kernel, or two copies that overlap? Measured (docs/performance.md): two are faster, also
// when ranks outnumber cores.
bool copy_once(const peer::VirtualConnection& connection, uint64_t bytes) {
  return connection.single_copy() && bytes >= static_cast<uint64_t>(single_copy_from.get());
}

void say_fin(Proc to, uint32_t sender) {
  peer::connection(to).post(envelope(Packet::kFin, 0, 0, sender), nullptr, 0);
}

// Both ends are in this process: one copy, and both are complete.
void copy_from_self(Transfer& receive, uint32_t sender) {
  auto* send = static_cast<Transfer*>(engine().ids.find(sender, Role::kSend));
  if (!send || send->peer != peer::self() || send->stage != Stage::kAwaiting) {
    receive.error = MPI_ERR_INTERN;
    return finish_receive(receive);
  }
  receive.moved =
      object::copy_typed(send->buf, send->count, *send->type, receive.buf, receive.count, *receive.type);
  complete(*send);
  finish_receive(receive);
}

// Reads [receive.moved, receive.end) from the sender's memory; false: refused, `moved` says how far it came.
bool read_all(Transfer& receive, peer::VirtualConnection& connection, uint64_t address) {
  while (receive.moved < receive.end) {
    iovec pieces[kPieces];
    size_t count = 1;
    size_t bytes = receive.end - receive.moved;
    if (receive.dense) {
      pieces[0] = {receive.dense + receive.moved, bytes};
    } else {
      count = receive.cursor.pieces(pieces, kPieces, bytes);
      bytes = 0;
      for (size_t i = 0; i < count; ++i) bytes += pieces[i].iov_len;
    }
    if (bytes == 0 || !connection.read_remote(address + receive.moved, pieces, count, bytes)) return false;
    receive.moved += bytes;
  }
  return true;
}

void ask_for_data(Transfer& receive, Proc from, uint32_t sender) {
  receive.id = engine().ids.add(&receive, Role::kReceive);
  if (!receive.id) {
    say_fin(from, sender);
    receive.error = MPI_ERR_NO_MEM;
    return finish_receive(receive);
  }
  receive.stage = Stage::kReading;
  receive.peer_id = sender;
  if (!receive.dense) {
    receive.cursor.reset(receive.buf, receive.count, *receive.type);
    receive.cursor.seek(receive.moved);
  }
  const CtsBody cts{receive.moved, receive.end, receive.id, 0};
  peer::connection(from).post(envelope(Packet::kCts, 0, 0, sender), &cts, sizeof cts);
}

}  // namespace

void landed_rts(Arrival& arrival) {
  if (arrival.rts.bytes > INT64_MAX || arrival.envelope.word == 0) {
    const Proc from = arrival.from;
    give_arrival(&arrival);
    return engine().liar(from, "a message announcement has an impossible length or no id");
  }
  arrival.length = arrival.rts.bytes;
  Direct& direct = engine().direct;
  const bool for_direct = direct.waits_for(arrival.from, arrival.envelope);
  if (for_direct) direct.close();  // and the message waits until it is received in the ordinary way
  Context& context = engine().contexts.of(arrival.envelope.context);
  Transfer* receive = for_direct ? nullptr : context.match_posted(arrival.from, arrival.envelope.tag);
  if (receive) return deliver(*receive, &arrival);
  context.keep(&arrival);
}

void begin_read(Transfer& receive, Proc from, uint32_t sender, const RtsBody& rts, bool readable) {
  if (engine().is_lost(from)) return complete(receive, MPI_ERR_PROC_ABORTED);
  receive.end = std::min(rts.bytes, receive.bytes);
  if (from == peer::self()) return copy_from_self(receive, sender);
  peer::VirtualConnection& connection = peer::connection(from);
  bool whole = receive.end == 0;
  if (!whole && readable && copy_once(connection, receive.end)) {
    if (!receive.dense) receive.cursor.reset(receive.buf, receive.count, *receive.type);
    whole = read_all(receive, connection, rts.address);
    if (engine().is_lost(from)) return complete(receive, MPI_ERR_PROC_ABORTED);
    Counters& counters = engine().counters;
    counters.read_messages += whole;
    counters.read_bytes += receive.moved;
  }
  if (!whole) return ask_for_data(receive, from, sender);
  say_fin(from, sender);
  finish_receive(receive);
}

void on_fin(Proc from, uint32_t sender) {
  auto* send = static_cast<Transfer*>(engine().ids.find(sender, Role::kSend));
  if (!send || send->peer != from || send->stage != Stage::kAwaiting)
    return engine().liar(from, "it acknowledged a message that we did not send");
  complete(*send);
}

void on_cts(Proc from, uint32_t sender, const CtsBody& cts) {
  auto* send = static_cast<Transfer*>(engine().ids.find(sender, Role::kSend));
  if (!send || send->peer != from || send->stage != Stage::kAwaiting)
    return engine().liar(from, "it asked for a message that we did not announce");
  if (cts.from >= cts.to || cts.to > send->bytes)
    return engine().liar(from, "it asked for bytes beyond the end of a message");
  send->peer_id = cts.receiver;
  send->moved = cts.from;
  send->end = cts.to;
  send->chunk_bytes = 0;
  if (!send->dense) {
    send->staged_bytes = chunk_bytes(peer::connection(from));
    send->staged = take_payload(send->staged_bytes);
    if (!send->staged) return complete(*send, MPI_ERR_NO_MEM);
    send->cursor.reset(send->buf, send->count, *send->type);
    send->cursor.seek(cts.from);
  }
  send->stage = Stage::kStreaming;
  engine().streams.push_back(send);
}

int pump(Transfer& t) {
  peer::VirtualConnection& connection = peer::connection(t.peer);
  const size_t chunk = chunk_bytes(connection);
  int sent = 0;
  while (t.moved < t.end) {
    size_t bytes = std::min<uint64_t>(chunk, t.end - t.moved);
    const char* data = t.dense ? t.dense + t.moved : t.staged;
    if (!t.dense) {
      if (t.chunk_bytes == 0) t.chunk_bytes = t.cursor.pack(t.staged, std::min(bytes, t.staged_bytes));
      bytes = t.chunk_bytes;
    }
    const channel::Answer answer =
        connection.try_send(data_envelope(Packet::kData, t.moved, t.peer_id), data, bytes);
    if (answer == channel::Answer::kRetry) return sent;
    if (answer == channel::Answer::kFailed) {
      t.place.unlink();
      complete(t, MPI_ERR_PROC_ABORTED);
      return sent + 1;
    }
    t.chunk_bytes = 0;
    t.moved += bytes;
    engine().counters.streamed_bytes += bytes;
    ++sent;
  }
  ++engine().counters.streamed_messages;
  t.place.unlink();
  complete(t);
  return sent;
}

channel::Landing land_data(Proc from, const Envelope& e, size_t bytes) {
  auto* receive = static_cast<Transfer*>(engine().ids.find(e.word, Role::kReceive));
  if (!receive || receive->from != from || receive->stage != Stage::kReading ||
      data_offset(e) != receive->moved || bytes == 0 || bytes > receive->end - receive->moved) {
    engine().liar(from, "a data message does not follow the one before it");
    return {};
  }
  Arrival* arrival = take_arrival();
  if (arrival && !receive->dense) {
    arrival->data = take_payload(bytes);
    arrival->data_bytes = arrival->data ? bytes : 0;
  }
  if (!arrival || (!receive->dense && !arrival->data)) {
    if (arrival) give_arrival(arrival);
    complete(*receive, MPI_ERR_NO_MEM);  // what still comes for it is taken for a lie: the end is near
    return {};
  }
  arrival->from = from;
  arrival->envelope = e;
  arrival->transfer = receive;
  engine().landings.push_back(arrival);
  return {receive->dense ? receive->dense + receive->moved : arrival->data, bytes, arrival};
}

void landed_data(Arrival& arrival, size_t bytes) {
  Transfer* receive = arrival.transfer;
  if (arrival.data) receive->cursor.unpack(arrival.data, bytes);
  receive->moved += bytes;
  give_arrival(&arrival);
  if (receive->moved == receive->end) finish_receive(*receive);
}

}  // namespace vicinity::p2p
