// SPDX-License-Identifier: BSD-3-Clause
// The coordinator: who is there, what reaches whom, proven before use.
//
//   cards -> fence -> proposals (locality.cc) -> regions (forming.cc) -> fence -> neighbourhoods -> rings,
//   CMA probes
//
// Ranks that no region reaches are reached by the network (outside.cc). The coordinator owns everything that
// lives as long as the job does: the table, the neighbourhoods, the outside, the self channel, the watch over
// deaths; and it is the poller that flushes queued messages.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/param.h"
#include "base/progress.h"
#include "peer/card.h"
#include "peer/channels.h"
#include "peer/extent.h"
#include "peer/forming.h"
#include "peer/host_forming.h"
#include "peer/liveness.h"
#include "peer/locality.h"
#include "peer/map.h"
#include "peer/neighbourhood.h"
#include "peer/outside.h"
#include "peer/peer.h"
#include "peer/world.h"

namespace vicinity::peer {
namespace {

using base::fail;
using base::Status;

base::Param<std::string> bind_param{
    "VICINITY_BIND", "peer", "auto", "auto|no",
    "Bind local ranks to CPUs of their own at start, if the launcher did not and there are enough."};

using detail::world;

constexpr const char* kCardKey = "vicinity-card";

// A job that does not end in stop() gives its place in the host region back too, after all else.
struct AtExit {
  ~AtExit() {
    if (world) world->membership.reset();
  }
} at_exit;

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

// Who is in no region of ours is reached by the network, or ends the start.
Status reach_others(World& w) {
  const Card& own = w.cards[w.self];
  const bool opened = w.outside && w.outside->opened();
  for (uint32_t rank = 0; rank < w.count; ++rank) {
    const Card& card = w.cards[rank];
    if (opened && w.home[rank] && (card.channels & kAllowUcx))
      w.table[rank].add_network(&w.outside->network());
    if (rank == w.self || w.home[rank]) continue;
    std::string why = apart(own, card);
    if (why.empty() && w.trouble.empty()) why = "both run under one kernel but share no memory";
    if (!w.trouble.empty()) why += (why.empty() ? "" : "; ") + w.trouble;
    if (opened && (card.channels & kAllowUcx)) {
      w.table[rank].be_network(rank, &w.outside->network(), why + ": " + w.outside->description());
      continue;
    }
    return fail(base::kOther,
                "rank %u (host %s, pid %d) cannot be reached from rank %u (host %s, pid %d): %s; %s", rank,
                card.host.c_str(), card.pid, w.self, own.host.c_str(), own.pid, why.c_str(),
                w.outside ? "VICINITY_CHANNELS forbids the network (ucx)"
                          : "containers need a common /dev/shm (--ipc=host) or a common VICINITY_REGION_DIR, "
                            "virtual machines a common VICINITY_HOST_REGION (see vicinity doctor); "
                            "VICINITY_CHANNELS=ucx makes them use the network");
  }
  return base::kOk;
}

template <class AnyForming>
const Neighbourhood* join(World& w, AnyForming& forming) {
  if (!forming.in()) {
    w.trouble = forming.trouble();
    VICINITY_LOG(kInfo, "not in a shared region: %s", w.trouble.c_str());
    return nullptr;
  }
  const auto& admitted = forming.admitted();
  if (std::count(admitted.begin(), admitted.end(), 1) < 2) return nullptr;
  w.neighbourhoods.push_back(std::make_unique<Neighbourhood>(std::move(forming.mapping()), forming.geometry(),
                                                             forming.generation(), forming.group(), admitted,
                                                             forming.self()));
  return w.neighbourhoods.back().get();
}

void connect_rings(World& w) {
  for (auto& neighbourhood : w.neighbourhoods) {
    const std::vector<uint32_t>& group = neighbourhood->group();
    std::vector<Card> cards;
    for (uint32_t rank : group) cards.push_back(w.cards[rank]);
    detail::open_port(w, *neighbourhood, cards);
    if (!w.shared)
      w.shared.emplace(
          Shared{neighbourhood->mapping(), neighbourhood->geometry(), !neighbourhood->membarrier()});
    for (uint32_t rank : group)
      if (rank != w.self && !w.home[rank] && neighbourhood->section(rank) != kNoSection)
        detail::connect_ring(w, *neighbourhood, rank);
  }
}

// Tells base whether to spin, and binds the ranks if nobody else did.
void arrange_cpus(World& w) {
  const detail::Crowd crowd = detail::judge_crowd(w);
  const int ranks = static_cast<int>(crowd.here.size());
  if (ranks == 1 || crowd.crowded || bind_param.get() == "no") return;
  for (Proc rank : crowd.here)
    if (!(w.cards[rank].cpus == CpuSet::online())) return;  // the launcher or the user has chosen
  const auto index = std::find(crowd.here.begin(), crowd.here.end(), w.self) - crowd.here.begin();
  const std::string done = bind_self(crowd.cpus, static_cast<int>(index), ranks);
  VICINITY_LOG(kInfo, "%s", done.c_str());
}

// Of processes under other kernels there is only the sign of life that they give in the host region.
void watch_host_region(World& w) {
  for (const HostMembership::Silence& silent : w.membership->silent()) {
    Neighbourhood* home = w.home[silent.rank];
    if (!home || home->departed(silent.rank)) continue;
    if (w.table[silent.rank].ring_failed(silent.why, true))
      home->forsake(silent.rank);
    else
      detail::report_lost(silent.rank, silent.why);
  }
}

// Whoever cannot be watched from here is the launcher's business, if it goes on without the dead.
void ask_launcher(World& w) {
  constexpr unsigned kEvery = 3;  // of the looks at the lives, five a second
  if (!w.asks_launcher || !w.wireup || ++w.looks % kEvery != 0) return;
  for (int rank : w.wireup->dead())
    if (const auto proc = static_cast<Proc>(rank); !w.home[proc] || !w.home[proc]->departed(proc))
      detail::report_lost(proc, "the launcher says that its process has died");
}

// Deaths, and the end of the launcher.
void mourn(World& w) {
  w.liveness.died = [](Proc proc) { detail::bury(*world, proc); };
  w.liveness.also = [] {
    if (world->wireup && !world->wireup->check().ok()) {
      VICINITY_LOG(kError, "the launcher is gone: %s", base::failure_text(base::kOther));
      _exit(1);
    }
    if (world->membership) watch_host_region(*world);
    ask_launcher(*world);
  };
}

uint32_t index_in(const std::vector<uint32_t>& group, uint32_t rank) {
  return static_cast<uint32_t>(std::find(group.begin(), group.end(), rank) - group.begin());
}

std::unique_ptr<Forming> make_forming(const World& w, const std::vector<uint32_t>& group, Forming::Way way) {
  if (group.empty()) return nullptr;
  return std::make_unique<Forming>(w.cards, group, index_in(group, w.self), way);
}

// All ranks open the network or none does: they decide alike from the cards. Before the second fence, so that
// whoever sends first finds the address.
Status open_outside(World& w, bool needed) {
  w.outside = std::make_unique<Outside>();
  if (!(w.cards[w.self].channels & kAllowUcx)) return base::kOk;
  const Status status = detail::open_outside(w, needed);
  if (status.ok()) return w.wireup->put(Outside::kKey, w.outside->network().address());
  if (needed) return status;
  VICINITY_LOG(kWarn, "%s", base::failure_text(status.code()));
  return base::kOk;
}

Status start_group(World& w) {
  Card own;
  VICINITY_TRY(make_card(true, &own));
  if (auto found = open_host_region(); found.ok()) {
    w.host_region = std::move(*found);
    own.host_region = hex(w.host_region.identity().data(), 16);
  }
  VICINITY_TRY(gather_cards(w, own));
  auto stated = stated_groups(locality_setting(), w.cards);
  VICINITY_TRY(stated.status());
  for (Place place : {Place::kHost, Place::kKernel})
    w.places[static_cast<size_t>(place)] = places(w.cards, *stated, place);
  const Proposal proposal = propose(w.cards, w.self, *stated);
  if ((proposal.memfd.empty() || proposal.memfd[0] != w.self) && own.memfd >= 0) close(own.memfd);
  const std::unique_ptr<Forming> regions[] = {make_forming(w, proposal.memfd, Forming::Way::kMemfd),
                                              make_forming(w, proposal.file, Forming::Way::kFile)};
  for (auto& region : regions)
    if (region) region->try_first();
  std::optional<HostForming> host;
  if (!proposal.host.empty()) {
    host.emplace(w.cards, proposal.host, index_in(proposal.host, w.self), w.host_region);
    host->try_first();
  }
  const bool needed = std::max({proposal.memfd.size(), proposal.file.size(), proposal.host.size()}) < w.count;
  const bool standby =
      std::any_of(w.cards.begin(), w.cards.end(), [](const Card& card) { return card.channels & kStandby; });
  if (needed || standby) VICINITY_TRY(open_outside(w, needed));
  VICINITY_TRY(w.wireup->fence());
  for (auto& region : regions) {
    if (!region) continue;
    region->settle();
    join(w, *region);
  }
  if (host) {
    host->settle();
    w.membership = std::move(host->membership());
    w.host = join(w, *host);
  }
  connect_rings(w);
  VICINITY_TRY(reach_others(w));
  arrange_cpus(w);
  for (uint32_t rank = 0; rank < w.count; ++rank) detail::watch_life(w, rank);
  return base::kOk;
}

void install(World& w) {
  w.installed = true;
  base::add_poller(w.self_channel.get());
  for (auto& neighbourhood : w.neighbourhoods) base::add_poller(&neighbourhood->port());
  if (w.outside && w.outside->opened()) {
    w.outside->network().sparing = !w.neighbourhoods.empty();
    base::add_poller(&w.outside->network());
  }
  if (w.count > 1 && w.wireup) detail::refresh_sleeper(w);
  base::add_poller(&w.acquaintances);
  base::add_poller(&w.flusher);
}

void make_world(Proc self, uint32_t count, channel::Sink& sink) {
  world = new World(self, count);
  mourn(*world);
  world->home.assign(count, nullptr);
  world->sink = &sink;
  detail::connections = world->table.first();
  for (uint32_t rank = 0; rank < count; ++rank) world->table[rank].be_nothing(rank, "not started");
  world->self_channel = std::make_unique<channel::self::SelfChannel>(self, sink);
  world->table[self].be_self(self, world->self_channel.get());
}

}  // namespace

Proc extent_domain(Proc proc) {
  const Card& card = world->cards[proc];
  Proc lowest = 0;
  while (world->cards[lowest].host_id != card.host_id ||
         world->cards[lowest].pid_namespace != card.pid_namespace)
    ++lowest;
  return lowest;
}

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
    base::set_oversubscribed(false);
  }
  install(*world);
  suspended_changed();
  write_map(world->job, world->self, map_text());
  return base::kOk;
}

