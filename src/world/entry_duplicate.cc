// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_dup and its nonblocking forms (MPI 5.0, 7.4.2).
//
// The duplicate exists at once, with everything but its context id. A blocking call waits for the id; a
// nonblocking one leaves the search to a poller and completes the request when the id is found.
#include <memory>
#include <vector>

#include "base/progress.h"
#include "entry_world.h"
#include "object/pool.h"
#include "object/request.h"
#include "world/construct.h"
#include "world/context.h"
#include "world/environment.h"
#include "world/instance.h"
#include "world/topology.h"

namespace vicinity::world {
namespace {

using object::Request;

// What MPI_Comm_dup copies besides attributes. Hints stay behind (MPI 4.0 changed that).
Communicator* twin(Communicator& comm) {
  Parts parts{.group = object::retain(comm.group), .low_group = comm.low_group, .parent = &comm};
  if (comm.remote) parts.remote = object::retain(comm.remote);
  Communicator* copy = assemble(parts);
  if (copy) share_topology(comm, *copy);
  return copy;
}

// Gives up a duplicate whose construction failed. A delete callback that fails as well cannot help.
void discard(Communicator* copy) {
  static_cast<void>(object::attributes_delete_all(*copy, copy->attributes));
  object::release(copy);
}

// The twin of a communicator with a context id of its own; without attributes.
Result<Communicator*> bare_copy(Communicator& comm, const Info* hints) {
  Communicator* copy = twin(comm);
  if (!copy) return fail(MPI_ERR_NO_MEM, "no memory for a communicator");
  accept_hints(copy->hints, hints);
  ContextSearch search(everyone(comm), contexts_of(comm), false);
  Result<uint32_t> context = agree(search);
  if (!context.ok()) {
    object::release(copy);
    return context.status();
  }
  set_context(*copy, *context);
  return copy;
}

Status duplicate(Communicator& comm, const Info* hints, Communicator** out) {
  Result<Communicator*> made = bare_copy(comm, hints);
  VICINITY_TRY(made.status());
  Communicator* copy = *made;
  // Only now, so that a callback that fails here leaves nobody waiting elsewhere.
  if (Status status = object::attributes_copy(comm, comm.attributes, copy->attributes); !status.ok()) {
    discard(copy);
    return status;
  }
  *out = copy;
  return kOk;
}

// A duplicate on its way.
struct Duplication {
  Duplication(Communicator& comm, Communicator* copy, Request* request)
      : parent(&comm), copy(copy), request(request), search(everyone(comm), contexts_of(comm), true) {
    object::retain(parent);
  }
  ~Duplication() { object::release(parent); }
  Communicator* parent;
  Communicator* copy;
  Request* request;  // nullptr: abandoned, but the others need us in the search
  ContextSearch search;
};

void free_request(Request& request) { object::destroy(&request); }
constexpr object::RequestOps kDuplicationOps{nullptr, nullptr, nullptr, &free_request};

class Duplications final : public base::Poller {
 public:
  void add(std::unique_ptr<Duplication> one) {
    if (!registered_) base::add_poller(this);
    registered_ = true;  // stays: a poller must not leave the list while it is walked
    waiting_.push_back(std::move(one));
  }
  int poll() override {
    int events = 0;
    for (size_t i = 0; i < waiting_.size();) {
      Result<bool> done = waiting_[i]->search.advance();
      if (done.ok() && !*done) {
        ++i;
        continue;
      }
      std::unique_ptr<Duplication> ended = std::move(waiting_[i]);
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      end(*ended, done.status());
      ++events;
    }
    return events;
  }

 private:
  static void end(Duplication& one, Status status) {
    if (status.ok()) set_context(*one.copy, one.search.context());
    Request* request = one.request;
    if (!request) {
      discard(one.copy);
      return;
    }
    request->error = status.code();
    request->complete = true;
    if (request->user_freed) request->ops->free(*request);
  }

  std::vector<std::unique_ptr<Duplication>> waiting_;
  bool registered_ = false;
};

Duplications& duplications() {
  static auto* made = new Duplications;
  return *made;
}

Status duplicate_later(Communicator& comm, const Info* hints, Communicator** out, MPI_Request* handle) {
  Communicator* copy = twin(comm);
  Request* request = object::make<Request>();
  if (!copy || !request) return fail(MPI_ERR_NO_MEM, "no memory for a communicator");
  accept_hints(copy->hints, hints);
  // As if the call were MPI_Comm_dup, attributes are those of now.
  const Status status = object::attributes_copy(comm, comm.attributes, copy->attributes);
  request->ops = &kDuplicationOps;
  request->status = object::empty_status();
  if (!status.ok()) {
    object::destroy(request);
    request = nullptr;
  }
  duplications().add(std::make_unique<Duplication>(comm, copy, request));
  VICINITY_TRY(status);
  duplications().poll();
  *out = copy;
  *handle = object::handle_of(*request);
  return kOk;
}

}  // namespace

Result<Communicator*> plain_copy(Communicator& comm) { return bare_copy(comm, nullptr); }

namespace entry {

Status comm_dup(Communicator& comm, Communicator** newcomm) { return duplicate(comm, nullptr, newcomm); }

Status comm_dup_with_info(Communicator& comm, Info* info, Communicator** newcomm) {
  return duplicate(comm, info, newcomm);
}

Status comm_idup(Communicator& comm, Communicator** newcomm, MPI_Request* request) {
  return duplicate_later(comm, nullptr, newcomm, request);
}

Status comm_idup_with_info(Communicator& comm, Info* info, Communicator** newcomm, MPI_Request* request) {
  return duplicate_later(comm, info, newcomm, request);
}

}  // namespace entry
}  // namespace vicinity::world
