// SPDX-License-Identifier: BSD-3-Clause
// MPI_Send, MPI_Recv and their nonblocking and combined forms (MPI 5.0, 3.2 to 3.7 and 3.10).
#include "entry_p2p.h"
#include "p2p/buffered.h"
#include "p2p/completion.h"
#include "p2p/engine.h"

namespace vicinity::p2p {
namespace {

Status blocking(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm,
                Mode mode) {
  Request* request = nullptr;
  VICINITY_TRY(p2p::isend(buf, count, type, dest, tag, comm, Lane::kUser, mode, &request));
  return finish(request);
}

Status nonblocking(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm,
                   Mode mode, MPI_Request* handle) {
  Request* request = nullptr;
  VICINITY_TRY(p2p::isend(buf, count, type, dest, tag, comm, Lane::kUser, mode, &request));
  *handle = object::handle_of(*request);
  return object::kOk;
}

}  // namespace

namespace entry {

Status send(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm) {
  return p2p::send(buf, count, type, dest, tag, comm, Lane::kUser);
}
Status ssend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm) {
  return blocking(buf, count, type, dest, tag, comm, Mode::kSynchronous);
}
Status rsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm) {
  return p2p::send(buf, count, type, dest, tag, comm, Lane::kUser);
}
Status bsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm) {
  return send_buffered(buf, count, type, dest, tag, comm);
}

Status isend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm,
             MPI_Request* request) {
  return nonblocking(buf, count, type, dest, tag, comm, Mode::kStandard, request);
}
Status issend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm,
              MPI_Request* request) {
  return nonblocking(buf, count, type, dest, tag, comm, Mode::kSynchronous, request);
}
Status irsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm,
              MPI_Request* request) {
  return nonblocking(buf, count, type, dest, tag, comm, Mode::kReady, request);
}
Status ibsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm,
              MPI_Request* request) {
  VICINITY_TRY(send_buffered(buf, count, type, dest, tag, comm));
  *request = object::handle_of(done_send);
  return object::kOk;
}

Status recv(void* buf, MPI_Count count, Datatype& type, int source, int tag, Communicator& comm,
            MPI_Status* status) {
  return p2p::recv(buf, count, type, source, tag, comm, Lane::kUser, status);
}
Status irecv(void* buf, MPI_Count count, Datatype& type, int source, int tag, Communicator& comm,
             MPI_Request* handle) {
  Request* request = nullptr;
  VICINITY_TRY(p2p::irecv(buf, count, type, source, tag, comm, Lane::kUser, &request));
  *handle = object::handle_of(*request);
  return object::kOk;
}

Status sendrecv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, int dest, int sendtag,
                void* recvbuf, MPI_Count recvcount, Datatype& recvtype, int source, int recvtag,
                Communicator& comm, MPI_Status* status) {
  return p2p::sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                       recvtag, comm, Lane::kUser, status);
}

}  // namespace entry
}  // namespace vicinity::p2p
