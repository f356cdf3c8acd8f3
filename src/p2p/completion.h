// SPDX-License-Identifier: BSD-3-Clause
// What the completion functions share.
#pragma once

#include "object/request.h"
#include "p2p/p2p.h"

namespace vicinity::p2p {

// All of a status but MPI_ERROR, which single completions leave alone (MPI 5.0, 3.2.5).
void give_status(MPI_Status* out, const MPI_Status& in);

// The empty status of a request that is null or inactive, MPI_ERROR included (MPI 5.0, 3.7.3).
void give_empty(MPI_Status* status);

// The failure of this request goes to the error handler of its communicator.
void blame(const Request& request);

// The request behind a handle; nullptr for MPI_REQUEST_NULL; MPI_ERR_REQUEST for what is none.
// `index` >= 0 names its place in an array.
Status resolve(MPI_Request handle, Request*& request, int index = -1);

// Waits until it is complete.
void await(const Request& request);

// Null or persistent and not started: nothing to wait for.
inline bool idle(const Request* request) { return !request || (request->persistent && !request->active); }

// Ends the life of a request. Fails only if a callback of the user does (MPI 5.0, 13.2).
Status end(Request& request);
// Where such a callback leaves its code while end() runs, under the engine lock.
extern int callback_error;

// Gives a complete request to the user: status, error, end of its life or of its round.
Status take(Request& request, MPI_Request* handle, MPI_Status* status);

// Complete by whoever made it: frees what the user has freed already.
void mark_complete(Request& request, int error = MPI_SUCCESS);

}  // namespace vicinity::p2p
