// SPDX-License-Identifier: BSD-3-Clause
// Opening the network, and words about it.
#include "peer/outside.h"

#include "peer/channels.h"
#include "peer/table.h"
#include "peer/world.h"

namespace vicinity::peer {

std::string apart(const Card& own, const Card& other) {
  if (!(own.channels & kAllowRing)) return "VICINITY_CHANNELS forbids shared memory";
  if (!(other.channels & kAllowRing)) return "its VICINITY_CHANNELS forbids shared memory";
  if (own.host_id != other.host_id) return "another host (" + other.host + ")";
  return "";
}

base::Status Outside::open(bool needed, Proc self, uint32_t count, channel::Sink& sink, GetAddress get) {
  sink_ = std::make_unique<NoteSink>(sink);
  sink_->on_note = on_note;
  sink_->on_garbage = [](Proc from) { detail::report_lost(from, "its note is no note"); };
  auto network = channel::ucx::Network::open(channel::ucx::wanted_options(self, count), *sink_);
  if (!network.ok())
    return base::fail(base::kOther, "%s: %s",
                      needed ? "shared memory does not reach all processes, and there is no network"
                             : "VICINITY_STANDBY wants a network beside shared memory, and there is none",
                      base::failure_text(network.status().code()));
  network_ = std::move(*network);
  network_->address_of = get;
  network_->on_lost = on_lost;
  return base::kOk;
}

std::string Outside::description() const {
  return std::string("UCX ") + network_->version() + ", transport " + network_->options().transport;
}

void Outside::add_received(Proc proc, Counters& counters) {
  if (!network_) return;
  const channel::ucx::Link* link = network_->find(proc);
  if (!link) return;
  counters.messages_received += link->messages();
  counters.bytes_received += link->bytes();
}

void Outside::farewell() {
  if (network_) network_->farewell();
}

void Outside::push_out() {
  if (network_) network_->push_out();
}

namespace {

void network_lost(Proc proc, const char* why) {
  if (!detail::world->table[proc].network_failed(why)) detail::report_lost(proc, why);
}

base::Result<std::string> address_of(Proc proc) {
  World& w = *detail::world;
  if (const auto guest = w.addresses.find(proc); guest != w.addresses.end()) return guest->second;
  if (!w.wireup) return base::fail(base::kOther, "MPI has been finalized");
  return w.wireup->get(static_cast<int>(proc), Outside::kKey);
}

}  // namespace

base::Status detail::open_outside(World& w, bool needed) {
  if (!w.outside) w.outside = std::make_unique<Outside>();
  if (w.outside->opened()) return base::kOk;
  w.outside->on_lost = network_lost;
  w.outside->on_note = [](Proc from, const ChangeNote& note) { world->table[from].take_note(note); };
  VICINITY_TRY(w.outside->open(needed, w.self, w.count, *w.sink, address_of));
  w.outside->network().sparing = !w.neighbourhoods.empty();
  if (w.installed) base::add_poller(&w.outside->network());
  return base::kOk;
}

}  // namespace vicinity::peer
