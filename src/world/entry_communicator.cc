// SPDX-License-Identifier: BSD-3-Clause
// What one asks a communicator, and its end (MPI 5.0, 7.4.1, 7.4.3, 7.4.4, 7.6, 7.8).
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "entry_world.h"
#include "fault/survivors.h"
#include "object/pool.h"
#include "p2p/p2p.h"
#include "world/construct.h"
#include "world/context.h"
#include "world/encounter.h"
#include "world/environment.h"
#include "world/instance.h"
#include "world/survive.h"

namespace vicinity::world {
namespace {

Status check_inter(const Communicator& comm) {
  return comm.inter() ? kOk : fail(MPI_ERR_COMM, "argument `comm` is no intercommunicator");
}

Result<Communicator*> mortal(MPI_Comm handle) {
  Communicator* comm = object::lookup<Communicator>(handle);
  if (!comm) comm = object::find_revoked(handle);
  if (!comm) return fail(MPI_ERR_COMM, "argument `comm` is no communicator");
  if (comm->predefined()) return fail(MPI_ERR_COMM, "%s cannot be freed", comm->name);
  return comm;
}

// MPI_IDENT is for the same handle; two communicators with equal groups are at best MPI_CONGRUENT.
int compare_groups(const Group& one, const Group& other) {
  const int result = object::group_compare(one, other);
  return result == MPI_IDENT ? int{MPI_CONGRUENT} : result;
}

}  // namespace

namespace entry {

Status comm_size(Communicator& comm, int* size) {
  *size = comm.size();
  return kOk;
}

Status comm_rank(Communicator& comm, int* rank) {
  *rank = comm.rank;
  return kOk;
}

Status comm_remote_size(Communicator& comm, int* size) {
  VICINITY_TRY(check_inter(comm));
  *size = comm.remote->size();
  return kOk;
}

Status comm_test_inter(Communicator& comm, int* flag) {
  *flag = comm.inter();
  return kOk;
}

Status comm_group(Communicator& comm, Group** group) {
  *group = object::retain(comm.group);
  return kOk;
}

Status comm_remote_group(Communicator& comm, Group** group) {
  VICINITY_TRY(check_inter(comm));
  *group = object::retain(comm.remote);
  return kOk;
}

Status comm_compare(Communicator& comm1, Communicator& comm2, int* result) {
  if (&comm1 == &comm2) {
    *result = MPI_IDENT;
  } else if (comm1.inter() != comm2.inter()) {
    *result = MPI_UNEQUAL;
  } else {
    *result = compare_groups(*comm1.group, *comm2.group);
    if (comm1.inter()) *result = std::max(*result, compare_groups(*comm1.remote, *comm2.remote));
  }
  return kOk;
}
static_assert(int{MPI_CONGRUENT} < int{MPI_SIMILAR} && int{MPI_SIMILAR} < int{MPI_UNEQUAL});

Status comm_set_name(Communicator& comm, const char* name) {
  if (!name) return fail(MPI_ERR_ARG, "argument `comm_name` is a null pointer");
  std::snprintf(comm.name, sizeof comm.name, "%s", name);
  return kOk;
}

Status comm_get_name(Communicator& comm, char* name, int* resultlen) {
  *resultlen = std::snprintf(name, MPI_MAX_OBJECT_NAME, "%s", comm.name);
  return kOk;
}

Status comm_set_info(Communicator& comm, Info* info) {
  accept_hints(comm.hints, info);
  return kOk;
}

Status comm_get_info(Communicator& comm, Info** info_used) {
  *info_used = report_hints(comm.hints);
  return *info_used ? kOk : fail(MPI_ERR_NO_MEM, "no memory for an info object");
}

Status comm_free(MPI_Comm* comm) {
  Result<Communicator*> found = mortal(*comm);
  if (!found.ok()) return found.status();
  VICINITY_TRY(free_communicator(**found));
  *comm = MPI_COMM_NULL;
  return kOk;
}

// Unlike MPI_Comm_free this waits until the communication over it is through, on all sides (11.10.4). Who is
// in no other communicator with us is then let go of. The dead do not hold it up.
Status comm_disconnect(MPI_Comm* comm) {
  Result<Communicator*> found = mortal(*comm);
  if (!found.ok()) return found.status();
  const std::vector<Proc> procs = fault::members_of(**found);
  VICINITY_TRY(p2p::drain());
  VICINITY_TRY(meet_survivors(**found));
  VICINITY_TRY(p2p::drain());
  VICINITY_TRY(comm_free(comm));
  part_from(procs);
  return kOk;
}

Status comm_get_parent(Communicator** parent) {
  *parent = instance().parent;
  return kOk;
}

}  // namespace entry
}  // namespace vicinity::world
