// SPDX-License-Identifier: BSD-3-Clause
// For tests: several endpoints of point-to-point in one process, joined by fake channels.
//
// Each endpoint has its own Engine, connections and communicator; enter(i) makes it the current one, as
// if the caller were process i. Progress (base::progress, so every wait as well) moves all of them.
// This file stands in for the coordinator of the peer room: link it into one source only.
#pragma once

#include <memory>
#include <vector>

#include "object/pool.h"
#include "p2p/engine.h"
#include "peer/peer.h"
#include "peer/table.h"

namespace vicinity::peer {

static Proc self_now = 0;
static uint32_t count_now = 0;
VirtualConnection* detail::connections = nullptr;
void detail::has_work(VirtualConnection&) {}  // the world flushes every connection
void detail::has_change(VirtualConnection&) {}
bool detail::departed(Proc) { return false; }
void detail::report_lost(Proc, const char*) {}
void detail::fill_received(Proc, Counters&) {}
int listen(Proc, int, channel::Wanted&) { return 0; }
uint32_t process_count() { return count_now; }
Proc self() { return self_now; }

}  // namespace vicinity::peer

namespace vicinity::p2p::test {

using channel::fake::FakePair;
using channel::fake::Script;

struct Endpoint {
  Endpoint(Proc self, uint32_t count)
      : self(self), connections(new peer::VirtualConnection[count]), own(self, engine) {
    group.procs.resize(count);
    for (Proc i = 0; i < count; ++i) group.procs[i] = i;
    group.rank = static_cast<int>(self);
    group.handle = comm.handle = 1;  // predefined: never freed
    comm.kind = object::Kind::kComm;
    comm.context = 8;
    comm.rank = static_cast<int>(self);
    comm.group = &group;
  }
  ~Endpoint() {
    delete comm.p2p;
    comm.p2p = nullptr;
  }
  Proc self;
  Engine engine;
  std::unique_ptr<peer::VirtualConnection[]> connections;
  channel::self::SelfChannel own;
  object::Group group;
  object::Communicator comm;
};

class World final : public base::Poller {
 public:
  // `scripts(from, to)` tells how the sends of one endpoint to another behave.
  template <class Scripts>
  World(uint32_t count, Scripts&& scripts) {
    peer::count_now = count;
    for (Proc i = 0; i < count; ++i) endpoints_.push_back(std::make_unique<Endpoint>(i, count));
    for (Proc i = 0; i < count; ++i) {
      endpoints_[i]->connections[i].be_self(i, &endpoints_[i]->own);
      for (Proc j = i + 1; j < count; ++j) {
        pairs_.push_back(std::make_unique<FakePair>());
        join(i, j, pairs_.back()->end(0), scripts(i, j));
        join(j, i, pairs_.back()->end(1), scripts(j, i));
      }
    }
    base::add_poller(this);
    enter(0);
  }
  ~World() {
    base::remove_poller(this);
    peer::detail::connections = nullptr;
  }

  Endpoint& at(Proc i) { return *endpoints_[i]; }
  Communicator& enter(Proc i) {
    current_engine = &endpoints_[i]->engine;
    peer::detail::connections = endpoints_[i]->connections.get();
    peer::self_now = i;
    return endpoints_[i]->comm;
  }
  int poll() override {
    const Proc before = peer::self_now;
    int events = 0;
    for (Proc i = 0; i < endpoints_.size(); ++i) {
      enter(i);
      events += endpoints_[i]->own.poll();
      for (End& end : ends_)
        if (end.owner == i) events += end.end->poll();
      for (Proc j = 0; j < endpoints_.size(); ++j) events += endpoints_[i]->connections[j].flush();
      events += endpoints_[i]->engine.poll();
    }
    enter(before);
    return events;
  }
  channel::fake::FakeEnd& end(Proc owner, Proc to) {
    for (End& end : ends_)
      if (end.owner == owner && end.to == to) return *end.end;
    __builtin_trap();
  }

 private:
  struct End {
    Proc owner, to;
    channel::fake::FakeEnd* end;
  };
  void join(Proc owner, Proc to, channel::fake::FakeEnd& end, Script script) {
    end.script() = script;
    end.attach(to, &endpoints_[owner]->engine);
    endpoints_[owner]->connections[to].be_fake(to, &end);
    ends_.push_back({owner, to, &end});
  }
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::vector<std::unique_ptr<FakePair>> pairs_;
  std::vector<End> ends_;
};

// Progress until `done()`; false when it takes too many rounds, which means that something hangs.
template <class Done>
bool eventually(Done&& done, int rounds = 100000) {
  for (int i = 0; i < rounds; ++i) {
    if (done()) return true;
    base::progress();
  }
  return done();
}

}  // namespace vicinity::p2p::test
