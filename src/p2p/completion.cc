// SPDX-License-Identifier: BSD-3-Clause
// What the completion functions share; finish() and discard() for the library itself.
#include "p2p/completion.h"

#include "base/progress.h"
#include "p2p/engine.h"

namespace vicinity::p2p {

void give_status(MPI_Status* out, const MPI_Status& in) {
  if (!out) return;
  const int error = out->MPI_ERROR;
  *out = in;
  out->MPI_ERROR = error;
}

void give_empty(MPI_Status* status) {
  if (status) *status = object::empty_status();
}

void blame(const Request& request) {
  // A communicator that only this request keeps alive is gone before the door can ask for its handler.
  Communicator* comm = request.comm;
  if (comm && (comm->predefined() || comm->references.load(std::memory_order_relaxed) > 1))
    object::blame(comm);
}

Status resolve(MPI_Request handle, Request*& request, int index) {
  request = nullptr;
  if (handle == MPI_REQUEST_NULL) return object::kOk;
  request = object::lookup<Request>(handle);
  if (request) [[likely]]
    return object::kOk;
  if (index >= 0)
    return object::fail(MPI_ERR_REQUEST,
                        "element %d of the array of requests (%p) is no request, or was freed", index,
                        static_cast<void*>(handle));
  return object::fail(MPI_ERR_REQUEST, "argument `request` (%p) is no request, or was freed",
                      static_cast<void*>(handle));
}

void await(const Request& request) {
  if (request.complete) return;
  const bool single = request.ops == &kSendOps || request.ops == &kReceiveOps;
  const Proc whom = single ? static_cast<const Transfer&>(request).peer : base::kNobody;
  base::wait_until([&request] { return request.complete; }, whom);
}

int callback_error = MPI_SUCCESS;

Status end(Request& request) {
  callback_error = MPI_SUCCESS;
  request.ops->free(request);
  return Status(callback_error);
}

Status take(Request& request, MPI_Request* handle, MPI_Status* status) {
  Status error = request.ops->take ? request.ops->take(request) : Status(request.error);
  give_status(status, request.status);
  if (!error.ok()) [[unlikely]] {
    blame(request);
    if (is_suspended(request)) return error;
  }
  if (request.persistent) {
    request.active = false;
  } else {
    *handle = MPI_REQUEST_NULL;
    const Status ended = end(request);
    if (error.ok()) error = ended;
  }
  return error;
}

void mark_complete(Request& request, int error) {
  request.error = error;
  request.complete = true;
  if (request.user_freed) request.ops->free(request);
}

namespace {

// A blocking receive does not wait for an acknowledgement.
Status give_up_suspended(Request& request) {
  Transfer& receive = static_cast<Transfer&>(request);
  if (receive.stage == Stage::kPosted) engine().contexts.of(receive.context).unpost(&receive);
  const std::vector<Proc> gone = engine().failed(*receive.comm);
  receive.from = gone.back();
  complete(receive, MPI_ERR_PROC_ABORTED);
  return describe(receive);
}

}  // namespace

Status finish(Request* request, MPI_Status* status) {
  await(*request);
  Status error = request->ops->take ? request->ops->take(*request) : Status(request->error);
  if (!error.ok() && is_suspended(*request)) [[unlikely]]
    error = give_up_suspended(*request);
  give_status(status, request->status);
  if (!error.ok()) blame(*request);
  request->ops->free(*request);
  return error;
}

void discard(Request* request) { request->ops->free(*request); }

bool let_go(Request* request) {
  if (request->complete) {
    discard(request);
    return true;
  }
  request->user_freed = true;
  if (request->ops == &kSendOps) ++engine().freed_sends;  // MPI_Finalize waits for it
  return false;
}

Status sendrecv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, int dest, int sendtag,
                void* recvbuf, MPI_Count recvcount, Datatype& recvtype, int source, int recvtag,
                Communicator& comm, Lane lane, MPI_Status* status) {
  Request *receive = nullptr, *send = nullptr;
  VICINITY_TRY(irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, lane, &receive));
  const Status sent = isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, lane, Mode::kStandard, &send);
  if (!sent.ok()) {  // nothing was sent: the receive must not stay behind with the user's buffer
    if (receive->ops->cancel) static_cast<void>(receive->ops->cancel(*receive));
    static_cast<void>(finish(receive));
    return sent;
  }
  const Status send_error = finish(send);
  const Status receive_error = finish(receive, status);
  return receive_error.ok() ? send_error : receive_error;
}

}  // namespace vicinity::p2p
