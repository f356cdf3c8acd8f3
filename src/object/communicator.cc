// SPDX-License-Identifier: BSD-3-Clause
// The end of a communicator. Rooms above have parts in it that only they can take down.
#include "object/communicator.h"

#include "object/pool.h"

namespace vicinity::object {

Communicator* predefined_communicators[2] = {nullptr, nullptr};
void (*communicator_cleanup)(Communicator& comm) = nullptr;

void Communicator::finish(Communicator* comm) {
  if (communicator_cleanup) communicator_cleanup(*comm);
  if (comm->local) release(comm->local);
  if (comm->group) release(comm->group);
  if (comm->remote) release(comm->remote);
  if (comm->errhandler) release(comm->errhandler);
  if (comm->hints) release(comm->hints);
  destroy(comm);
}

}  // namespace vicinity::object
