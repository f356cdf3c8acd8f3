// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests (MPI 5.0, 3.9): a transfer that keeps its arguments and is launched by MPI_Start.
#include "entry_p2p.h"
#include "p2p/buffered.h"
#include "p2p/completion.h"
#include "p2p/engine.h"

namespace vicinity::p2p {
namespace {

Status make_persistent(bool sending, const void* buf, MPI_Count count, Datatype& type, int rank, int tag,
                       Communicator& comm, Mode mode, MPI_Request* handle) {
  auto made = make_transfer(sending, buf, count, type, rank, tag, comm, Lane::kUser, mode);
  VICINITY_TRY(made.status());
  Transfer& transfer = **made;
  if (sending && mode == Mode::kBuffered) transfer.ops = &kBufferedOps;
  transfer.persistent = true;
  transfer.active = false;
  transfer.complete = true;
  *handle = object::handle_of<Request>(transfer);
  return object::kOk;
}

Status start_one(MPI_Request handle, int index) {
  Request* request = nullptr;
  VICINITY_TRY(resolve(handle, request, index));
  if (!request || !request->persistent)
    return object::fail(MPI_ERR_REQUEST, "%s is no persistent request", request ? "it" : "MPI_REQUEST_NULL");
  if (request->active)
    return object::fail(MPI_ERR_REQUEST,
                        "the persistent request is active already; complete it before starting it "
                        "again");
  request->active = true;
  const Status started = request->ops->start(*request);
  if (!started.ok()) request->active = false;
  return started;
}

}  // namespace

namespace entry {

Status send_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm,
                 MPI_Request* request) {
  return make_persistent(true, buf, count, type, dest, tag, comm, Mode::kStandard, request);
}
Status bsend_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm,
                  MPI_Request* request) {
  return make_persistent(true, buf, count, type, dest, tag, comm, Mode::kBuffered, request);
}
Status ssend_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm,
                  MPI_Request* request) {
  return make_persistent(true, buf, count, type, dest, tag, comm, Mode::kSynchronous, request);
}
Status rsend_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm,
                  MPI_Request* request) {
  return make_persistent(true, buf, count, type, dest, tag, comm, Mode::kReady, request);
}
Status recv_init(void* buf, MPI_Count count, Datatype& type, int source, int tag, Communicator& comm,
                 MPI_Request* request) {
  return make_persistent(false, buf, count, type, source, tag, comm, Mode::kStandard, request);
}

Status start(MPI_Request* request) { return start_one(*request, -1); }

Status startall(int count, MPI_Request* requests) {
  for (int i = 0; i < count; ++i) VICINITY_TRY(start_one(requests[i], i));
  return object::kOk;
}

}  // namespace entry
}  // namespace vicinity::p2p
