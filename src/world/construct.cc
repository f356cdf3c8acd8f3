// SPDX-License-Identifier: BSD-3-Clause
// Construction and end of communicators.
#include "world/construct.h"

#include "coll/coll.h"
#include "object/pool.h"
#include "p2p/p2p.h"
#include "world/context.h"
#include "world/encounter.h"
#include "world/errors.h"
#include "world/instance.h"
#include "world/topology.h"

namespace vicinity::world {
namespace {

void release_groups(const Parts& parts) {
  object::release(parts.group);
  if (parts.remote) object::release(parts.remote);
}

}  // namespace

Communicator* assemble(const Parts& parts) {
  Communicator* comm = object::make<Communicator>();
  if (!comm) {
    release_groups(parts);
    return nullptr;
  }
  comm->context = parts.context;
  comm->group = parts.group;
  comm->rank = parts.group->rank;
  comm->remote = parts.remote;
  comm->low_group = parts.low_group;
  object::Errhandler* handler = parts.parent ? parts.parent->errhandler : nullptr;
  comm->errhandler = object::retain(handler ? handler : &initial_handler());
  if (parts.parent) comm->session = parts.parent->session;
  hold_guests(*comm);
  const bool agreed = parts.context != kNoContext;
  if (!parts.remote) {
    if (agreed) p2p::introduce(*comm);
    return comm;
  }
  // The local group as a communicator of its own, for collectives' local halves; disjoint groups share
  // its context.
  comm->local = assemble(Parts{.context = agreed ? parts.context + object::kLanes : kNoContext,
                               .group = object::retain(parts.group),
                               .parent = parts.parent});
  if (comm->local) {
    comm->local->whole = comm;
    if (agreed) p2p::introduce(*comm);
    return comm;
  }
  object::release(comm);
  return nullptr;
}

void set_context(Communicator& comm, uint32_t context) {
  comm.context = context;
  p2p::introduce(comm);
  if (comm.local) set_context(*comm.local, context + object::kLanes);
}

void take_down(Communicator& comm) {
  if (instance().parent == &comm) instance().parent = nullptr;
  release_guests(comm);
  coll::forget(comm);
  p2p::forget(comm);
  drop_topology(comm);
}

Status free_communicator(Communicator& comm) {
  VICINITY_TRY(object::attributes_delete_all(comm, comm.attributes));
  object::release(&comm);
  return base::kOk;
}

}  // namespace vicinity::world
