// SPDX-License-Identifier: BSD-3-Clause
// Partitioned communication (MPI 5.0, chapter 4).
//
// MPI_Psend_init sends an ordinary message on Lane::kPartitioned that tells its id and size;
// MPI_Precv_init receives it, so the two are matched once, in order, by the usual rules. In each round the
// receiver says kPartReady when it is started; from then on every partition that is ready goes as
// kPartData messages, each with its offset. The two sides may divide the same bytes differently: the
// receiver counts what has arrived in each of its own partitions.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "entry_p2p.h"
#include "object/pool.h"
#include "p2p/completion.h"
#include "p2p/engine.h"

namespace vicinity::p2p {

struct Partitioned : object::Request {
  bool sending = false;
  bool met = false;  // receiver: knows its sender
  void* buf = nullptr;
  MPI_Count count = 0;  // elements of all partitions
  Datatype* type = nullptr;
  int rank = 0;
  Proc peer = kAnyProc;
  char* dense = nullptr;
  uint64_t bytes = 0;  // of all partitions
  uint64_t partition_bytes = 0;
  uint64_t wanted = 0;  // bytes that travel in a round: the smaller of the two sides
  uint32_t id = 0;
  uint32_t peer_id = 0;
  Transfer* hello = nullptr;  // receiver: waits for the sender's init message
  int64_t rounds = 0;         // sender: how often the receiver has started, less our own rounds done
  object::PackCursor cursor;
  // Sender, this round.
  std::vector<uint8_t> marked;  // by partition: MPI_Pready was called
  std::vector<int> queue;       // partitions in that order
  size_t next = 0;              // first of them that is not gone
  uint64_t sent = 0;            // bytes of it that are gone
  std::vector<char> chunk;      // packed and not gone: chunk_bytes
  size_t chunk_bytes = 0;
  bool told = false;            // the empty message that ends a round without bytes is gone
  // Receiver, this round.
  std::vector<uint64_t> arrived;  // bytes, by partition
  uint64_t arrived_bytes = 0;

  int partitions() const { return static_cast<int>(sending ? marked.size() : arrived.size()); }
  uint64_t begin(int partition) const { return static_cast<uint64_t>(partition) * partition_bytes; }
  // The end of the bytes of a partition that travel.
  uint64_t end(int partition) const { return std::min(begin(partition) + partition_bytes, wanted); }
};

}  // namespace vicinity::p2p

template <>
struct vicinity::object::HandleTraits<vicinity::p2p::Partitioned> {
  using Handle = MPI_Request;
  static constexpr Kind kKind = Kind::kRequest;
};

