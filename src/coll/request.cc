// SPDX-License-Identifier: BSD-3-Clause
// The life of a collective request, and the poller that moves all of them on.
#include "coll/request.h"

#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/progress.h"
#include "coll/engine.h"
#include "coll/mismatch.h"
#include "coll/transport.h"
#include "object/pool.h"

namespace vicinity::coll {
namespace {

struct Collective : object::Request {
  Schedule* schedule = nullptr;  // nullptr: nonblocking and over
  Status built;                  // how building went; each round of a persistent one begins with it
  char* words = nullptr;         // of the failure
};

}  // namespace
}  // namespace vicinity::coll

template <>
struct vicinity::object::HandleTraits<vicinity::coll::Collective> {
  using Handle = MPI_Request;
  static constexpr Kind kKind = Kind::kRequest;
};

namespace vicinity::coll {
namespace {

using object::Request;

class Outstanding final : public base::Poller {
 public:
  void add(Collective& one) {
    if (list_.empty() && !polling_) base::add_poller(this);
    list_.push_back(&one);
  }
  int poll() override;
  bool contains(const object::Communicator& comm, Side side, uint32_t sequence) const;

 private:
  bool time_to_doubt();
  base::List<Request, &Request::link> list_;
  bool polling_ = false;
  uint32_t polls_ = 0;
  int64_t doubt_at_ns_ = 0;
};

Outstanding& outstanding() {
  static auto* made = new Outstanding;  // survives static destructors
  return *made;
}

// The text of the failure is kept, because another thread may take the request.
void end(Collective& one) {
  const Status status = one.schedule->status;
  if (!status.ok()) {
    free(one.words);
    one.words = strdup(base::failure_text(status.code()));
  }
  if (!one.persistent) {
    give_schedule(one.schedule);
    one.schedule = nullptr;
  }
  one.error = status.code();
  one.complete = true;
}

// Moves it on; true when it is over.
bool advance(Collective& one, bool doubt) {
  Transport transport(*one.comm);
  Schedule& schedule = *one.schedule;
  bool over = Engine<Transport>::advance(schedule, transport);
  if (!over && doubt) {
    const Status status = transport.suspect(schedule);
    over = !status.ok();
    if (over) Engine<Transport>::give_up(schedule, transport, status);
  }
  if (transport.lingers()) schedule.temporaries.clear();  // still in use; given up for lost
  // Whoever takes the request blames its communicator; the call that we are in has nothing to do with it.
  if (!schedule.status.ok()) object::blame_nobody();
  return over;
}

int Outstanding::poll() {
  if (polling_) return 0;  // a callback of the user's inside a reduction, say
  polling_ = true;
  int events = 0;
  const bool doubt = time_to_doubt();
  for (Request *at = list_.front(), *next; at; at = next) {
    auto& one = static_cast<Collective&>(*at);
    const size_t before = one.schedule->next + one.schedule->oldest;
    const bool over = advance(one, doubt);
    events += over || one.schedule->next + one.schedule->oldest != before;
    next = list_.after(at);
    if (!over) continue;
    at->link.unlink();
    end(one);
  }
  polling_ = false;
  if (list_.empty()) base::remove_poller(this);
  return events;
}

bool Outstanding::contains(const object::Communicator& comm, Side side, uint32_t sequence) const {
  for (const Request* at = list_.front(); at; at = list_.after(at)) {
    const Schedule& schedule = *static_cast<const Collective*>(at)->schedule;
    if (at->comm == &comm && schedule.form == Form::kNonblocking &&
        sequence_of(schedule.tag[static_cast<size_t>(side)]) == sequence)
      return true;
  }
  return false;
}

bool Outstanding::time_to_doubt() {
  if (++polls_ % 64 != 0) return false;
  const int64_t now = base::now_ns();
  const bool due = now >= doubt_at_ns_;
  if (due) doubt_at_ns_ = now + patience_ns();
  return due;
}

void launch(Collective& one) {
  if (advance(one, false)) {
    end(one);
    return;
  }
  if (!one.schedule->held) one.schedule->hold();
  outstanding().add(one);
}

Status start(Request& request) {
  auto& one = static_cast<Collective&>(request);
  one.complete = false;
  one.schedule->next = one.schedule->oldest = 0;
  one.schedule->status = one.built;
  launch(one);
  return object::kOk;
}

Status take(Request& request) {
  if (request.error == MPI_SUCCESS) return object::kOk;
  const char* words = static_cast<Collective&>(request).words;
  return object::fail(request.error, "%s", words ? words : "");
}

void free_collective(Request& request) {
  auto& one = static_cast<Collective&>(request);
  if (one.schedule) give_schedule(one.schedule);
  free(one.words);
  object::release(one.comm);
  object::destroy(&one);
}

constexpr object::RequestOps kNonblockingOps{
    nullptr, nullptr, take, free_collective,
    "a nonblocking collective, which ends only by a completion function (MPI 5.0, 6.12)"};
constexpr object::RequestOps kPersistentOps{
    start, nullptr, take, free_collective,
    "a persistent collective that is active; complete it first (MPI 5.0, 6.13)"};

}  // namespace

Status make_request(object::Communicator& comm, Schedule* schedule, MPI_Request* handle) {
  Collective* one = object::make<Collective>();
  if (!one) {
    give_schedule(schedule);
    return object::fail(MPI_ERR_NO_MEM, "no memory for one more request");
  }
  one->schedule = schedule;
  one->comm = object::retain(&comm);
  one->persistent = schedule->form == Form::kPersistent;
  if (one->persistent) {
    one->ops = &kPersistentOps;
    one->built = schedule->status;
    one->active = false;
    one->complete = true;
    schedule->hold();
  } else {
    one->ops = &kNonblockingOps;
    launch(*one);
  }
  *handle = object::handle_of<Request>(*one);
  return object::kOk;
}

bool under_way(const object::Communicator& comm, Side side, uint32_t sequence) {
  return outstanding().contains(comm, side, sequence);
}

}  // namespace vicinity::coll
