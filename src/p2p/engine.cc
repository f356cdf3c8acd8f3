// SPDX-License-Identifier: BSD-3-Clause
// Dispatch of what arrives, loss of peers, start and end.
#include "p2p/engine.h"

#include <cstring>

#include "base/log.h"
#include "peer/peer.h"

namespace vicinity::p2p {
namespace {

Engine the_engine;

// Copies the body of a control message, whose size must be right.
template <class Body>
bool body_of(const Arrival& arrival, size_t bytes, Body& body) {
  if (bytes != sizeof body) return false;
  std::memcpy(&body, arrival.small, sizeof body);
  return true;
}

bool belongs_to(object::Request* request, Role role, Proc proc) {
  if (role == Role::kPartSend || role == Role::kPartReceive) return part_is_of(*request, proc);
  const Transfer& transfer = static_cast<Transfer&>(*request);
  return (transfer.sending ? transfer.peer : transfer.from) == proc;
}

// Tokens of the one-sided sink are told from ours by their lowest bit.
bool is_one_sided(const void* token) { return (reinterpret_cast<uintptr_t>(token) & 1) != 0; }
void* flip_mark(void* token) { return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(token) ^ 1); }

}  // namespace

Engine* current_engine = &the_engine;

const Counters& counters() { return engine().counters; }

channel::Landing Engine::land(Proc from, const Envelope& envelope, size_t bytes) {
  if (!lost_.empty() && is_lost(from)) return {};
  if (envelope.kind >= kFirstOneSided) return land_one_sided(from, envelope, bytes);
  switch (static_cast<Packet>(envelope.kind)) {
    case Packet::kEager:
      return land_eager(from, envelope, bytes);
    case Packet::kData:
      return land_data(from, envelope, bytes);
    case Packet::kPartData:
      return land_part(from, envelope, bytes);
    case Packet::kSurvival:
      return land_survival(from, envelope, bytes);
    default:
      break;
  }
  if (bytes > kLargestControl) {
    liar(from, "a control message is longer than 64 bytes");
    return {};
  }
  Arrival* arrival = take_arrival();
  if (!arrival) return {};
  arrival->from = from;
  arrival->envelope = envelope;
  landings.push_back(arrival);
  return {arrival->small, sizeof arrival->small, arrival};
}

channel::Landing Engine::land_one_sided(Proc from, const Envelope& envelope, size_t bytes) {
  if (!one_sided) {
    liar(from, "a message for a window came, but there was never a window");
    return {};
  }
  channel::Landing landing = one_sided->land(from, envelope, bytes);
  if (landing.token) landing.token = flip_mark(landing.token);
  return landing;
}

void Engine::landed(const channel::Landing& landing, size_t bytes) {
  if (landing.token == &direct) return landed_direct(direct);
  if (is_one_sided(landing.token)) {
    channel::Landing own = landing;
    own.token = flip_mark(landing.token);
    return one_sided->landed(own, bytes);
  }
  Arrival* arrival = static_cast<Arrival*>(landing.token);
  if (!arrival) return;
  arrival->by_order.unlink();
  if (arrival->error == MPI_ERR_PROC_ABORTED) return give_arrival(arrival);
  switch (static_cast<Packet>(arrival->envelope.kind)) {
    case Packet::kEager:
      return landed_eager(*arrival, bytes);
    case Packet::kData:
      return landed_data(*arrival, bytes);
    case Packet::kPartData:
      return landed_part(*arrival, bytes);
    case Packet::kSurvival:
      return landed_survival(*arrival, bytes);
    default:
      return control(*arrival, bytes);
  }
}

void Engine::control(Arrival& arrival, size_t bytes) {
  const Proc from = arrival.from;
  const Envelope envelope = arrival.envelope;
  CtsBody cts;
  PartReadyBody ready;
  switch (static_cast<Packet>(envelope.kind)) {
    case Packet::kRts:
      if (!body_of(arrival, bytes, arrival.rts)) break;
      return landed_rts(arrival);
    case Packet::kCts:
      if (!body_of(arrival, bytes, cts)) break;
      give_arrival(&arrival);
      return on_cts(from, envelope.word, cts);
    case Packet::kFin:
      give_arrival(&arrival);
      return on_fin(from, envelope.word);
    case Packet::kCancel:
      give_arrival(&arrival);
      return on_cancel(from, envelope);
    case Packet::kCancelAnswer:
      give_arrival(&arrival);
      return on_cancel_answer(from, envelope);
    case Packet::kPartReady:
      if (!body_of(arrival, bytes, ready)) break;
      give_arrival(&arrival);
      return on_part_ready(from, envelope.word, ready);
    case Packet::kRevoke:
      give_arrival(&arrival);
      return on_revoke(from, envelope.context);
    case Packet::kAbandon:
      give_arrival(&arrival);
      if (survival) survival->abandoned(from, envelope.context);
      return;
    default:
      break;
  }
  give_arrival(&arrival);
  liar(from, "a control message has an unknown kind or a wrong size");
}

int Engine::poll() {
  int events = 0;
  for (Transfer *stream = streams.front(), *next; stream; stream = next) {
    next = streams.after(stream);
    events += pump(*stream);
  }
  for (object::Request *stream = part_streams.front(), *next; stream; stream = next) {
    next = part_streams.after(stream);
    events += pump_part(*stream);
  }
  return events;
}