base::Status start_fake(Proc self, const std::vector<channel::fake::FakeEnd*>& ends, channel::Sink& sink) {
  make_world(self, static_cast<uint32_t>(ends.size()), sink);
  world->cards.resize(ends.size());
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
  base::set_sleeper(nullptr);
  base::remove_poller(&world->liveness);
  if (world->outside && world->outside->opened()) base::remove_poller(&world->outside->network());
  for (auto& neighbourhood : world->neighbourhoods) {
    base::remove_poller(&neighbourhood->port());
    neighbourhood->port().depart();
  }
  base::remove_poller(&world->acquaintances);
  detail::leave_acquaintances(*world);
}

}  // namespace

void stop() {
  if (!world) return;
  if (world->installed) {  // start() may have failed half-way
    if (world->wireup) write_map(world->job, world->self, map_text());
    if (world->outside) world->outside->farewell();
    uninstall();
  }
  detail::connections = nullptr;
  delete world;
  world = nullptr;
}

void push_out() {
  if (world && world->outside) world->outside->push_out();
}

void farewell() {
  if (!world) return;
  if (world->wireup) write_map(world->job, world->self, map_text());
  if (world->outside) world->outside->farewell();
  world->wireup = nullptr;
  for (auto& neighbourhood : world->neighbourhoods) neighbourhood->port().depart();
  detail::leave_acquaintances(*world);
}

