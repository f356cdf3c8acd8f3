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
  if (receive.complete || receive.stage != Stage::kPosted) return object::kOk;
  engine().contexts.of(receive.context).unpost(&receive);
  set_cancelled(receive.status, true);
  complete(receive);
  return object::kOk;
}

Status cancel_send(object::Request& request) {
  Transfer& send = static_cast<Transfer&>(request);
  if (send.complete || send.cancel_asked) return object::kOk;
  send.cancel_asked = true;  // one that waits for room asks when it has gone out
  if (send.stage == Stage::kAwaiting)
    peer::connection(send.peer).post(envelope(Packet::kCancel, send.context, send.tag, send.id), nullptr, 0);
  return object::kOk;
}

void on_cancel(Proc from, const Envelope& e) {
  Context& context = engine().contexts.of(e.context);
  Arrival* arrival = e.word ? context.find_sent_as(from, e.word) : nullptr;
  if (arrival) {
    context.drop(arrival);
    give_arrival(arrival);
  }
  peer::connection(from).post(
      envelope(Packet::kCancelAnswer, 0, 0, e.word, arrival ? kCancelled : uint8_t{0}), nullptr, 0);
}

void on_cancel_answer(Proc from, const Envelope& e) {
  auto* send = static_cast<Transfer*>(engine().ids.find(e.word, Role::kSend));
  // A message that was matched may be complete by now, and its id gone.
  if (!send || send->peer != from || !send->cancel_asked || send->stage != Stage::kAwaiting) return;
  if (!(e.flags & kCancelled)) return;
  set_cancelled(send->status, true);
  complete(*send);
}

}  // namespace vicinity::p2p
