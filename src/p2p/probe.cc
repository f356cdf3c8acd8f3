// SPDX-License-Identifier: BSD-3-Clause
// Probes and matched receives (MPI 5.0, 3.8.1 to 3.8.3). A matched message leaves the unexpected queue
// and becomes an MPI_Message; only MPI_Mrecv and MPI_Imrecv can take it then.
#include <mpi-ext.h>

#include "entry_p2p.h"
#include "p2p/completion.h"
#include "p2p/engine.h"

namespace vicinity::p2p {
namespace {

// The message that a receive with these arguments would take now; it stays where it is.
Arrival* peek(int source, int tag, Communicator& comm) {
  return context_of(comm, Lane::kUser).find_unexpected(source >= 0 ? comm.proc(source) : kAnyProc, tag);
}

// Nothing can come any more: says so instead of waiting for ever.
Status still_possible(int source, Communicator& comm) {
  if (!engine().troubled) return object::kOk;
  if (comm.revoked) return object::fail(MPIX_ERR_REVOKED, "probing: the communicator has been revoked");
  if (source < 0 && !unacknowledged(comm)) return object::kOk;
  const Proc gone = source >= 0 ? comm.proc(source) : engine().failed(comm).back();
  const char* why = gone == kAnyProc ? nullptr : engine().lost_reason(gone);
  if (!why) return object::kOk;
  return object::fail(MPI_ERR_PROC_ABORTED, "probing rank %d failed: process %u is gone (%s)",
                      rank_of(comm, gone), gone, why);
}

void describe_message(const Arrival& arrival, Communicator& comm, MPI_Status* status) {
  MPI_Status full = object::empty_status();
  full.MPI_SOURCE = rank_of(comm, arrival.from);
  full.MPI_TAG = arrival.envelope.tag;
  object::set_bytes(full, static_cast<MPI_Count>(arrival.length));
  give_status(status, full);
}

// Finds a message; with `wait` until there is one. nullptr: none now.
object::Result<Arrival*> find(int source, int tag, Communicator& comm, bool wait) {
  Arrival* found = peek(source, tag, comm);
  if (found) return found;
  Status possible = still_possible(source, comm);
  if (!wait) {
    VICINITY_TRY(possible);
    base::look();
    return peek(source, tag, comm);
  }
  base::wait_until([&] {
    found = peek(source, tag, comm);
    if (!found) possible = still_possible(source, comm);
    return found || !possible.ok();
  });
  if (!found) return possible;
  return found;
}

MPI_Message extract(Arrival* arrival, Communicator& comm) {
  context_of(comm, Lane::kUser).drop(arrival);
  arrival->kind = object::Kind::kMessage;
  arrival->comm = object::retain(&comm);
  return object::handle_of(*arrival);
}

Status start_matched(void* buf, MPI_Count count, Datatype& type, MPI_Message* message, Request** request) {
  if (*message == MPI_MESSAGE_NO_PROC) {
    *message = MPI_MESSAGE_NULL;
    *request = &done_null_receive;
    return object::kOk;
  }
  Arrival* arrival = object::lookup<Arrival>(*message);
  if (!arrival)
    return object::fail(MPI_ERR_ARG, "argument `message` (%p) is no message, or was received already",
                        static_cast<void*>(*message));
  const int source = rank_of(*arrival->comm, arrival->from);
  auto made = make_transfer(false, buf, count, type, source, arrival->envelope.tag, *arrival->comm,
                            Lane::kUser, Mode::kStandard);
  VICINITY_TRY(made.status());
  *message = MPI_MESSAGE_NULL;
  *request = *made;
  deliver(**made, arrival);
  return object::kOk;
}

}  // namespace

namespace entry {

Status probe(int source, int tag, Communicator& comm, MPI_Status* status) {
  if (source == MPI_PROC_NULL) return give_status(status, done_null_receive.status), object::kOk;
  auto found = find(source, tag, comm, true);
  VICINITY_TRY(found.status());
  describe_message(**found, comm, status);
  return object::kOk;
}

Status iprobe(int source, int tag, Communicator& comm, int* flag, MPI_Status* status) {
  *flag = 1;
  if (source == MPI_PROC_NULL) return give_status(status, done_null_receive.status), object::kOk;
  auto found = find(source, tag, comm, false);
  VICINITY_TRY(found.status());
  *flag = *found != nullptr;
  if (*found) describe_message(**found, comm, status);
  return object::kOk;
}

Status mprobe(int source, int tag, Communicator& comm, MPI_Message* message, MPI_Status* status) {
  *message = MPI_MESSAGE_NO_PROC;
  if (source == MPI_PROC_NULL) return give_status(status, done_null_receive.status), object::kOk;
  *message = MPI_MESSAGE_NULL;
  auto found = find(source, tag, comm, true);
  VICINITY_TRY(found.status());
  describe_message(**found, comm, status);
  *message = extract(*found, comm);
  return object::kOk;
}

Status improbe(int source, int tag, Communicator& comm, int* flag, MPI_Message* message, MPI_Status* status) {
  *flag = 1;
  *message = MPI_MESSAGE_NO_PROC;
  if (source == MPI_PROC_NULL) return give_status(status, done_null_receive.status), object::kOk;
  *message = MPI_MESSAGE_NULL;
  auto found = find(source, tag, comm, false);
  VICINITY_TRY(found.status());
  *flag = *found != nullptr;
  if (!*found) return object::kOk;
  describe_message(**found, comm, status);
  *message = extract(*found, comm);
  return object::kOk;
}

Status mrecv(void* buf, MPI_Count count, Datatype& type, MPI_Message* message, MPI_Status* status) {
  Request* request = nullptr;
  VICINITY_TRY(start_matched(buf, count, type, message, &request));
  return finish(request, status);
}

Status imrecv(void* buf, MPI_Count count, Datatype& type, MPI_Message* message, MPI_Request* request) {
  Request* made = nullptr;
  VICINITY_TRY(start_matched(buf, count, type, message, &made));
  *request = object::handle_of(*made);
  return object::kOk;
}

}  // namespace entry
}  // namespace vicinity::p2p