void suspended_changed() {
  if (world && world->installed) suspend_rings(suspended());
}

void suspend_rings(bool yes) {
  uint32_t fixed = 0;
  for (uint32_t rank = 0; rank < world->count; ++rank)
    if (rank != world->self && world->home[rank])
      fixed += !world->table[rank].hold_ring(yes, "suspended as asked");
  if (fixed)
    VICINITY_LOG(kWarn, "shared memory is the only way to %u ranks: VICINITY_STANDBY=yes opens a network",
                 fixed);
}

uint32_t process_count() { return world->table.size(); }
Proc self() { return world->self; }
const std::string& host_name(Proc proc) { return world->cards[proc].host; }
const Shared* shared() { return world && world->shared ? &*world->shared : nullptr; }
int listen(Proc proc, int looks, channel::Wanted& wanted) {
  Neighbourhood* home = world->home[proc];
  return home ? home->port().listen(home->section(proc), looks, wanted) : 0;
}
bool is_away(Proc proc) {
  Neighbourhood* home = world->home[proc];
  return !home || proc == world->self || home->port().is_away(home->section(proc));
}
uint32_t section_of(Proc proc) {
  return world->neighbourhoods.empty() ? kNoSection : world->neighbourhoods[0]->section(proc);
}
channel::ring::Bell bell(Proc proc) { return world->neighbourhoods[0]->port().bell(section_of(proc)); }
bool co_resident(Proc proc) { return world->table[proc].co_resident(); }
bool same_kernel(Proc proc) {
  const Neighbourhood* home = world->home[proc];
  if (proc == world->self || (home && home->mapping().properties().same_kernel)) return true;
  const Card &own = world->cards[world->self], &card = world->cards[proc];
  return card.host_id == own.host_id && card.host == own.host;  // clones have the same boot id
}
Proc place_of(Proc proc, Place place) {
  const std::vector<Proc>& all = world->places[static_cast<size_t>(place)];
  return proc < all.size() ? all[proc] : proc;
}
bool of_our_job(Proc proc) { return proc < world->count; }
bool present(Proc proc) {
  if (proc == world->self) return true;
  const Neighbourhood* home = world->home[proc];
  if (!home || world->table[proc].lost() || home->departed(proc)) return false;
  return home != world->host || world->membership->list().has(proc);
}

std::string map_text() {
  MapHead head{world->job, world->self, world->count, world->cards[world->self].host};
  std::string text = map_head(head);
  for (uint32_t rank = 0; rank < world->count; ++rank)
    text += map_line(world->table[rank], world->cards[rank].host);
  return text;
}

}  // namespace vicinity::peer
