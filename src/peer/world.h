// SPDX-License-Identifier: BSD-3-Clause
// What the coordinator owns, for the files of this room that work on it: the table of processes, the regions
// that we share, and the pollers.
//
// Processes of our job are numbered by rank. Those that are met later (meeting.h) get the numbers above, in
// the order in which this process meets them, so a number means something in this process only. No number is
// used twice.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/list.h"
#include "base/progress.h"
#include "peer/card.h"
#include "peer/flusher.h"
#include "peer/host_forming.h"
#include "peer/liveness.h"
#include "peer/neighbourhood.h"
#include "peer/outside.h"
#include "peer/peer.h"
#include "peer/sleeper.h"
#include "peer/table.h"

namespace vicinity::peer {

// The connections by process number. They never move, because others hold their addresses: room for later
// ones is set aside, which costs address space only.
class Table {
 public:
  static constexpr uint32_t kRoom = 65536;  // processes met after the start

  explicit Table(uint32_t count);
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table();
  VirtualConnection& operator[](Proc proc) { return first_[proc]; }
  VirtualConnection* first() { return first_; }
  uint32_t size() const { return size_; }
  bool full() const { return size_ == most_; }
  VirtualConnection& grow();  // unless it is full

 private:
  VirtualConnection* first_;
  uint32_t size_;
  const uint32_t most_;
};

// A region that we share with processes of other jobs; it goes when we have let go of all of them.
struct Acquaintance {
  std::unique_ptr<Neighbourhood> region;
  uint32_t held = 0;  // processes that we reach through it
};

// One poller for all of them, however many.
class Acquaintances final : public base::Poller {
 public:
  std::vector<Acquaintance> all;
  std::vector<std::unique_ptr<Neighbourhood>> retired;  // another thread may be asleep in them
  int poll() override;
};

struct World {
  World(Proc own, uint32_t processes);

  const Proc self;
  const uint32_t count;  // of our job
  std::string job;
  Table table;
  std::vector<Card> cards;
  std::vector<Proc> places[2];  // by Place; of our job, empty if nobody else was there at its start
  std::unordered_map<std::string, Proc>
      names;                       // of all that we are connected with; filled at the first meeting
  region::HostRegion host_region;  // outlives what lies in it
  std::unique_ptr<HostMembership> membership;                  // our place there
  std::vector<std::unique_ptr<Neighbourhood>> neighbourhoods;  // of our job, in order of preference
  Acquaintances acquaintances;
  std::vector<Neighbourhood*> home;     // of each process: where its ring is, or nullptr
  const Neighbourhood* host = nullptr;  // the one in the host region
  std::string trouble;                  // why a proposed region has not taken us in
  channel::Sink* sink = nullptr;
  wireup::Wireup* wireup = nullptr;
  std::optional<Shared> shared;                     // of the first neighbourhood
  std::unique_ptr<Outside> outside;                 // nullptr: one region was proposed for everybody
  std::unordered_map<Proc, std::string> addresses;  // in the network, of the guests that we reach by it
  std::unique_ptr<channel::self::SelfChannel> self_channel;
  std::vector<channel::fake::FakeEnd*> fakes;
  Liveness liveness;
  Flusher flusher;
  WatchfulSleeper sleeper;
  bool watching = false;       // liveness and sleeper are installed
  bool asks_launcher = false;  // who has died
  unsigned looks = 0;
  bool installed = false;
};

namespace detail {

extern World* world;

void connect_ring(World& w, Neighbourhood& home, Proc proc);
// A port for a region that has been joined; from now on its rings can be used.
void open_port(World& w, Neighbourhood& home, const std::vector<Card>& cards);
// Tells base whether processes outnumber cores here. Returns our place among them.
struct Crowd {
  std::vector<Proc> here;  // under our kernel, by identity: a wrong guess costs time, not messages
  CpuSet cpus;             // where they may run
  bool crowded = false;
};
Crowd judge_crowd(const World& w);
// After the regions or the network have changed.
void refresh_sleeper(World& w);
void watch_life(World& w, Proc proc);
// Its process has ended.
void bury(World& w, Proc proc);
// Our end is no death to be mourned.
void leave_acquaintances(World& w);

}  // namespace detail
}  // namespace vicinity::peer
