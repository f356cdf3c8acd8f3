// SPDX-License-Identifier: BSD-3-Clause
// MPI_Isendrecv, MPI_Isendrecv_replace and MPI_Sendrecv_replace (MPI 5.0, 3.10): one request over a send
// and a receive. The replacing forms send from a packed copy of the buffer.
#include "entry_p2p.h"
#include "object/pool.h"
#include "p2p/completion.h"
#include "p2p/engine.h"

namespace vicinity::p2p {
namespace {

struct Pair : object::Request {
  Request* send = nullptr;
  Request* receive = nullptr;
  int open = 0;          // halves that are not complete
  char* copy = nullptr;  // of the buffer, for the replacing forms
  size_t copy_bytes = 0;
};

}  // namespace
}  // namespace vicinity::p2p

template <>
struct vicinity::object::HandleTraits<vicinity::p2p::Pair> {
  using Handle = MPI_Request;
  static constexpr Kind kKind = Kind::kRequest;
};

namespace vicinity::p2p {
namespace {

// The error of the receive, which the status tells about, goes before that of the send.
Status describe_pair(object::Request& request) {
  Pair& pair = static_cast<Pair&>(request);
  pair.status = pair.receive->status;
  for (Request* half : {pair.receive, pair.send})
    if (half->error != MPI_SUCCESS) return half->ops->take ? half->ops->take(*half) : Status(half->error);
  return object::kOk;
}

Status cancel_pair(object::Request&) {
  return object::kOk;  // MPI 5.0, 3.10 does not ask for it: both halves complete as usual
}

void free_pair(object::Request& request) {
  Pair& pair = static_cast<Pair&>(request);
  discard(pair.send);
  discard(pair.receive);
  if (pair.copy) give_payload(pair.copy, pair.copy_bytes);
  object::release(pair.comm);
  object::destroy(&pair);
}

const object::RequestOps kPairOps{nullptr, cancel_pair, describe_pair, free_pair};

void half_done(Transfer& half) {
  Pair& pair = *static_cast<Pair*>(half.owner);
  if (--pair.open == 0) {
    pair.error = pair.receive->error != MPI_SUCCESS ? pair.receive->error : pair.send->error;
    mark_complete(pair, pair.error);
  }
}

// Called with half->complete false only for transfers.
void watch(Pair& pair, Request* half) {
  if (half->complete) return;
  ++pair.open;
  Transfer& transfer = *static_cast<Transfer*>(half);
  transfer.owner = &pair;
  transfer.done = half_done;
}

struct Half {
  const void* buf;
  MPI_Count count;
  Datatype* type;
  int rank;
  int tag;
};

// Takes over `copy`.
Status start_pair(const Half& from, const Half& to, Communicator& comm, char* copy, size_t copy_bytes,
                  Pair** made) {
  Pair* pair = object::make<Pair>();
  if (!pair) {
    if (copy) give_payload(copy, copy_bytes);
    return object::fail(MPI_ERR_NO_MEM, "no memory for one more request");
  }
  pair->ops = &kPairOps;
  pair->comm = object::retain(&comm);
  pair->copy = copy;
  pair->copy_bytes = copy_bytes;
  pair->send = &done_send;
  pair->receive = &done_null_receive;
  Status started = p2p::irecv(const_cast<void*>(to.buf), to.count, *to.type, to.rank, to.tag, comm,
                              Lane::kUser, &pair->receive);
  if (started.ok())
    started = p2p::isend(from.buf, from.count, *from.type, from.rank, from.tag, comm, Lane::kUser,
                         Mode::kStandard, &pair->send);
  if (!started.ok()) {
    if (!pair->receive->complete) static_cast<void>(cancel_receive(*pair->receive));
    await(*pair->receive);
    free_pair(*pair);
    return started;
  }
  watch(*pair, pair->receive);
  watch(*pair, pair->send);
  if (pair->open == 0) {
    pair->error = pair->receive->error != MPI_SUCCESS ? pair->receive->error : pair->send->error;
    pair->complete = true;
  }
  *made = pair;
  return object::kOk;
}

Status start_replace(void* buf, MPI_Count count, Datatype& type, int dest, int sendtag, int source,
                     int recvtag, Communicator& comm, Pair** pair) {
  uint64_t bytes = 0;
  VICINITY_TRY(measure(count, type, bytes));
  char* copy = bytes > 0 ? take_payload(bytes) : nullptr;
  if (bytes > 0 && !copy)
    return object::fail(MPI_ERR_NO_MEM, "no memory for a copy of the %llu bytes to send",
                        static_cast<unsigned long long>(bytes));
  if (copy) object::pack(buf, count, type, copy);
  const Half from{copy, static_cast<MPI_Count>(bytes), &object::builtin(MPI_BYTE), dest, sendtag};
  return start_pair(from, {buf, count, &type, source, recvtag}, comm, copy, bytes, pair);
}

}  // namespace

namespace entry {

Status isendrecv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, int dest, int sendtag,
                 void* recvbuf, MPI_Count recvcount, Datatype& recvtype, int source, int recvtag,
                 Communicator& comm, MPI_Request* request) {
  Pair* pair = nullptr;
  VICINITY_TRY(start_pair({sendbuf, sendcount, &sendtype, dest, sendtag},
                          {recvbuf, recvcount, &recvtype, source, recvtag}, comm, nullptr, 0, &pair));
  *request = object::handle_of(*pair);
  return object::kOk;
}

Status isendrecv_replace(void* buf, MPI_Count count, Datatype& type, int dest, int sendtag, int source,
                         int recvtag, Communicator& comm, MPI_Request* request) {
  Pair* pair = nullptr;
  VICINITY_TRY(start_replace(buf, count, type, dest, sendtag, source, recvtag, comm, &pair));
  *request = object::handle_of(*pair);
  return object::kOk;
}

Status sendrecv_replace(void* buf, MPI_Count count, Datatype& type, int dest, int sendtag, int source,
                        int recvtag, Communicator& comm, MPI_Status* status) {
  Pair* pair = nullptr;
  VICINITY_TRY(start_replace(buf, count, type, dest, sendtag, source, recvtag, comm, &pair));
  return finish(pair, status);
}

}  // namespace entry
}  // namespace vicinity::p2p
