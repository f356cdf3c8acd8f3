// SPDX-License-Identifier: BSD-3-Clause
// The engine: all state of point-to-point, and the sink of every channel.
//
// What arrives is dispatched in engine.cc; each protocol is in its own file:
//   send.cc        eager and the announcement of large messages
//   receive.cc     posting, matching, delivery
//   rendezvous.cc  single copy, and the pipeline of data messages
//   offer.cc       large messages that an adapter moves from buffer to buffer
//   cancel.cc  partitioned.cc  persistent.cc  buffered.cc  probe.cc
// Everything runs under base::engine_lock. Completing a request may free it: after complete() nobody
// touches a transfer unless it owns it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/progress.h"
#include "p2p/direct.h"
#include "p2p/early.h"
#include "p2p/ids.h"
#include "p2p/match.h"
#include "p2p/transfer.h"

namespace vicinity::p2p {

struct Partitioned;

// A receive for which the channel fetches a message. It outlives the receive when the peer is lost.
struct Fetching : channel::Fetch {
  base::Link place;
  Transfer* receive = nullptr;
  Proc from = 0;
};

class Engine final : public channel::Sink, public base::Poller {
 public:
  channel::Landing land(Proc from, const Envelope& envelope, size_t bytes) override;
  void landed(const channel::Landing& landing, size_t bytes) override;
  void offered(Proc from, const Envelope& envelope, size_t bytes, void* offer) override;
  void lost(Proc from, const char* why) override;
  int poll() override;  // moves streams on

  // The peer sent what no correct peer sends.
  void liar(Proc from, const char* what);
  bool is_lost(Proc proc) const { return !lost_.empty() && lost_reason(proc) != nullptr; }
  Proc lost_member(const Communicator& comm) const;  // kAnyProc: none
  const char* lost_reason(Proc proc) const;          // nullptr: not lost
  // Has anything happened (a loss, a revocation) that makes a transfer look closer before it waits?
  bool troubled = false;
  // The lost ones among all members, in the order in which this process learned of them.
  std::vector<Proc> failed(const Communicator& comm) const;

  Counters counters;
  Contexts contexts{counters};
  Ids ids;
  base::List<Transfer, &Transfer::place> streams;
  base::List<object::Request, &object::Request::link> part_streams;  // partitioned sends with work to do
  base::List<Arrival, &Arrival::by_order> landings;
  std::unordered_map<uint32_t, Communicator*> communicators;  // by context
  EarlyRevocations early;
  FreedContexts freed;
  Direct direct;
  base::List<Fetching, &Fetching::place> fetches;
  uint64_t next_stamp = 0;
  uint64_t freed_sends = 0;   // sends that the user has freed and that are not complete
  std::vector<char> scratch;  // for one packed eager message, never kept across a wait
  bool registered = false;    // with base::progress
  channel::Sink* one_sided = nullptr;
  Survival* survival = nullptr;

