// SPDX-License-Identifier: BSD-3-Clause
// MPI_Cancel (MPI 5.0, 3.8.4). A receive that is still posted is taken out. A send that waits for its
// receiver asks it: the message is either still unexpected there, and gone, or matched. A send that
// has left, or waits for room in the channel, completes as usual.
#include "p2p/completion.h"
#include "p2p/engine.h"

namespace vicinity::p2p {

void set_cancelled(MPI_Status& status, bool cancelled) { status.MPI_internal[2] = cancelled; }
bool get_cancelled(const MPI_Status& status) { return status.MPI_internal[2] != 0; }

Status cancel_receive(object::Request& request) {
  Transfer& receive = static_cast<Transfer&>(request);
  if (receive.stage != Stage::kPosted) return object::kOk;
  engine().contexts.of(receive.context).unpost(&receive);
  set_cancelled(receive.status, true);
  complete(receive);
  return object::kOk;
}

// Takes a message that nobody has received yet out of the unexpected ones. False: it is matched, or
// not here.
static bool withdraw(Proc from, uint32_t wire_context, uint32_t id) {
  Context& context = engine().contexts.of(wire_context);
  Arrival* arrival = id ? context.find_sent_as(from, id) : nullptr;
  if (!arrival) return false;
  context.drop(arrival);
  give_arrival(arrival);
  return true;
}

Status cancel_send(object::Request& request) {
  Transfer& send = static_cast<Transfer&>(request);
  if (send.complete || send.cancel_asked) return object::kOk;
  send.cancel_asked = true;  // one that waits for room asks when it has gone out
  if (send.peer == peer::self()) base::progress();  // delivers it, if it is still under way to ourselves
  if (send.complete || (send.stage != Stage::kAwaiting && send.stage != Stage::kOffered)) return object::kOk;
  if (send.peer == peer::self()) {  // decided at once, so that one MPI_Request_get_status tells
    if (withdraw(send.peer, send.context, send.id)) {
      set_cancelled(send.status, true);
      complete(send);
    }
    return object::kOk;
  }
  peer::connection(send.peer).post(envelope(Packet::kCancel, send.context, send.tag, send.id), nullptr, 0);
  return object::kOk;
}

void on_cancel(Proc from, const Envelope& e) {
  const bool gone = withdraw(from, e.context, e.word);
  peer::connection(from).post(envelope(Packet::kCancelAnswer, 0, 0, e.word, gone ? kCancelled : uint8_t{0}),
                              nullptr, 0);
}

void on_cancel_answer(Proc from, const Envelope& e) {
  auto* send = static_cast<Transfer*>(engine().ids.find(e.word, Role::kSend));
  // A message that was matched may be complete by now, and its id gone.
  if (!send || send->peer != from || !send->cancel_asked) return;
  if (send->stage == Stage::kOffered || send->stage == Stage::kAnswering)
    return on_offer_answer(*send, e.flags & kCancelled);
  if (send->stage != Stage::kAwaiting) return;
  if (!(e.flags & kCancelled)) return;
  if (!send->doom) set_cancelled(send->status, true);
  complete(*send, send->doom);
}

}  // namespace vicinity::p2p
