// SPDX-License-Identifier: BSD-3-Clause
// Peers: the process table and the virtual connection to each process.
//
// The coordinator (coordinator.cc) fills the table at start from the cards of wire-up: for each peer
// the candidates in order of preference, each proven before use. A VirtualConnection is all that p2p/
// sees: send, or queue and be told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "channel/channel.h"
#include "channel/ring/line.h"
#include "peer/locality.h"
#include "peer/virtual_connection.h"
#include "region/layout.h"
#include "region/mapping.h"
#include "wireup/wireup.h"

namespace vicinity::peer {

// Called once each. start() proves the channels and registers their pollers; it needs two fences.
base::Status start(wireup::Wireup& wireup, channel::Sink& sink);
void stop();
// The launcher has been told that this process ends well: it is not asked any more, and our end is no death
// to be mourned. The channels stay, for sessions that outlive MPI_Finalize.
void farewell();
// This process ends although MPI runs. What it has sent is brought on its way, or is given up after some
// seconds.
void push_out();

// For tests: a table of ends.size() processes in which this one is `self` and the others are at the other
// ends of fakes (ends[self] is nullptr: the self channel). stop() ends it.
base::Status start_fake(Proc self, const std::vector<channel::fake::FakeEnd*>& ends, channel::Sink& sink);

namespace detail {
extern VirtualConnection* connections;
}

uint32_t process_count();
Proc self();
inline VirtualConnection& connection(Proc proc) { return detail::connections[proc]; }
const std::string& host_name(Proc proc);
bool co_resident(Proc proc);
// Under the same kernel as we are, as far as can be known of one that is co-resident.
bool same_kernel(Proc proc);
// What is slower to reach is in another place. For processes of our job, all of which say the same
// (locality.h).
Proc place_of(Proc proc, Place place);
bool of_our_job(Proc proc);
// Is it in memory that we share, now? Asks the VM list again of those that are in the host region.
bool present(Proc proc);

// The region that this process shares with others, for whoever shows them more than messages (boards, coll/).
struct Shared {
  const region::Mapping& mapping;
  const region::Geometry& geometry;
  bool fence;  // no membarrier: who looks at a bell after a store orders the two himself
};
const Shared* shared();  // nullptr: there is none
inline constexpr uint32_t kNoSection = UINT32_MAX;
// Looks at the ring of one process alone, until something comes but at most `looks` times; the number of
// events. 0 at once if there is no ring or nothing has ever come through it: then only progress() finds it.
int listen(Proc proc, int looks, channel::Wanted& wanted);
// Has it given its core away just now? True as well of those that cannot tell us.
bool is_away(Proc proc);
uint32_t section_of(Proc proc);       // kNoSection: not in the region
channel::ring::Bell bell(Proc proc);  // of one in the region

// Messages to all leave shared memory, in order, or come back to it, where the peer wishes the same. Returns
// at once; progress does it.
void suspend_rings(bool yes);

std::string map_text();  // the matrix row of this process, for `vicinity map` (docs/formats/map.md)

}  // namespace vicinity::peer