 private:
  struct Lost {
    Proc proc;
    std::string why;
  };
  channel::Landing land_one_sided(Proc from, const Envelope& envelope, size_t bytes);
  void control(Arrival& arrival, size_t bytes);
  std::vector<Lost> lost_;
};

extern Engine* current_engine;  // one per process; tests put several in one process
inline Engine& engine() { return *current_engine; }

// What p2p/ remembers of a communicator, made at its first message.
struct CommState {
  Context* lanes[object::kLanes] = {};
  bool identity = false;         // rank == proc
  size_t acknowledged = 0;       // of Engine::failed(), from the first on
  std::vector<int32_t> rank_of;  // by proc, when not identity
};
CommState& state(Communicator& comm);
inline Context& context_of(Communicator& comm, Lane lane) {
  CommState& s = state(comm);
  Context*& context = s.lanes[static_cast<uint32_t>(lane)];
  if (!context) context = &engine().contexts.of(comm.wire_context(lane));
  return *context;
}
int rank_of(Communicator& comm, Proc proc);  // among comm.peers(); MPI_UNDEFINED when no member

// transfer.cc
extern const object::RequestOps kSendOps, kReceiveOps;
extern object::Request& done_send;          // shared complete requests that nobody frees
extern object::Request& done_null_receive;  // of a receive from MPI_PROC_NULL
Status measure(MPI_Count count, const Datatype& type, uint64_t& bytes);
// A filled transfer, not launched.
object::Result<Transfer*> make_transfer(bool sending, const void* buf, MPI_Count count, Datatype& type,
                                        int rank, int tag, Communicator& comm, Lane lane, Mode mode);
void complete(Transfer& transfer, int error = MPI_SUCCESS);
void free_transfer(object::Request& transfer);
Status describe(object::Request& transfer);  // the error of a complete transfer, with its words

// send.cc
size_t eager_limit(const peer::VirtualConnection& connection);
void launch_send(Transfer& transfer);
const void* packed(const void* buf, MPI_Count count, const Datatype& type, uint64_t bytes);

// receive.cc
void launch_receive(Transfer& transfer);
// Gives a message that was in (or is not in any) unexpected queue to a receive; frees `arrival`.
void deliver(Transfer& receive, Arrival* arrival);
void finish_receive(Transfer& receive);
void set_matched(Transfer& receive, Proc from, int32_t tag, uint64_t length);
channel::Landing land_eager(Proc from, const Envelope& envelope, size_t bytes);
void landed_eager(Arrival& arrival, size_t bytes);
// Room for the payload of a message; without memory the arrival has an error.
void take_room(Arrival& arrival, size_t bytes);

// rendezvous.cc
void landed_rts(Arrival& arrival);
void begin_read(Transfer& receive, Proc from, uint32_t sender, const RtsBody& rts, bool readable);
channel::Landing land_data(Proc from, const Envelope& envelope, size_t bytes);
void landed_data(Arrival& arrival, size_t bytes);
void on_cts(Proc from, uint32_t sender, const CtsBody& cts);
void on_fin(Proc from, uint32_t sender);
int pump(Transfer& stream);

// offer.cc
void start_offer(Transfer& send, peer::VirtualConnection& connection);
void begin_fetch(Transfer& receive, Proc from, void* offer, uint64_t bytes);
void on_offer_answer(Transfer& send, bool cancelled);
void lose_fetches(Proc from);

// cancel.cc
Status cancel_send(object::Request& request);
Status cancel_receive(object::Request& request);
void on_cancel(Proc from, const Envelope& envelope);
void on_cancel_answer(Proc from, const Envelope& envelope);
void set_cancelled(MPI_Status& status, bool cancelled);
bool get_cancelled(const MPI_Status& status);

// failure.cc
// Why this transfer would wait in vain: an error class, or MPI_SUCCESS.
int obstacle(Transfer& transfer);
// A receive from MPI_ANY_SOURCE that waits while there is a failure without acknowledgement: complete with
// MPIX_ERR_PROC_FAILED_PENDING for the completion functions, and posted all the same.
bool unacknowledged(const Communicator& comm);
void suspend_posted(Transfer& receive);
bool is_suspended(const object::Request& request);
// Ends what waits in these lanes of a communicator: receives now, sends when the peer has not matched them.
void interrupt(Communicator& comm, Lane lane, int error);
void member_lost(Proc proc);

// revoke.cc
void on_revoke(Proc from, uint32_t context);
channel::Landing land_survival(Proc from, const Envelope& envelope, size_t bytes);
void landed_survival(Arrival& arrival, size_t bytes);

// partitioned.cc
channel::Landing land_part(Proc from, const Envelope& envelope, size_t bytes);
void landed_part(Arrival& arrival, size_t bytes);
void on_part_ready(Proc from, uint32_t sender, const PartReadyBody& body);
int pump_part(object::Request& request);
bool part_is_of(object::Request& request, Proc proc);
void part_lost(object::Request& request);

// buffered.cc
void drop_buffer(Communicator& comm);
void wait_buffers();

}  // namespace vicinity::p2p
