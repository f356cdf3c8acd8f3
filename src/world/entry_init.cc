// SPDX-License-Identifier: BSD-3-Clause
// Init and Finalize of the world model (MPI 5.0, 11.2), and the questions about them.
#include <cstdio>

#include "entry_world.h"
#include "p2p/p2p.h"
#include "peer/peer.h"
#include "world/construct.h"
#include "world/context.h"
#include "world/encounter.h"
#include "world/environment.h"
#include "world/errors.h"
#include "world/instance.h"
#include "world/progress_thread.h"
#include "world/state.h"
#include "world/survive.h"

namespace vicinity::world {
namespace {

constexpr int kWorld = 0, kSelf = 1;  // in predefined_communicators

Communicator* make_predefined(MPI_Comm constant, const char* name, uint32_t context, Group* group) {
  if (!group) return nullptr;
  Communicator* comm = assemble(Parts{.context = context, .group = group});
  if (!comm) return nullptr;
  comm->handle = reinterpret_cast<uintptr_t>(constant);
  std::snprintf(comm->name, sizeof comm->name, "%s", name);
  return comm;
}

Status make_world() {
  Communicator** predefined = object::predefined_communicators;
  Group* all = object::retain(instance().bootstrap->group);
  predefined[kWorld] = make_predefined(MPI_COMM_WORLD, "MPI_COMM_WORLD", kWorldContext, all);
  Group* alone = object::make_group({peer::self()}, peer::self());
  predefined[kSelf] = make_predefined(MPI_COMM_SELF, "MPI_COMM_SELF", kSelfContext, alone);
  if (!predefined[kWorld] || !predefined[kSelf])
    return fail(MPI_ERR_NO_MEM, "no memory for the predefined communicators");
  set_predefined_attributes();
  return kOk;
}

// Where the communicator is, revoked or not.
Communicator*& place_of(int which) {
  Communicator** revoked = object::revoked_predefined;
  return revoked[which] ? revoked[which] : object::predefined_communicators[which];
}

// Predefined handles are not counted, so release() leaves them alone; this is their end.
void end_predefined(Communicator*& comm) {
  comm->handle = reinterpret_cast<uintptr_t>(comm);
  object::release(comm);
  comm = nullptr;
}

bool is_thread_level(int level) {
  return level == MPI_THREAD_SINGLE || level == MPI_THREAD_FUNNELED || level == MPI_THREAD_SERIALIZED ||
         level == MPI_THREAD_MULTIPLE;
}

Status begin(int level) {
  Instance& all = instance();
  if (all.world_begun) return fail(MPI_ERR_OTHER, "MPI_Init was called before; a program may call it once");
  const WithoutProgressThread alone;
  VICINITY_TRY(connect());
  VICINITY_TRY(make_world());
  all.world_begun = true;
  all.thread_level = level;
  all.main_thread = pthread_self();
  grant_threads(level);
  object::environment_info().set("thread_level", thread_level_name(level));
  enter();
  return meet_parent();
}

}  // namespace

namespace entry {

Status init(int*, char***) { return begin(MPI_THREAD_SINGLE); }

Status init_thread(int*, char***, int required, int* provided) {
  if (!is_thread_level(required))
    return fail(MPI_ERR_ARG, "argument `required` is %d, which is no thread level", required);
  VICINITY_TRY(begin(required));
  if (provided) *provided = required;
  return kOk;
}

// MPI 5.0, 11.2.2: first the attributes of MPI_COMM_SELF go, as the very first thing, last in first out.
Status finalize() {
  Instance& all = instance();
  if (!all.world_begun) return fail(MPI_ERR_OTHER, "MPI_Finalize was called before MPI_Init");
  if (all.world_ended) return fail(MPI_ERR_OTHER, "MPI_Finalize was called before");
  const WithoutProgressThread alone;
  for (int which : {kSelf, kWorld})
    VICINITY_TRY(object::attributes_delete_all(*place_of(which), place_of(which)->attributes));
  VICINITY_TRY(p2p::drain());
  VICINITY_TRY(meet_survivors(*all.bootstrap));
  VICINITY_TRY(p2p::drain());
  unpublish_all();
  end_predefined(place_of(kWorld));
  end_predefined(place_of(kSelf));
  all.world_ended = true;
  leave();
  return kOk;
}

Status initialized(int* flag) {
  *flag = instance().world_begun;
  return kOk;
}

Status finalized(int* flag) {
  *flag = instance().world_ended;
  return kOk;
}

Status is_thread_main(int* flag) {
  *flag = pthread_equal(pthread_self(), instance().main_thread) != 0;
  return kOk;
}

Status query_thread(int* provided) {
  *provided = instance().thread_level;
  return kOk;
}

Status abort(object::Communicator& comm, int errorcode) {
  char text[256];
  std::snprintf(text, sizeof text, "MPI_Abort was called with code %d (communicator %s)", errorcode,
                comm.name[0] ? comm.name : "without name");
  end_job(errorcode, text);
}

}  // namespace entry
}  // namespace vicinity::world
