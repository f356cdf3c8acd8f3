// SPDX-License-Identifier: BSD-3-Clause
// The coordinator: who is there, what reaches whom, proven before use.
//
//   cards -> fence -> group of co-resident ranks -> region (forming.cc) -> fence -> rings -> CMA probes
//
// It owns everything that lives as long as the job does: the table, the port into the region, the self
// channel, the watch over deaths; and it is the poller that flushes queued messages.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/list.h"
#include "base/log.h"
#include "base/param.h"
#include "base/progress.h"
#include "channel/ring/port.h"
#include "peer/card.h"
#include "peer/forming.h"
#include "peer/liveness.h"
#include "peer/map.h"
#include "peer/peer.h"
#include "peer/table.h"

namespace vicinity::peer {
namespace {

using base::fail;
using base::Status;

base::Param<std::string> bind_param{
    "VICINITY_BIND", "peer", "auto", "auto|no",
    "Bind local ranks to CPUs of their own at start, if the launcher did not and there are enough."};

constexpr const char* kCardKey = "vicinity-card";

// Flushes connections with queued messages and reports losses, from progress.
class Flusher final : public base::Poller {
 public:
  using Work = base::List<VirtualConnection, &VirtualConnection::work>;
  struct Loss {
    Proc proc;
    const char* why;
  };
  Work work;
  std::vector<Loss> losses;
  int poll() override;
};

// The port's way of sleeping, with a look at who is still alive before each sleep.
class WatchfulSleeper final : public base::Sleeper {
 public:
  void arm() override;
  void disarm() override;
  void sleep(int timeout_us) override;
  void wake_self() override;
};

struct World {
  Proc self = 0;
  uint32_t count = 0;
  std::string job;
  std::unique_ptr<VirtualConnection[]> table;
  std::vector<Card> cards;
  std::vector<uint32_t> section;  // of each rank in the region; kNoSection
  std::vector<uint32_t> group;    // ranks in the region
  channel::Sink* sink = nullptr;
  wireup::Wireup* wireup = nullptr;
  region::Mapping mapping;
  region::Geometry geometry;
  std::optional<Shared> shared;
  std::unique_ptr<channel::ring::Port> port;
  std::unique_ptr<channel::self::SelfChannel> self_channel;
  std::vector<channel::fake::FakeEnd*> fakes;
  Liveness liveness;
  Flusher flusher;
  WatchfulSleeper sleeper;
  bool installed = false;
};

World* world = nullptr;

int Flusher::poll() {
  int events = 0;
  if (!losses.empty()) [[unlikely]] {
    const std::vector<Loss> now = std::exchange(losses, {});
    for (const Loss& loss : now) {
      VirtualConnection& connection = world->table[loss.proc];
      if (connection.lost()) continue;
      ++events;
      if (world->port && world->section[loss.proc] != kNoSection)
        world->port->close(world->section[loss.proc]);
      connection.lose(loss.why);
      world->sink->lost(loss.proc, loss.why);
    }
  }
  VirtualConnection* next;
  for (VirtualConnection* connection = work.front(); connection; connection = next) {
    next = work.after(connection);
    events += connection->flush();
    if (!connection->has_work()) {
      next = work.after(connection);  // flush() may have linked others behind it
      work.remove(connection);
    }
  }
  return events;
}

void WatchfulSleeper::arm() {
  world->liveness.look();
  world->port->arm();
}
void WatchfulSleeper::disarm() { world->port->disarm(); }
void WatchfulSleeper::sleep(int timeout_us) { world->port->sleep(timeout_us); }
void WatchfulSleeper::wake_self() { world->port->wake_self(); }

Status gather_cards(World& w, const Card& own) {
  VICINITY_TRY(w.wireup->put(kCardKey, format_card(own)));
  VICINITY_TRY(w.wireup->fence());
  w.cards.resize(w.count);
  for (uint32_t rank = 0; rank < w.count; ++rank) {
    if (rank == w.self) {
      w.cards[rank] = own;
      continue;
    }
    base::Result<std::string> text = w.wireup->get(static_cast<int>(rank), kCardKey);
    VICINITY_TRY(text.status());
    VICINITY_TRY(parse_card(*text, static_cast<int>(rank), &w.cards[rank]));
  }
  return base::kOk;
}

Status find_group(World& w) {
  w.section.assign(w.count, kNoSection);
  for (uint32_t rank = 0; rank < w.count; ++rank) {
    if (w.cards[rank].host_id != w.cards[w.self].host_id) continue;
    w.section[rank] = static_cast<uint32_t>(w.group.size());
    w.group.push_back(rank);
  }
  return base::kOk;
}

// There is no other channel yet, so a rank out of reach is the end of the start.
Status all_reachable(const World& w) {
  for (uint32_t rank = 0; rank < w.count; ++rank) {
    if (w.section[rank] != kNoSection) continue;
    return fail(base::kOther,
                "rank %u on host %s cannot be reached from rank %u on host %s: it runs under another "
                "kernel, and there is no network channel yet. Run all ranks on one host",
                rank, w.cards[rank].host.c_str(), w.self, w.cards[w.self].host.c_str());
  }
  return base::kOk;
}

void connect_rings(World& w, uint32_t generation) {
  channel::ring::PortOptions options;
  options.self = w.section[w.self];
  options.procs = w.group.data();
  options.generation = generation;
  options.largest = w.cards[w.group[0]].largest;
  options.membarrier =
      std::all_of(w.group.begin(), w.group.end(), [&](uint32_t r) { return w.cards[r].membarrier; });
  w.port = std::make_unique<channel::ring::Port>(w.mapping, w.geometry, options, *w.sink);
  w.shared.emplace(Shared{w.mapping, w.geometry, !options.membarrier});
  w.port->on_lie = [](uint32_t section, const char* why) { world->table[world->group[section]].lose(why); };
  for (uint32_t rank : w.group) {
    if (rank == w.self) continue;
    const Card& card = w.cards[rank];
    w.table[rank].be_ring(rank, w.port->sender(w.section[rank]), card.pid);
    const char* why = !channel::cma::wanted() ? "VICINITY_CMA=no"
                                              : channel::cma::probe(card.pid, card.token_address, card.token);
    if (why && channel::cma::wanted()) VICINITY_LOG(kInfo, "no single copy from rank %u: %s", rank, why);
    w.table[rank].allow_single_copy(!why,
                                    std::string("shared region (") + w.mapping.backing() + "), " +
                                        (why ? std::string("no single copy: ") + why : "single copy by CMA"));
  }
}

// Tells base whether to spin, and binds the ranks if nobody else did.
void arrange_cpus(World& w) {
  CpuSet all;
  for (uint32_t rank : w.group) all.unite(w.cards[rank].cpus);
  const int cpus = std::min(all.count(), cgroup_cpus());
  const int ranks = static_cast<int>(w.group.size());
  base::set_oversubscribed(ranks > cpus);
  if (ranks == 1 || ranks > cpus || bind_param.get() == "no") return;
  for (uint32_t rank : w.group)
    if (!(w.cards[rank].cpus == CpuSet::online())) return;  // the launcher or the user has chosen
  const std::string done = bind_self(all, static_cast<int>(w.section[w.self]), ranks);
  VICINITY_LOG(kInfo, "%s", done.c_str());
}

void watch_lives(World& w) {
  for (uint32_t rank : w.group) {
    if (rank == w.self || w.cards[rank].pid_namespace != w.cards[w.self].pid_namespace) continue;
    w.liveness.watch(rank, w.cards[rank].pid);
  }
  w.liveness.died = [](Proc proc) {
    // Whatever it sent before is delivered first; one that left in good order is not mourned.
    world->port->poll();
    if (!world->port->departed(world->section[proc])) detail::report_lost(proc, "its process has died");
  };
  w.liveness.also = [] {
    if (world->wireup && !world->wireup->check().ok()) {
      VICINITY_LOG(kError, "the launcher is gone: %s", base::failure_text(base::kOther));
      _exit(1);
    }
  };
}

Status start_group(World& w) {
  Card own;
  VICINITY_TRY(make_card(true, &own));
  VICINITY_TRY(gather_cards(w, own));
  VICINITY_TRY(find_group(w));
  if (w.group[0] != w.self && own.memfd >= 0) close(own.memfd);
  Forming forming(w.cards, w.group, w.section[w.self]);
  if (w.group.size() > 1) forming.try_first();
  VICINITY_TRY(w.wireup->fence());
  VICINITY_TRY(all_reachable(w));
  if (w.group.size() > 1) VICINITY_TRY(forming.settle());
  w.mapping = std::move(forming.mapping());
  arrange_cpus(w);
  w.geometry = forming.geometry();
  connect_rings(w, forming.generation());
  watch_lives(w);
  return base::kOk;
}

void install(World& w) {
  w.installed = true;
  base::add_poller(w.self_channel.get());
  if (w.port) {
    base::add_poller(w.port.get());
    base::add_poller(&w.liveness);
    base::set_sleeper(&w.sleeper);
  }
  base::add_poller(&w.flusher);
}

void make_world(Proc self, uint32_t count, channel::Sink& sink) {
  world = new World;
  world->self = self;
  world->count = count;
  world->sink = &sink;
  world->table = std::make_unique<VirtualConnection[]>(count);
  detail::connections = world->table.get();
  for (uint32_t rank = 0; rank < count; ++rank) world->table[rank].be_nothing(rank, "not started");
  world->self_channel = std::make_unique<channel::self::SelfChannel>(self, sink);
  world->table[self].be_self(self, world->self_channel.get());
}

}  // namespace

namespace detail {

VirtualConnection* connections = nullptr;

void has_work(VirtualConnection& connection) {
  if (!connection.work.linked()) world->flusher.work.push_back(&connection);
}

void report_lost(Proc proc, const char* why) { world->flusher.losses.push_back({proc, why}); }

void fill_received(Proc proc, Counters& counters) {
  if (!world->port || proc == world->self || world->section[proc] == kNoSection) return;
  const channel::ring::Receiver& receiver = world->port->receiver(world->section[proc]);
  counters.messages_received = receiver.messages();
  counters.bytes_received = receiver.bytes();
}

}  // namespace detail

base::Status start(wireup::Wireup& wireup, channel::Sink& sink) {
  const wireup::Identity& identity = wireup.identity();
  make_world(static_cast<Proc>(identity.rank), static_cast<uint32_t>(identity.size), sink);
  world->wireup = &wireup;
  world->job = identity.job;
  if (identity.size > 1) {
    VICINITY_TRY(start_group(*world));
  } else {
    world->cards.resize(1);
    VICINITY_TRY(make_card(false, &world->cards[0]));
    world->section.assign(1, kNoSection);
    base::set_oversubscribed(false);
  }
  install(*world);
  write_map(world->job, world->self, map_text());
  return base::kOk;
}

base::Status start_fake(Proc self, const std::vector<channel::fake::FakeEnd*>& ends, channel::Sink& sink) {
  make_world(self, static_cast<uint32_t>(ends.size()), sink);
  world->cards.resize(ends.size());
  world->section.assign(ends.size(), kNoSection);
  world->fakes = ends;
  for (uint32_t rank = 0; rank < ends.size(); ++rank) {
    world->cards[rank].host = "fake" + std::to_string(rank);
    if (rank == self || !ends[rank]) continue;
    ends[rank]->attach(rank, &sink);
    world->table[rank].be_fake(rank, ends[rank]);
    base::add_poller(ends[rank]);
  }
  install(*world);
  return base::kOk;
}

namespace {

void uninstall() {
  base::remove_poller(&world->flusher);
  base::remove_poller(world->self_channel.get());
  for (channel::fake::FakeEnd* end : world->fakes)
    if (end) base::remove_poller(end);
  if (world->port) {
    base::set_sleeper(nullptr);
    base::remove_poller(&world->liveness);
    base::remove_poller(world->port.get());
    world->port->depart();
  }
}

}  // namespace

void stop() {
  if (!world) return;
  if (world->installed) {  // start() may have failed half-way
    if (world->wireup) write_map(world->job, world->self, map_text());
    uninstall();
  }
  detail::connections = nullptr;
  delete world;
  world = nullptr;
}

void farewell() {
  if (!world) return;
  if (world->wireup) write_map(world->job, world->self, map_text());
  world->wireup = nullptr;
  if (world->port) world->port->depart();
}

uint32_t process_count() { return world->count; }
Proc self() { return world->self; }
const std::string& host_name(Proc proc) { return world->cards[proc].host; }
const Shared* shared() { return world && world->shared ? &*world->shared : nullptr; }
uint32_t section_of(Proc proc) { return world->section[proc]; }
channel::ring::Bell bell(Proc proc) { return world->port->bell(world->section[proc]); }
bool co_resident(Proc proc) { return world->table[proc].co_resident(); }

std::string map_text() {
  MapHead head{world->job, world->self, world->count, world->cards[world->self].host};
  std::string text = map_head(head);
  for (uint32_t rank = 0; rank < world->count; ++rank)
    text += map_line(world->table[rank], world->cards[rank].host);
  return text;
}

}  // namespace vicinity::peer
