// SPDX-License-Identifier: BSD-3-Clause
// Large messages where the channel moves them from buffer to buffer (channel/offer.h): the network.
//
// The sender offers one run of bytes; what is not one goes the way of rendezvous.cc. The receiver, once
// matched, fetches: straight to its buffer if that is one run and large enough, else part by part through a
// cursor, where what does not fit is dropped. The channel tells the sender when its buffer is free.
//
// A cancelled send: the receiver takes the message out and fetches it to nowhere. Its answer and the end of
// the fetch come in any order, and the send is complete after both.
#include <algorithm>
#include <cstring>
#include <new>

#include "p2p/engine.h"

namespace vicinity::p2p {
namespace {

void offer_fetched(peer::Pending* pending, base::Status status) {
  Transfer& t = *static_cast<SendPending*>(pending)->owner;
  if (!status.ok()) return complete(t, MPI_ERR_PROC_ABORTED);
  Counters& counters = engine().counters;
  ++counters.streamed_messages;
  counters.streamed_bytes += t.bytes;
  if (t.cancel_asked) {
    t.stage = Stage::kAnswering;
    return;
  }
  complete(t, t.doom);
}

void write_part(channel::Fetch* self, size_t offset, const void* from, size_t bytes) {
  Transfer* receive = static_cast<Fetching*>(self)->receive;
  if (!receive || offset >= receive->end) return;
  bytes = std::min<uint64_t>(bytes, receive->end - offset);
  if (receive->dense) {
    std::memcpy(receive->dense + offset, from, bytes);
    return;
  }
  if (receive->moved != offset) receive->cursor.seek(offset);
  receive->cursor.unpack(from, bytes);
  receive->moved = offset + bytes;
}

void fetched(channel::Fetch* self, bool good) {
  auto* fetching = static_cast<Fetching*>(self);
  Transfer* receive = fetching->receive;
  fetching->place.unlink();
  delete fetching;
  if (!receive) return;
  if (!good) return complete(*receive, MPI_ERR_PROC_ABORTED);
  receive->moved = receive->end;
  finish_receive(*receive);
}

}  // namespace

void start_offer(Transfer& t, peer::VirtualConnection& connection) {
  t.id = engine().ids.add(&t, Role::kSend);
  if (!t.id) return complete(t, MPI_ERR_NO_MEM);
  t.stage = Stage::kOffered;
  t.pending.envelope = envelope(Packet::kOffer, t.context, t.tag, t.id);
  t.pending.data = t.dense;
  t.pending.bytes = t.bytes;
  t.pending.sent = offer_fetched;
  t.pending.owner = &t;
  connection.offer(&t.pending);
}

void Engine::offered(Proc from, const Envelope& envelope, size_t bytes, void* offer) {
  peer::VirtualConnection& connection = peer::connection(from);
  if (is_lost(from)) return connection.refuse(offer, bytes);
  if (envelope.kind != static_cast<uint8_t>(Packet::kOffer) || envelope.word == 0 || bytes > INT64_MAX) {
    connection.refuse(offer, bytes);
    return liar(from, "it offered a message of an impossible kind or length, or without an id");
  }
  Arrival* arrival = take_arrival();
  if (!arrival) return connection.refuse(offer, bytes);
  arrival->from = from;
  arrival->envelope = envelope;
  arrival->length = bytes;
  arrival->offer = offer;
  const bool for_direct = direct.waits_for(from, envelope);
  if (for_direct) direct.close();  // and the message waits until it is received in the ordinary way
  Context& context = contexts.of(envelope.context);
  Transfer* receive = for_direct ? nullptr : context.match_posted(from, envelope.tag);
  if (receive) return deliver(*receive, arrival);
  context.keep(arrival);
}

void begin_fetch(Transfer& receive, Proc from, void* offer, uint64_t bytes) {
  peer::VirtualConnection& connection = peer::connection(from);
  auto* fetching = new (std::nothrow) Fetching;
  if (!fetching || engine().is_lost(from)) {
    delete fetching;
    connection.refuse(offer, bytes);
    return complete(receive, engine().is_lost(from) ? MPI_ERR_PROC_ABORTED : MPI_ERR_NO_MEM);
  }
  receive.stage = Stage::kFetching;
  receive.end = std::min(bytes, receive.bytes);
  if (!receive.dense) receive.cursor.reset(receive.buf, receive.count, *receive.type);
  fetching->write = write_part;
  fetching->done = fetched;
  fetching->receive = &receive;
  fetching->from = from;
  engine().fetches.push_back(fetching);
  const bool whole = receive.dense && bytes <= receive.bytes;
  connection.fetch(offer, bytes, whole ? receive.dense : nullptr, fetching);
}

void on_offer_answer(Transfer& send, bool cancelled) {
  send.cancel_asked = false;
  if (!cancelled) send.doom = MPI_SUCCESS;
  if (cancelled && !send.doom) set_cancelled(send.status, true);
  if (send.stage == Stage::kAnswering) complete(send, send.doom);
}

// The channel may still hold them: they stay, for nobody.
void lose_fetches(Proc from) {
  auto& fetches = engine().fetches;
  for (Fetching *fetching = fetches.front(), *next; fetching; fetching = next) {
    next = fetches.after(fetching);
    if (fetching->from != from || !fetching->receive) continue;
    Transfer* receive = fetching->receive;
    fetching->receive = nullptr;
    complete(*receive, MPI_ERR_PROC_ABORTED);
  }
}

}  // namespace vicinity::p2p
