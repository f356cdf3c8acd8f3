// SPDX-License-Identifier: BSD-3-Clause
// The life of a transfer: made, complete, described, freed; and the shared requests that are always done.
#include <mpi-ext.h>

#include <cinttypes>

#include "object/pool.h"
#include "p2p/engine.h"

namespace vicinity::p2p {
namespace {

Status start_send(object::Request& request) {
  launch_send(static_cast<Transfer&>(request));
  return object::kOk;
}
Status start_receive(object::Request& request) {
  launch_receive(static_cast<Transfer&>(request));
  return object::kOk;
}

void free_nothing(object::Request&) {}
const object::RequestOps kDoneOps{nullptr, nullptr, nullptr, free_nothing};

struct DoneRequest : object::Request {
  DoneRequest(int source) {
    kind = object::Kind::kRequest;
    handle = reinterpret_cast<uintptr_t>(this);
    ops = &kDoneOps;
    complete = true;
    status.MPI_SOURCE = source;
  }
};
DoneRequest the_done_send(MPI_ANY_SOURCE);
DoneRequest the_done_null_receive(MPI_PROC_NULL);

}  // namespace

object::Request& done_send = the_done_send;
object::Request& done_null_receive = the_done_null_receive;

const object::RequestOps kSendOps{start_send, cancel_send, describe, free_transfer};
const object::RequestOps kReceiveOps{start_receive, cancel_receive, describe, free_transfer};

void free_transfer(object::Request& request) {
  Transfer& transfer = static_cast<Transfer&>(request);
  object::release(transfer.type);
  object::release(transfer.comm);
  give_transfer(&transfer);
}

Status measure(MPI_Count count, const Datatype& type, uint64_t& bytes) {
  MPI_Count product = 0;
  if (__builtin_mul_overflow(count, type.size, &product))
    return object::fail(MPI_ERR_COUNT, "%lld elements of %lld bytes are more than 2^63 bytes",
                        static_cast<long long>(count), static_cast<long long>(type.size));
  bytes = static_cast<uint64_t>(product);
  return object::kOk;
}

object::Result<Transfer*> make_transfer(bool sending, const void* buf, MPI_Count count, Datatype& type,
                                        int rank, int tag, Communicator& comm, Lane lane, Mode mode) {
  uint64_t bytes = 0;
  VICINITY_TRY(measure(count, type, bytes));
  Transfer* t = take_transfer();
  if (!t) return object::fail(MPI_ERR_NO_MEM, "no memory for one more request");
  t->ops = sending ? &kSendOps : &kReceiveOps;
  t->comm = object::retain(&comm);
  t->buf = const_cast<void*>(buf);
  t->count = count;
  t->type = object::retain(&type);
  t->rank = rank;
  t->tag = tag;
  t->context = comm.wire_context(lane);
  t->peer = rank >= 0 ? comm.proc(rank) : kAnyProc;
  t->sending = sending;
  t->mode = mode;
  t->bytes = bytes;
  t->dense = type.dense || bytes == 0 ? static_cast<char*>(object::data_start(buf, type)) : nullptr;
  return t;
}

void complete(Transfer& transfer, int error) {
  if (transfer.id) {
    engine().ids.remove(transfer.id);
    transfer.id = 0;
  }
  transfer.stage = Stage::kIdle;
  transfer.error = error;
  transfer.complete = true;
  if (transfer.done) transfer.done(transfer);
  if (transfer.staged) {
    give_payload(transfer.staged, transfer.staged_bytes);
    transfer.staged = nullptr;
  }
  if (!transfer.user_freed) return;
  if (transfer.sending) --engine().freed_sends;
  free_transfer(transfer);
}

Status describe(object::Request& request) {
  if (request.error == MPI_SUCCESS) return object::kOk;
  const Transfer& t = static_cast<Transfer&>(request);
  switch (request.error) {
    case MPI_ERR_TRUNCATE:
      return object::fail(MPI_ERR_TRUNCATE,
                          "the message from rank %d with tag %d is truncated: it has %" PRIu64
                          " bytes, the receive buffer has room for %" PRIu64,
                          t.status.MPI_SOURCE, t.status.MPI_TAG, t.length, t.bytes);
    case MPI_ERR_PROC_ABORTED: {
      Proc peer = t.sending || t.peer != kAnyProc ? t.peer : t.from;
      if (!engine().is_lost(peer) && engine().lost_member(*t.comm) != kAnyProc)
        peer = engine().lost_member(*t.comm);
      const char* why = engine().lost_reason(peer);
      if (why && t.comm->peers().rank_of(peer) == MPI_UNDEFINED)
        return object::fail(
            MPI_ERR_PROC_ABORTED,
            "%s rank %d failed: process %u, a member of the same intercommunicator, is gone (%s)",
            t.sending ? "sending to" : "receiving from", t.rank, peer, why);
      return object::fail(MPI_ERR_PROC_ABORTED, "%s rank %d failed: process %u is gone (%s)",
                          t.sending ? "sending to" : "receiving from", rank_of(*t.comm, peer), peer,
                          why ? why : "no connection");
    }
    case MPIX_ERR_PROC_FAILED_PENDING:
      return object::fail(MPIX_ERR_PROC_FAILED_PENDING,
                          "receiving from any source goes on after MPIX_Comm_ack_failed: process %u is gone",
                          engine().failed(*t.comm).back());
    case MPIX_ERR_REVOKED:
      return object::fail(MPIX_ERR_REVOKED, "%s rank %d failed: the communicator has been revoked",
                          t.sending ? "sending to" : "receiving from", t.rank);
    case MPI_ERR_NO_MEM:
      return object::fail(MPI_ERR_NO_MEM, "no memory for a message of %" PRIu64 " bytes %s rank %d", t.bytes,
                          t.sending ? "to" : "from", t.rank);
    default:
      return Status(request.error);
  }
}

}  // namespace vicinity::p2p
