// SPDX-License-Identifier: BSD-3-Clause
// The extensions of mpi-ext.h: revoke, agree, shrink... (docs/design/fault-tolerance.md).
//
// A shrink is a call of several agreements. In the even steps the survivors agree on who is lost and on the
// greatest of their next context ids, in the odd ones on whether that id is free with all; else they go on.
#include "world/survive.h"

#include <mpi-ext.h>

#include <algorithm>

#include "base/progress.h"
#include "entry_world.h"
#include "fault/survivors.h"
#include "object/pool.h"
#include "object/request.h"
#include "p2p/p2p.h"
#include "peer/meeting.h"
#include "peer/peer.h"
#include "wireup/launcher_params.h"
#include "world/construct.h"
#include "world/context.h"
#include "world/encounter.h"
#include "world/instance.h"

namespace vicinity::world {
namespace {

using fault::Name;
using fault::Value;
using object::Request;

// The request behind MPIX_Comm_iagree and MPIX_Comm_ishrink.
struct Surviving : Request, fault::Party {
  uint32_t call = 0;

  void end(int how) {
    fault::end_call(*comm, call);
    error = how;
    complete = true;
    if (user_freed) ops->free(*this);
  }
  void abandon() { end(MPI_ERR_NO_MEM); }
};

struct Agreeing : Surviving {
  int* flag = nullptr;
  void heard(const Value& decision) {
    *flag = comm->inter() && comm->low_group ? decision.high : decision.low;
    end(decision.unacknowledged ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS);
  }
};

struct Shrinking : Surviving {
  Communicator* made = nullptr;
  Value first;  // who is lost
  uint32_t step = 0;
  int64_t context = 0;
  void propose();
  void heard(const Value& decision);
};

}  // namespace
}  // namespace vicinity::world

namespace vicinity::object {

template <>
struct HandleTraits<world::Agreeing> {
  static constexpr Kind kKind = Kind::kRequest;
};
template <>
struct HandleTraits<world::Shrinking> {
  static constexpr Kind kKind = Kind::kRequest;
};

}  // namespace vicinity::object

