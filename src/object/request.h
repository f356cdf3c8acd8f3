// SPDX-License-Identifier: BSD-3-Clause
// Requests (MPI 5.0, 3.7): the part that completion functions and schedules need. What is behind a
// request (a message, a collective, a user's generalized request) is known only to the room that made
// it, through `ops`.
#pragma once

#include "base/list.h"
#include "object/communicator.h"
#include "object/handle.h"

namespace vicinity::object {

struct Request;

// What a kind of request does. One static table per kind.
struct RequestOps {
  // Persistent: starts it. nullptr: not persistent.
  Status (*start)(Request& request);
  // MPI_Cancel; nullptr: not cancellable.
  Status (*cancel)(Request& request);
  // The error of a complete request, with its words (fail()); fills what is left of the status. Called by
  // the completion functions when the user takes the request, and by MPI_Request_get_status, so perhaps
  // more than once. nullptr: the error is Request::error.
  Status (*take)(Request& request);
  // Gives its memory back; the request is complete and nobody refers to it any more.
  void (*free)(Request& request);
  // What it is, if MPI_Request_free must not be called before the user has taken it; nullptr: it may.
  const char* bound = nullptr;
};

struct Request : Object {
  const RequestOps* ops = nullptr;
  Communicator* comm = nullptr;  // held; for the error handler; may be nullptr
  bool complete = false;         // written under the engine lock only
  bool persistent = false;
  bool active = true;       // persistent: between start and completion
  bool user_freed = false;  // MPI_Request_free before completion: free when complete
  int error = MPI_SUCCESS;  // class of the failure, when complete
  MPI_Status status{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, {}};  // as MPI_Wait will return it
  base::Link link;                                                  // in whatever list its room keeps
};

template <>
struct HandleTraits<Request> {
  using Handle = MPI_Request;
  static constexpr Kind kKind = Kind::kRequest;
  static Request* predefined(uintptr_t constant);  // kDoneRequest for small sends, see p2p/
};

// How the private words of MPI_Status are used: [0..1] byte count (64 bit), [2] cancelled.
// Elements of any type are derived from the bytes (MPI_Get_count, MPI_Get_elements).
void set_bytes(MPI_Status& status, MPI_Count bytes);
MPI_Count get_bytes(const MPI_Status& status);

inline constexpr MPI_Status empty_status() {
  return MPI_Status{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, {}};
}

}  // namespace vicinity::object