namespace vicinity::p2p {
namespace {

constexpr size_t kChunk = 16 << 10;

void finish_round(Partitioned& p, int error) {
  if (p.link.linked()) p.link.unlink();
  if (p.sending) {
    --p.rounds;
  } else {
    object::set_bytes(p.status, static_cast<MPI_Count>(p.arrived_bytes));
  }
  mark_complete(p, error);
}

// Sender: everything that can go is in the list of streams.
void schedule(Partitioned& p) {
  if (p.rounds <= 0 || p.complete) return;
  if (p.next == p.marked.size() && (p.wanted > 0 || p.told)) return finish_round(p, MPI_SUCCESS);
  const bool more = p.next < p.queue.size() || p.next == p.marked.size();
  if (more && !p.link.linked()) engine().part_streams.push_back(&p);
}

// Receiver: tells the sender to send, as soon as both are known to each other and this side has started.
void begin_round(Partitioned& p) {
  if (!p.met) return;
  const PartReadyBody body{p.bytes, p.id, 0};
  peer::connection(p.peer).post(envelope(Packet::kPartReady, 0, 0, p.peer_id), &body, sizeof body);
}

// The sender's init message has come (or never will).
void on_hello(Transfer& transfer) {
  auto* p = static_cast<Partitioned*>(transfer.owner);
  PartInitBody body;
  std::memcpy(&body, transfer.buf, sizeof body);
  p->hello = nullptr;
  transfer.user_freed = true;  // complete() gives it back
  if (transfer.error != MPI_SUCCESS) {
    p->error = MPI_ERR_PROC_ABORTED;
    if (!p->complete) finish_round(*p, p->error);
    return;
  }
  p->peer_id = body.sender;
  p->wanted = std::min(body.bytes, p->bytes);
  if (body.bytes > p->bytes) p->error = MPI_ERR_TRUNCATE;
  p->met = true;
  if (p->active && !p->complete) begin_round(*p);
}

Status start_sender(Partitioned& p) {
  std::fill(p.marked.begin(), p.marked.end(), uint8_t{0});
  p.queue.clear();
  p.next = 0;
  p.sent = 0;
  p.chunk_bytes = 0;
  p.told = false;
  return object::kOk;
}

Status start_receiver(Partitioned& p) {
  std::fill(p.arrived.begin(), p.arrived.end(), uint64_t{0});
  p.arrived_bytes = 0;
  p.status.MPI_SOURCE = p.rank;
  begin_round(p);
  return object::kOk;
}

Status start_partitioned(object::Request& request) {
  Partitioned& p = static_cast<Partitioned&>(request);
  p.complete = false;
  if (p.rank == MPI_PROC_NULL) {
    p.status.MPI_SOURCE = MPI_PROC_NULL;
    p.status.MPI_TAG = MPI_ANY_TAG;
    if (p.sending) start_sender(p).code();
    return p.complete = true, object::kOk;
  }
  if (engine().is_lost(p.peer)) return mark_complete(p, MPI_ERR_PROC_ABORTED), object::kOk;
  return p.sending ? start_sender(p) : start_receiver(p);
}

Status describe_partitioned(object::Request& request) {
  const Partitioned& p = static_cast<Partitioned&>(request);
  if (p.error == MPI_ERR_TRUNCATE)
    return object::fail(MPI_ERR_TRUNCATE,
                        "the partitions of the sender (rank %d) have more bytes than the %" PRIu64
                        " of the receiver",
                        p.rank, p.bytes);
  if (p.error == MPI_ERR_PROC_ABORTED) {
    const char* why = engine().lost_reason(p.peer);
    return object::fail(MPI_ERR_PROC_ABORTED,
                        "partitioned communication with rank %d failed: process %u is gone (%s)", p.rank,
                        p.peer, why ? why : "no connection");
  }
  return Status(p.error);
}

void free_partitioned(object::Request& request) {
  Partitioned& p = static_cast<Partitioned&>(request);
  if (p.link.linked()) p.link.unlink();
  if (p.id) engine().ids.remove(p.id);
  if (Transfer* hello = p.hello) {
    hello->done = nullptr;
    hello->user_freed = true;
    static_cast<void>(cancel_receive(*hello));  // completes and frees it, unless it is landing now
  }
  object::release(p.type);
  object::release(p.comm);
  object::destroy(&p);
}

const object::RequestOps kPartitionedOps{start_partitioned, nullptr, describe_partitioned, free_partitioned};

object::Result<Partitioned*> make_partitioned(bool sending, const void* buf, int partitions, MPI_Count count,
                                              Datatype& type, int rank, Communicator& comm) {
  if (partitions <= 0)
    return object::fail(MPI_ERR_ARG, "argument `partitions` is %d; it must be positive", partitions);
  uint64_t partition_bytes = 0, bytes = 0;
  VICINITY_TRY(measure(count, type, partition_bytes));
  if (__builtin_mul_overflow(partition_bytes, static_cast<uint64_t>(partitions), &bytes) || bytes > INT64_MAX)
    return object::fail(MPI_ERR_COUNT, "%d partitions of %" PRIu64 " bytes are more than 2^63 bytes",
                        partitions, partition_bytes);
  Partitioned* p = object::make<Partitioned>();
  if (!p) return object::fail(MPI_ERR_NO_MEM, "no memory for one more request");
  p->ops = &kPartitionedOps;
  p->comm = object::retain(&comm);
  p->persistent = p->complete = true;
  p->active = false;
  p->sending = sending;
  p->buf = const_cast<void*>(buf);
  p->count = count * partitions;
  p->type = object::retain(&type);
  p->rank = rank;
  p->peer = rank >= 0 ? comm.proc(rank) : kAnyProc;
  p->partition_bytes = partition_bytes;
  p->bytes = bytes;
  p->dense = type.dense || bytes == 0 ? static_cast<char*>(object::data_start(buf, type)) : nullptr;
  if (sending) {
    p->marked.resize(static_cast<size_t>(partitions));
  } else {
    p->arrived.resize(static_cast<size_t>(partitions));
  }
  if (rank != MPI_PROC_NULL) p->id = engine().ids.add(p, sending ? Role::kPartSend : Role::kPartReceive);
  return p;
}

// The init message, sent or received from memory of its own.
Status say_hello(Partitioned& p, int tag) {
  if (p.rank == MPI_PROC_NULL) return object::kOk;
  PartInitBody body{p.bytes, p.id, static_cast<uint32_t>(p.partitions())};
  char* memory = p.id ? take_payload(sizeof body) : nullptr;
  if (!memory) return object::fail(MPI_ERR_NO_MEM, "no memory for one more partitioned request");
  std::memcpy(memory, &body, sizeof body);
  auto made = make_transfer(p.sending, memory, sizeof body, object::builtin(MPI_BYTE), p.rank, tag, *p.comm,
                            Lane::kPartitioned, Mode::kStandard);
  if (!made.ok()) {
    give_payload(memory, sizeof body);
    return made.status();
  }
  Transfer& hello = **made;
  hello.staged = memory;
  hello.staged_bytes = sizeof body;
  if (p.sending) {
    hello.user_freed = true;
    ++engine().freed_sends;
    launch_send(hello);
  } else {
    hello.owner = &p;
    hello.done = on_hello;
    p.hello = &hello;
    launch_receive(hello);
  }
  return object::kOk;
}

Status init(bool sending, const void* buf, int partitions, MPI_Count count, Datatype& type, int rank, int tag,
            Communicator& comm, MPI_Request* request) {
  auto made = make_partitioned(sending, buf, partitions, count, type, rank, comm);
  VICINITY_TRY(made.status());
  Partitioned& p = **made;
  p.status.MPI_TAG = tag;
  if (Status said = say_hello(p, tag); !said.ok()) {
    free_partitioned(p);
    return said;
  }
  *request = object::handle_of(p);
  return object::kOk;
}

// The request of a call, which must be partitioned and of the right direction.
Status find(MPI_Request handle, bool sending, Partitioned*& p) {
  Request* request = nullptr;
  VICINITY_TRY(resolve(handle, request));
  p = request && request->ops == &kPartitionedOps ? static_cast<Partitioned*>(request) : nullptr;
  if (p && p->sending == sending) return object::kOk;
  return object::fail(MPI_ERR_REQUEST, "argument `request` is no partitioned %s request",
                      sending ? "send" : "receive");
}

Status check_partition(const Partitioned& p, int partition) {
  if (partition >= 0 && partition < p.partitions()) return object::kOk;
  return object::fail(MPI_ERR_ARG, "partition %d does not exist; the request has %d", partition,
                      p.partitions());
}

Status ready(Partitioned& p, int partition) {
  VICINITY_TRY(check_partition(p, partition));
  if (!p.active)
    return object::fail(MPI_ERR_REQUEST, "the partitioned send is not started; call MPI_Start first");
  uint8_t& mark = p.marked[static_cast<size_t>(partition)];
  if (mark) return object::fail(MPI_ERR_ARG, "partition %d is marked ready already", partition);
  mark = 1;
  if (p.complete) return object::kOk;  // to MPI_PROC_NULL, or the peer is gone
  p.queue.push_back(partition);
  schedule(p);
  return object::kOk;
}

// What to send next: [at, at + bytes) of the current partition; packs it where needed.
const char* next_chunk(Partitioned& p, uint64_t at, size_t& bytes) {
  if (p.dense) return p.dense + at;
  if (p.chunk_bytes == 0) {
    p.chunk.resize(kChunk);
    p.cursor.reset(p.buf, p.count, *p.type);
    p.cursor.seek(at);
    p.chunk_bytes = p.cursor.pack(p.chunk.data(), std::min(bytes, p.chunk.size()));
  }
  bytes = p.chunk_bytes;
  return p.chunk.data();
}

}  // namespace

bool part_is_of(object::Request& request, Proc proc) {
  return static_cast<Partitioned&>(request).peer == proc;
}

void part_lost(object::Request& request) {
  Partitioned& p = static_cast<Partitioned&>(request);
  if (p.complete) {
    p.error = MPI_ERR_PROC_ABORTED;
  } else {
    finish_round(p, MPI_ERR_PROC_ABORTED);
  }
}

void on_part_ready(Proc from, uint32_t sender, const PartReadyBody& body) {
  auto* p = static_cast<Partitioned*>(engine().ids.find(sender, Role::kPartSend));
  if (!p) return;  // freed before its partner was started
  if (p->peer != from) return engine().liar(from, "it started a partitioned message of another process");
  p->peer_id = body.receiver;
  p->wanted = std::min(p->bytes, body.bytes);
  ++p->rounds;
  if (p->active) schedule(*p);
}

int pump_part(object::Request& request) {
  Partitioned& p = static_cast<Partitioned&>(request);
  peer::VirtualConnection& connection = peer::connection(p.peer);
  const size_t chunk = std::min(kChunk, connection.largest());
  int events = 0;
  while (p.next < p.queue.size()) {
    const int partition = p.queue[p.next];
    const uint64_t at = p.begin(partition) + p.sent;
    if (at >= p.end(partition)) {  // gone, or beyond what the receiver wants
      ++p.next;
      p.sent = 0;
      continue;
    }
    size_t bytes = std::min<uint64_t>(chunk, p.end(partition) - at);
    const char* data = next_chunk(p, at, bytes);
    const channel::Answer answer =
        connection.try_send(data_envelope(Packet::kPartData, at, p.peer_id), data, bytes);
    if (answer == channel::Answer::kRetry) return events;
    ++events;
    if (answer == channel::Answer::kFailed) return finish_round(p, MPI_ERR_PROC_ABORTED), events;
    p.chunk_bytes = 0;
    p.sent += bytes;
    engine().counters.streamed_bytes += bytes;
  }
  // A round without bytes ends at the receiver by an empty message, after the last MPI_Pready.
  if (p.wanted == 0 && p.next == p.marked.size()) {
    const channel::Answer answer =
        connection.try_send(data_envelope(Packet::kPartData, 0, p.peer_id), nullptr, 0);
    if (answer == channel::Answer::kRetry) return events;
    ++events;
    if (answer == channel::Answer::kFailed) return finish_round(p, MPI_ERR_PROC_ABORTED), events;
    p.told = true;
  }
  p.link.unlink();
  schedule(p);
  return events;
}

channel::Landing land_part(Proc from, const Envelope& e, size_t bytes) {
  auto* p = static_cast<Partitioned*>(engine().ids.find(e.word, Role::kPartReceive));
  const uint64_t at = data_offset(e);
  if (!p || p->peer != from || p->complete || !p->met || (bytes == 0) != (p->wanted == 0) || at > p->wanted ||
      bytes > p->wanted - at) {
    engine().liar(from, "data of a partition came that nobody asked for");
    return {};
  }
  Arrival* arrival = take_arrival();
  if (!arrival) return {};
  arrival->from = from;
  arrival->envelope = e;
  arrival->part = p;
  if (!p->dense && bytes > 0) {
    arrival->data = take_payload(bytes);
    arrival->data_bytes = arrival->data ? bytes : 0;
  }
  engine().landings.push_back(arrival);
  if (p->dense) return {p->dense + at, bytes, arrival};
  return {arrival->data, arrival->data ? bytes : 0, arrival};
}

void landed_part(Arrival& arrival, size_t bytes) {
  Partitioned& p = *static_cast<Partitioned*>(arrival.part);
  const uint64_t at = data_offset(arrival.envelope);
  if (arrival.data) {
    p.cursor.reset(p.buf, p.count, *p.type);
    p.cursor.seek(at);
    p.cursor.unpack(arrival.data, bytes);
  } else if (!p.dense && bytes > 0) {
    p.error = MPI_ERR_NO_MEM;
  }
  give_arrival(&arrival);
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t partition = (at + done) / p.partition_bytes;
    const uint64_t here = std::min<uint64_t>(bytes - done, (partition + 1) * p.partition_bytes - (at + done));
    p.arrived[partition] += here;
    done += here;
  }
  p.arrived_bytes += bytes;
  if (p.arrived_bytes >= p.wanted) finish_round(p, p.error);
}