namespace vicinity::world {
namespace {

void Shrinking::propose() {
  Value mine;
  mine.most = static_cast<uint64_t>(propose_context(static_cast<int>(step / 2)));
  fault::take_part(*comm, Name{call, step}, mine, *this);
}

// The members of a group that are not among the lost. `offset`: the position of its first.
Group* remaining(const Group& group, size_t offset, const std::vector<uint32_t>& lost) {
  std::vector<Proc> procs;
  for (size_t i = 0; i < group.procs.size(); ++i)
    if (!std::binary_search(lost.begin(), lost.end(), static_cast<uint32_t>(offset + i)))
      procs.push_back(group.procs[i]);
  Group* left = object::make_group(std::move(procs), instance().self());
  if (left) left->session = group.session;
  return left;
}

void replace(Group*& place, Group* by) {
  object::release(place);
  place = by;
}

Status narrow(Communicator& made, const Communicator& from, const std::vector<uint32_t>& lost) {
  const bool second = from.inter() && !from.low_group;
  release_guests(made);
  Group* own = remaining(*from.group, second ? from.remote->procs.size() : 0, lost);
  Group* other =
      from.inter() ? remaining(*from.remote, second ? 0 : from.group->procs.size(), lost) : nullptr;
  if (!own || (from.inter() && !other)) return fail(MPI_ERR_NO_MEM, "no memory for a group");
  if (made.local) {
    release_guests(*made.local);
    replace(made.local->group, object::retain(own));
    hold_guests(*made.local);
    made.local->rank = own->rank;
  }
  made.rank = own->rank;
  replace(made.group, own);
  if (other) replace(made.remote, other);
  hold_guests(made);
  return kOk;
}

void Shrinking::heard(const Value& decision) {
  const bool verdict = step % 2 == 1;
  if (step == 0) first = decision;
  ++step;
  if (!verdict) {
    context = static_cast<int64_t>(decision.most);
    Value mine;
    mine.low = take_context(context, contexts_of(*comm)) ? -1 : 0;
    return fault::take_part(*comm, Name{call, step}, mine, *this);
  }
  if (decision.low == 0) return propose();
  const Status narrowed = narrow(*made, *comm, first.failed);
  if (narrowed.ok()) set_context(*made, static_cast<uint32_t>(context));
  end(narrowed.code());
}

Status take(Request& request) {
  if (request.error == MPI_SUCCESS) return kOk;
  if (request.error != MPIX_ERR_PROC_FAILED)
    return fail(
        request.error,
        "there is no memory, here or at another member, for the messages of the agreement or for the new "
        "communicator");
  return fail(MPIX_ERR_PROC_FAILED,
              "processes of the communicator have failed, and not all survivors had acknowledged that");
}

template <class T>
void free_request(Request& request) {
  object::release(request.comm);
  object::destroy(static_cast<T*>(&request));
}
template <class T>
constexpr object::RequestOps kOps{nullptr, nullptr, take, free_request<T>};

template <class T>
T* make_request(Communicator& comm) {
  T* request = object::make<T>();
  if (!request) return nullptr;
  request->ops = &kOps<T>;
  request->comm = object::retain(&comm);
  request->status = object::empty_status();
  request->call = fault::begin_call(comm);
  request->done = [](fault::Party* self, const Value* decision) {
    T& request = *static_cast<T*>(self);
    decision ? request.heard(*decision) : request.abandon();
  };
  return request;
}

Result<Agreeing*> start_agreeing(Communicator& comm, int* flag) {
  Agreeing* request = make_request<Agreeing>(comm);
  if (!request) return fail(MPI_ERR_NO_MEM, "no memory for a request");
  request->flag = flag;
  Value mine;
  (comm.inter() && !comm.low_group ? mine.high : mine.low) = *flag;
  mine.failed = fault::acknowledged(comm);
  fault::take_part(comm, Name{request->call, 0}, mine, *request);
  return request;
}

Result<Shrinking*> start_shrinking(Communicator& comm, Communicator** newcomm) {
  Shrinking* request = make_request<Shrinking>(comm);
  Parts parts{.group = object::retain(comm.group), .low_group = comm.low_group, .parent = &comm};
  if (comm.remote) parts.remote = object::retain(comm.remote);
  Communicator* made = assemble(parts);
  if (!request || !made) return fail(MPI_ERR_NO_MEM, "no memory for a communicator");
  *newcomm = request->made = made;
  request->propose();
  return request;
}

Status finish(Request* request) {
  base::wait_until([request] { return request->complete; });
  const Status status = take(*request);
  request->ops->free(*request);
  return status;
}

// The meeting has no end if somebody leaves it who has not told everybody.
struct Meeting : fault::Party {
  Meeting() {
    done = [](fault::Party* self, const Value* decision) {
      static_cast<Meeting*>(self)->over = true;
      static_cast<Meeting*>(self)->abandoned = !decision;
    };
  }
  bool over = false, abandoned = false;
};

Status give_group(const std::vector<Proc>& procs, Group** group) {
  *group = object::make_group(procs, instance().self());
  return *group ? kOk : fail(MPI_ERR_NO_MEM, "no memory for a group");
}

}  // namespace

Status meet_survivors(Communicator& all) {
  // Processes of another job may have been started otherwise, so that all must agree how to meet.
  const std::vector<Proc> members = fault::members_of(all);
  const bool foreign = std::any_of(members.begin(), members.end(), peer::is_guest);
  if (!wireup::param_recovery.get() && !foreign) {
    const Status status = meet(everyone(all));
    const bool hopeless = status.code() == MPI_ERR_PROC_ABORTED || status.code() == MPIX_ERR_REVOKED;
    return hopeless ? kOk : status;  // nobody to wait for
  }
  Meeting meeting;
  const uint32_t call = fault::begin_call(all);
  fault::take_part(all, Name{call, Name::kLast}, Value{}, meeting);
  base::wait_until([&meeting] { return meeting.over; });
  fault::end_call(all, call);
  fault::leave(all);
  if (meeting.abandoned)
    return fail(MPI_ERR_NO_MEM, "no memory, at some process, to meet the others at the end");
  return kOk;
}

namespace entry {

Status comm_revoke(Communicator& comm) {
  p2p::revoke(comm);
  return kOk;
}

Status comm_is_revoked(Communicator& comm, int* flag) {
  base::progress();
  *flag = comm.revoked;
  return kOk;
}

Status comm_get_failed(Communicator& comm, Group** failedgrp) {
  base::progress();
  return give_group(p2p::failed(comm), failedgrp);
}

Status comm_ack_failed(Communicator& comm, int num_to_ack, int* num_acked) {
  *num_acked = p2p::acknowledge(comm, num_to_ack);
  return kOk;
}

Status comm_failure_ack(Communicator& comm) {
  p2p::acknowledge(comm, INT_MAX);
  return kOk;
}

Status comm_failure_get_acked(Communicator& comm, Group** failedgrp) {
  std::vector<Proc> procs = p2p::failed(comm);
  procs.resize(std::min(procs.size(), static_cast<size_t>(p2p::acknowledged(comm))));
  return give_group(procs, failedgrp);
}

Status comm_agree(Communicator& comm, int* flag) {
  auto request = start_agreeing(comm, flag);
  return request.ok() ? finish(*request) : request.status();
}

Status comm_iagree(Communicator& comm, int* flag, MPI_Request* handle) {
  auto request = start_agreeing(comm, flag);
  VICINITY_TRY(request.status());
  *handle = object::handle_of<Request>(**request);
  return kOk;
}

Status comm_shrink(Communicator& comm, Communicator** newcomm) {
  auto request = start_shrinking(comm, newcomm);
  return request.ok() ? finish(*request) : request.status();
}

Status comm_ishrink(Communicator& comm, Communicator** newcomm, MPI_Request* handle) {
  auto request = start_shrinking(comm, newcomm);
  VICINITY_TRY(request.status());
  *handle = object::handle_of<Request>(**request);
  return kOk;
}

}  // namespace entry
}  // namespace vicinity::world
