// SPDX-License-Identifier: BSD-3-Clause
// The table, the pollers, and what is done alike for ranks of our job and for processes that are met later.
#include "peer/world.h"

#include <errno.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/event.h"
#include "base/log.h"
#include "channel/cma/cma.h"
#include "peer/channels.h"
#include "peer/meeting.h"
#include "wireup/launcher_params.h"

namespace vicinity::peer {

Table::Table(uint32_t count) : size_(count), most_(count + kRoom) {
  first_ = static_cast<VirtualConnection*>(
      ::operator new(most_ * sizeof(VirtualConnection), std::align_val_t(alignof(VirtualConnection))));
  for (uint32_t i = 0; i < count; ++i) new (first_ + i) VirtualConnection;
}

Table::~Table() {
  for (uint32_t i = 0; i < size_; ++i) first_[i].~VirtualConnection();
  ::operator delete(first_, std::align_val_t(alignof(VirtualConnection)));
}

VirtualConnection& Table::grow() { return *new (first_ + size_++) VirtualConnection; }

namespace {

void lose(Proc proc, const char* why) {
  World& w = *detail::world;
  VirtualConnection& connection = w.table[proc];
  if (connection.lost()) return;
  if (Neighbourhood* home = w.home[proc]) home->close(proc);
  connection.lose(why);
  base::tell(base::ProcessLost{static_cast<int32_t>(proc)});
  w.sink->lost(proc, why);
  // For whoever goes on without it: with the dead we are not connected any more.
  if (proc >= w.count && w.wireup && wireup::param_recovery.get()) w.wireup->tell_guests(guest_count());
}

// A lie in the ring, or (`refused`) the peer has given us up: then there is nobody to change channels with.
bool ring_lied(Proc proc, const char* why, bool refused) {
  VirtualConnection& connection = detail::world->table[proc];
  if (!refused && connection.ring_failed(why, true)) return true;
  connection.lose(why);
  return false;
}

}  // namespace

World::World(Proc own, uint32_t processes) : self(own), count(processes), table(processes) {
  flusher.lost = lose;
}

// A message that is handed on may, in its callbacks, lead to a meeting or to the end of one.
int Acquaintances::poll() {
  int events = 0;
  for (size_t i = 0; i < all.size(); ++i) events += all[i].region->port().poll();
  return events;
}

namespace detail {

World* world = nullptr;
VirtualConnection* connections = nullptr;

void has_work(VirtualConnection& connection) { world->flusher.has_work(connection); }
void has_change(VirtualConnection& connection) { world->flusher.has_change(connection); }
void report_lost(Proc proc, const char* why) { world->flusher.report_lost(proc, why); }
bool departed(Proc proc) { return world->home[proc] && world->home[proc]->departed(proc); }

void fill_received(Proc proc, Counters& counters) {
  counters.messages_received = counters.bytes_received = 0;
  if (proc != world->self && world->outside) world->outside->add_received(proc, counters);
  if (!world->home[proc]) return;
  const channel::ring::Receiver& receiver = world->home[proc]->receiver(proc);
  counters.messages_received += receiver.messages();
  counters.bytes_received += receiver.bytes();
}

const std::string& region_wish() { return world->cards[world->self].backing; }

void connect_ring(World& w, Neighbourhood& home, Proc proc) {
  const Card& card = w.cards[proc];
  w.home[proc] = &home;
  w.table[proc].be_ring(proc, home.sender(proc), &home.receiver(proc), card.pid);
  const bool allowed = w.cards[w.self].channels & card.channels & kAllowCma;
  const bool near = card.host_id == w.cards[w.self].host_id;
  const bool wanted = allowed && near && channel::cma::wanted();
  const char* why = wanted     ? channel::cma::probe(card.pid, card.token_address, card.token)
                    : !near    ? "it runs under another kernel"
                    : !allowed ? "VICINITY_CHANNELS forbids cma"
                               : "VICINITY_CMA=no";
  if (why && wanted) VICINITY_LOG(kInfo, "no single copy from process %u: %s", proc, why);
  const std::string copies = why ? std::string("no single copy: ") + why : "single copy by CMA";
  w.table[proc].allow_single_copy(!why,
                                  std::string("shared region (") + home.mapping().backing() + "), " + copies);
}

void open_port(World& w, Neighbourhood& home, const std::vector<Card>& cards) {
  // The barrier reaches processes of one kernel only.
  const bool membarrier =
      home.mapping().properties().same_kernel &&
      std::all_of(cards.begin(), cards.end(), [](const Card& card) { return card.membarrier; });
  home.open_port(cards[0].largest, membarrier, *w.sink);
  home.port().on_lie = ring_lied;
}

Crowd judge_crowd(const World& w) {
  Crowd crowd;
  for (Proc proc = 0; proc < w.cards.size(); ++proc) {
    if (w.cards[proc].host_id != w.cards[w.self].host_id) continue;
    if (proc >= w.count && !is_guest(proc)) continue;  // let go of
    crowd.here.push_back(proc);
    crowd.cpus.unite(w.cards[proc].cpus);
  }
  const int cpus = std::min(crowd.cpus.count(), cgroup_cpus());
  crowd.crowded = static_cast<int>(crowd.here.size()) > cpus;
  base::set_oversubscribed(crowd.crowded);
  return crowd;
}

void refresh_sleeper(World& w) {
  std::vector<channel::ring::Port*> ports;
  for (auto& neighbourhood : w.neighbourhoods) ports.push_back(&neighbourhood->port());
  for (Acquaintance& met : w.acquaintances.all) ports.push_back(&met.region->port());
  w.sleeper.open(&w.liveness, ports, w.outside && w.outside->opened() ? &w.outside->network() : nullptr);
  w.sleeper.safe = [] { world->acquaintances.retired.clear(); };
  if (w.watching) return;
  w.watching = true;
  base::add_poller(&w.liveness);
  base::set_sleeper(&w.sleeper);
}

void watch_life(World& w, Proc proc) {
  const Card& own = w.cards[w.self];
  const Card& card = w.cards[proc];
  const bool near = w.home[proc] && card.host_id == own.host_id && card.pid_namespace == own.pid_namespace;
  const int trouble = near ? w.liveness.watch(proc, card.pid) : 0;
  if (trouble == ESRCH) bury(w, proc);
  if (proc >= w.count) return;
  if (!near && w.home[proc] && w.membership) w.membership->watch(proc);
  if ((!near && proc != w.self) || trouble) w.asks_launcher = wireup::param_recovery.get();
}

// Whatever it sent before is delivered first; one that left in good order is not mourned.
void bury(World& w, Proc proc) {
  Neighbourhood* home = w.home[proc];
  if (!home) return;  // let go of
  if (w.installed) home->port().poll();
  if (!home->departed(proc)) report_lost(proc, "its process has died");
}

void leave_acquaintances(World& w) {
  for (Acquaintance& met : w.acquaintances.all) met.region->port().depart();
}

}  // namespace detail
}  // namespace vicinity::peer