namespace entry {

Status psend_init(const void* buf, int partitions, MPI_Count count, Datatype& type, int dest, int tag,
                  Communicator& comm, object::Info*, MPI_Request* request) {
  return init(true, buf, partitions, count, type, dest, tag, comm, request);
}

Status precv_init(void* buf, int partitions, MPI_Count count, Datatype& type, int source, int tag,
                  Communicator& comm, object::Info*, MPI_Request* request) {
  if (source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG)
    return object::fail(source == MPI_ANY_SOURCE ? MPI_ERR_RANK : MPI_ERR_TAG,
                        "partitioned receives take neither MPI_ANY_SOURCE nor MPI_ANY_TAG");
  return init(false, buf, partitions, count, type, source, tag, comm, request);
}

Status pready(int partition, MPI_Request handle) {
  Partitioned* p = nullptr;
  VICINITY_TRY(find(handle, true, p));
  return ready(*p, partition);
}

Status pready_range(int low, int high, MPI_Request handle) {
  Partitioned* p = nullptr;
  VICINITY_TRY(find(handle, true, p));
  VICINITY_TRY(check_partition(*p, low));
  VICINITY_TRY(check_partition(*p, high));
  if (low > high) return object::fail(MPI_ERR_ARG, "the range of partitions %d to %d is empty", low, high);
  for (int i = low; i <= high; ++i) VICINITY_TRY(ready(*p, i));
  return object::kOk;
}

Status pready_list(int length, const int* partitions, MPI_Request handle) {
  Partitioned* p = nullptr;
  VICINITY_TRY(find(handle, true, p));
  for (int i = 0; i < length; ++i) VICINITY_TRY(ready(*p, partitions[i]));
  return object::kOk;
}

Status parrived(MPI_Request handle, int partition, int* flag) {
  *flag = 1;
  if (handle == MPI_REQUEST_NULL) return object::kOk;
  Partitioned* p = nullptr;
  VICINITY_TRY(find(handle, false, p));
  VICINITY_TRY(check_partition(*p, partition));
  auto here = [&] {
    if (p->complete) return true;
    if (!p->met) return false;
    const uint64_t begin = p->begin(partition), end = p->end(partition);
    return begin < end && p->arrived[static_cast<size_t>(partition)] >= end - begin;
  };
  if (!here()) base::look();
  *flag = here();
  return object::kOk;
}

}  // namespace entry
}  // namespace vicinity::p2p
