// SPDX-License-Identifier: BSD-3-Clause
// The origin's side of operations by messages.
//
// Operations of one target leave in the order of their calls, each as one message or several; that is the
// order in which accumulates must happen (12.7.2), and it lets one kFlush speak for all before it.
#include "rma/outbound.h"

#include <cstring>

#include "rma/runs.h"

namespace vicinity::rma {
namespace {

constexpr uint32_t kMostAnswers = 32;  // to wait for from one target, so that it need not keep many of them

// Scratch for one message, never kept across a send.
std::vector<char> message;
std::vector<Run> runs;

bool wants_answer(const Operation& operation) {
  return operation.what == What::kGet || operation.what == What::kFetch || operation.what == What::kSwap;
}
bool carries_data(const Operation& operation) {
  if (operation.what == What::kPut || operation.what == What::kAccumulate) return true;
  return operation.what == What::kFetch && operation.op != reinterpret_cast<uintptr_t>(MPI_NO_OP);
}

// Composes the next message; returns the bytes of data that it stands for.
uint64_t compose(Operation& operation, size_t largest) {
  const bool data = carries_data(operation), answer = wants_answer(operation);
  const size_t fixed = sizeof(AccessHead) + (operation.what == What::kSwap ? sizeof operation.swap : 0);
  uint64_t most = operation.total - operation.sent;
  if (answer) most = std::min<uint64_t>(most, largest - sizeof(AnswerHead));
  const uint64_t bytes = take_runs(operation.target, operation.step, operation.split, largest - fixed, data,
                                   most, runs);
  const AccessHead head{operation.what, operation.op, static_cast<uint8_t>(operation.basic), 0,
                        static_cast<uint32_t>(runs.size()), operation.sent};
  message.resize(sizeof head + runs.size() * sizeof(Run));
  std::memcpy(message.data(), &head, sizeof head);
  if (!runs.empty()) std::memcpy(message.data() + sizeof head, runs.data(), runs.size() * sizeof(Run));
  const size_t at = message.size();
  if (data) {
    message.resize(at + bytes);
    operation.source.pack(message.data() + at, bytes);
  } else if (operation.what == What::kSwap) {
    message.insert(message.end(), operation.swap, operation.swap + 2 * operation.total);
  }
  return bytes;
}

// False: no room now.
bool send_next(Operation& operation) {
  Peer& peer = *operation.peer;
  peer::VirtualConnection& connection = peer::connection(peer.proc);
  if (wants_answer(operation) && peer.answers >= kMostAnswers) return false;
  const uint64_t bytes = compose(operation, connection.largest());
  if (bytes == 0) {  // no channel is as narrow as that
    complete(operation, MPI_ERR_INTERN);
    return true;
  }
  const Envelope head = envelope(Packet::kAccess, peer.window->comm->context, operation.id);
  // The answer may be here before try_send returns.
  peer.dirty |= !wants_answer(operation);
  peer.answers += wants_answer(operation);
  const uint64_t before = operation.sent;
  operation.sent += bytes;
  switch (connection.try_send(head, message.data(), message.size())) {
    case channel::Answer::kDone:
      return true;
    case channel::Answer::kFailed:
      return false;  // the loss is about to be reported: abandon()
    case channel::Answer::kRetry:
      break;
  }
  peer.answers -= wants_answer(operation);
  operation.sent = before;
  operation.target.seek(before);
  if (carries_data(operation)) operation.source.seek(before);
  return false;
}

void keep_first(Refusal& first, const Refusal& refusal) {
  if (first.code == MPI_SUCCESS) first = refusal;
}

// When the peer is lost, nothing is left to wait for, but not all was done.
Status drain(Peer& peer) {
  VICINITY_TRY(await(peer, [&] { return peer.queue.empty() && peer.answers == 0; }));
  return is_gone(peer) ? gone(peer) : kOk;
}

}  // namespace

Outbound& outbound() {
  static auto* made = new Outbound;
  return *made;
}

void complete(Operation& operation, int error) {
  if (operation.id) outbound().ids.remove(operation.id);
  operation.id = 0;
  if (operation.place.linked()) operation.place.unlink();
  operation.error = error;
  operation.complete = true;
  if (!operation.visible) {
    keep_first(operation.peer->refused, operation.refusal);
    return give_operation(&operation);
  }
  if (operation.user_freed) operation.ops->free(operation);
}

Status explain(const Operation& operation) {
  if (operation.refusal.code != MPI_SUCCESS) return refused(*operation.peer, operation.refusal);
  if (operation.error == MPI_ERR_PROC_ABORTED)
    return gone(*operation.peer);
  return Status(operation.error);
}

void launch(Operation& operation) {
  Peer& peer = *operation.peer;
  if (operation.total == 0) return complete(operation, MPI_SUCCESS);
  if (wants_answer(operation)) {
    operation.id = outbound().ids.add(&operation, p2p::Role::kSend);
    if (!operation.id) {
      operation.refusal.code = MPI_ERR_NO_MEM;
      return complete(operation, MPI_ERR_NO_MEM);
    }
  }
  if (is_gone(peer)) return complete(operation, MPI_ERR_PROC_ABORTED);
  peer.queue.push_back(&operation);
  pump(peer);
  if (!peer.queue.empty() && !peer.busy.linked()) outbound().busy.push_back(&peer);
}

int pump(Peer& peer) {
  int sent = 0;
  while (Operation* operation = peer.queue.front()) {
    while (operation->sent < operation->total) {
      if (!send_next(*operation)) return sent;
      ++sent;
      if (peer.queue.front() != operation) break;  // its last answer came at once
    }
    if (peer.queue.front() != operation) continue;
    operation->place.unlink();
    if (!operation->id) complete(*operation, MPI_SUCCESS);
  }
  if (peer.busy.linked()) peer.busy.unlink();
  return sent;
}

bool on_answer(Peer& peer, uint32_t id, const char* body, size_t bytes) {
  auto* operation = static_cast<Operation*>(outbound().ids.find(id, p2p::Role::kSend));
  if (!operation || operation->peer != &peer || bytes < sizeof(AnswerHead) || peer.answers == 0) return false;
  AnswerHead head;
  std::memcpy(&head, body, sizeof head);
  const size_t data = bytes - sizeof head;
  if (head.bytes == 0 || head.bytes > operation->sent - operation->answered) return false;
  if (head.position > operation->sent || head.bytes > operation->sent - head.position) return false;
  if (data != (head.refusal.code == MPI_SUCCESS ? head.bytes : 0)) return false;
  --peer.answers;
  if (head.refusal.code != MPI_SUCCESS) {
    keep_first(operation->refusal, head.refusal);
  } else if (operation->refusal.code == MPI_SUCCESS) {
    operation->result.seek(head.position);
    operation->result.unpack(body + sizeof head, data);
  }
  operation->answered += head.bytes;
  if (operation->answered == operation->total) complete(*operation, operation->refusal.code);
  return true;
}

void abandon(Peer& peer) {
  while (Operation* operation = peer.queue.front()) complete(*operation, MPI_ERR_PROC_ABORTED);
  outbound().ids.each([&](object::Request* request, p2p::Role) {
    Operation& operation = static_cast<Operation&>(*request);
    if (operation.peer == &peer) complete(operation, MPI_ERR_PROC_ABORTED);
  });
  peer.answers = 0;
  if (peer.busy.linked()) peer.busy.unlink();
}

void ask_flush(Peer& peer, Packet packet) {
  peer.dirty = false;
  ++peer.flushes;
  peer::connection(peer.proc).post(envelope(packet, peer.window->comm->context), nullptr, 0);
}

Status flush_local(Peer& peer) {
  VICINITY_TRY(drain(peer));
  return refused(peer, std::exchange(peer.refused, Refusal{}));
}

Status flush(Peer& peer) {
  VICINITY_TRY(drain(peer));
  if (peer.dirty) ask_flush(peer, Packet::kFlush);
  const uint32_t wanted = peer.flushes;
  VICINITY_TRY(await(peer, [&] { return static_cast<int32_t>(peer.flushed - wanted) >= 0; }));
  return refused(peer, std::exchange(peer.refused, Refusal{}));
}

}  // namespace vicinity::rma
