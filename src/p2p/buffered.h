// SPDX-License-Identifier: BSD-3-Clause
// Buffered mode (MPI 5.0, 3.6).
#pragma once

#include "p2p/p2p.h"

namespace vicinity::p2p {

// Copies the message to the buffer that is right for `comm` and sends it from there.
Status send_buffered(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Communicator& comm);

extern const object::RequestOps kBufferedOps;  // of a persistent buffered send

}  // namespace vicinity::p2p