const char* Engine::lost_reason(Proc proc) const {
  for (const Lost& peer : lost_)
    if (peer.proc == proc) return peer.why.c_str();
  return nullptr;
}

Proc Engine::lost_member(const Communicator& comm) const {
  for (const Lost& peer : lost_)
    if (comm.has_member(peer.proc)) return peer.proc;
  return kAnyProc;
}

std::vector<Proc> Engine::failed(const Communicator& comm) const {
  std::vector<Proc> procs;
  for (const Lost& peer : lost_)
    if (comm.has_member(peer.proc)) procs.push_back(peer.proc);
  return procs;
}

void Engine::liar(Proc from, const char* what) {
  VICINITY_LOG(kError, "process %u broke the protocol: %s; it is treated as lost", from, what);
  lost(from, what);
}

void Engine::lost(Proc from, const char* why) {
  if (is_lost(from)) return;
  lost_.push_back({from, why});
  troubled = true;
  direct.lost(from);
  for (Arrival *arrival = landings.front(), *next; arrival; arrival = next) {
    next = landings.after(arrival);
    if (arrival->from != from) continue;
    // The channel may still hold this landing and call landed(): the arrival stays, as a discard.
    if (Transfer* transfer = arrival->transfer; transfer && transfer->stage == Stage::kLanding)
      complete(*transfer, MPI_ERR_PROC_ABORTED);
    arrival->transfer = nullptr;
    arrival->error = MPI_ERR_PROC_ABORTED;
  }
  lose_fetches(from);
  ids.each([&](object::Request* request, Role role) {
    if (!belongs_to(request, role, from)) return;
    if (role == Role::kPartSend || role == Role::kPartReceive) return part_lost(*request);
    Transfer& transfer = static_cast<Transfer&>(*request);
    if (transfer.stage == Stage::kQueued || transfer.stage == Stage::kOffered)
      return;  // the connection still holds it and will say so
    if (transfer.stage == Stage::kStreaming) transfer.place.unlink();
    complete(transfer, MPI_ERR_PROC_ABORTED);
  });
  contexts.each([&](Context& context) {
    auto fail_posted = [&](Transfer* transfer) {
      if (transfer->peer == kAnyProc) {
        if (unacknowledged(*transfer->comm)) suspend_posted(*transfer);
        return;
      }
      context.unpost(transfer);
      transfer->from = from;
      complete(*transfer, MPI_ERR_PROC_ABORTED);
    };
    context.each_posted(from, fail_posted);
    context.each_posted(kAnyProc, fail_posted);
  });
  member_lost(from);
  if (one_sided) one_sided->lost(from, why);
  if (survival) survival->lost(from);
}

CommState& state(Communicator& comm) {
  if (comm.p2p) [[likely]]
    return *comm.p2p;
  auto* made = new CommState;
  const auto& procs = comm.peers().procs;
  made->identity = true;
  for (size_t i = 0; i < procs.size(); ++i) made->identity &= procs[i] == i;
  if (!made->identity) {
    for (size_t i = 0; i < procs.size(); ++i) {
      if (procs[i] >= made->rank_of.size()) made->rank_of.resize(procs[i] + 1, MPI_UNDEFINED);
      made->rank_of[procs[i]] = static_cast<int32_t>(i);
    }
  }
  comm.p2p = made;
  return *made;
}

int rank_of(Communicator& comm, Proc proc) {
  const CommState& s = state(comm);
  if (s.identity) return proc < comm.peers().procs.size() ? static_cast<int>(proc) : MPI_UNDEFINED;
  return proc < s.rank_of.size() ? s.rank_of[proc] : MPI_UNDEFINED;
}

Status start() {
  if (!engine().registered) base::add_poller(current_engine);
  engine().registered = true;
  return object::kOk;
}

void set_one_sided(channel::Sink* sink) { engine().one_sided = sink; }
void set_survival(Survival* survival) { engine().survival = survival; }

channel::Sink& sink() { return *current_engine; }

Status drain() {
  wait_buffers();
  base::wait_until([] {
    if (engine().freed_sends > 0 || !engine().streams.empty()) return false;
    for (Proc proc = 0; proc < peer::process_count(); ++proc)
      if (peer::connection(proc).has_work()) return false;
    return true;
  });
  return object::kOk;
}

Status stop() {
  wait_buffers();
  if (engine().registered) base::remove_poller(current_engine);
  engine().registered = false;
  return object::kOk;
}

void forget(Communicator& comm) {
  drop_buffer(comm);
  delete comm.p2p;
  comm.p2p = nullptr;
  const auto known = engine().communicators.find(comm.context);
  if (known != engine().communicators.end() && known->second == &comm) {
    engine().communicators.erase(known);
    engine().freed.add(comm.context);
  }
  for (uint32_t lane = 0; lane < object::kLanes; ++lane)
    engine().contexts.forget(comm.wire_context(static_cast<Lane>(lane)));
}

uint64_t unexpected_count() { return engine().counters.unexpected; }
uint64_t posted_count() { return engine().counters.posted; }

}  // namespace vicinity::p2p
