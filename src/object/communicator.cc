// SPDX-License-Identifier: BSD-3-Clause
// The end of a communicator. Rooms above have parts in it that only they can take down.
#include "object/communicator.h"

#include "object/pool.h"

namespace vicinity::object {

Communicator* predefined_communicators[2] = {nullptr, nullptr};
Communicator* revoked_predefined[2] = {nullptr, nullptr};
void (*communicator_cleanup)(Communicator& comm) = nullptr;

void mark_revoked(Communicator& comm) {
  comm.revoked = true;
  if (!comm.predefined()) comm.kind = Kind::kRevokedComm;
  for (int i = 0; i < 2; ++i) {
    if (predefined_communicators[i] != &comm) continue;
    predefined_communicators[i] = nullptr;
    revoked_predefined[i] = &comm;
  }
}

Communicator* find_revoked(MPI_Comm handle) {
  const auto value = reinterpret_cast<uintptr_t>(handle);
  const uintptr_t index = value - reinterpret_cast<uintptr_t>(MPI_COMM_WORLD);
  if (index < 2) return revoked_predefined[index];
  if (value < kFirstAddress || value % alignof(Communicator) != 0) return nullptr;
  auto* comm = reinterpret_cast<Communicator*>(value);
  return comm->kind == Kind::kRevokedComm ? comm : nullptr;
}

void Communicator::finish(Communicator* comm) {
  if (communicator_cleanup) communicator_cleanup(*comm);
  if (comm->local) {
    comm->local->whole = nullptr;
    release(comm->local);
  }
  if (comm->group) release(comm->group);
  if (comm->remote) release(comm->remote);
  if (comm->errhandler) release(comm->errhandler);
  if (comm->hints) release(comm->hints);
  destroy(comm);
}

}  // namespace vicinity::object
