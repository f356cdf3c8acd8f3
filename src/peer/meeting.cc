// SPDX-License-Identifier: BSD-3-Clause
// Introductions, regions and connections for processes that meet after the start; and letting go.
#include "peer/meeting.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/log.h"
#include "peer/channels.h"
#include "peer/forming.h"
#include "peer/locality.h"
#include "peer/world.h"

namespace vicinity::peer {

using base::fail;
using base::Result;
using base::Status;
using detail::world;

namespace {

constexpr Proc kStranger = UINT32_MAX;
constexpr size_t kNameLetters = 32;  // a nonce, hexadecimal

std::string name_in(const Card& card) { return hex(card.nonce.bytes, sizeof card.nonce.bytes); }

void learn_names(World& w) {
  if (!w.names.empty()) return;
  for (Proc rank = 0; rank < w.count; ++rank) w.names.emplace(name_in(w.cards[rank]), rank);
}

}  // namespace

struct Meeting::State {
  Card own;
  std::vector<Card> cards;  // of this meeting, all
  std::vector<std::string> names;
  std::vector<Proc> procs;
  std::vector<uint32_t> strangers;  // places
  uint32_t self = 0;
  std::array<std::optional<Forming>, 2> regions;  // memfd, file
  std::vector<std::unique_ptr<Neighbourhood>> made;
  std::vector<std::pair<uint32_t, Neighbourhood*>> found;        // stranger, where; nullptr: in the network
  std::unordered_map<uint32_t, std::string> addresses, reasons;  // of the strangers in the network
  std::string trouble, network_trouble;

  Status number_strangers();
  void join(Forming& forming);
  Status find(uint32_t place, const std::string& address);
  void meet_outside(uint32_t place, const std::string& numbers);
};

Meeting::Meeting() : state_(std::make_unique<State>()) {}

Meeting::~Meeting() {
  if (state_->own.memfd >= 0) close(state_->own.memfd);
  for (const auto& [place, region] : state_->found)
    if (!region) world->outside->network().link(state_->procs[place]).close("the meeting has failed");
}

Result<std::string> Meeting::introduction() {
  learn_names(*world);
  VICINITY_TRY(make_card(true, &state_->own));
  return name_in(world->cards[world->self]) + "\n" + format_card(state_->own);
}

Status Meeting::read(const std::vector<std::string>& texts, uint32_t self) {
  State& s = *state_;
  s.self = self;
  s.cards.resize(texts.size());
  for (uint32_t i = 0; i < texts.size(); ++i) {
    const std::string& text = texts[i];
    if (text.size() <= kNameLetters || text[kNameLetters] != '\n')
      return fail(base::kOther, "process %u of those that meet does not give its name", i);
    s.names.push_back(text.substr(0, kNameLetters));
    VICINITY_TRY(
        parse_card(std::string_view(text).substr(kNameLetters + 1), static_cast<int>(i), &s.cards[i]));
    const auto known = world->names.find(s.names[i]);
    s.procs.push_back(known == world->names.end() ? kStranger : known->second);
    if (s.procs[i] == kStranger) s.strangers.push_back(i);
  }
  if (s.procs[self] != world->self) return fail(base::kOther, "those that meet take us for somebody else");
  return base::kOk;
}

bool Meeting::strangers() const { return !state_->strangers.empty(); }

Result<std::string> Meeting::try_first() {
  State& s = *state_;
  const Proposal proposal = propose(s.cards, s.self, {});
  const std::vector<uint32_t>* groups[] = {&proposal.memfd, &proposal.file};
  for (size_t way = 0; way < s.regions.size(); ++way) {
    const std::vector<uint32_t>& group = *groups[way];
    if (group.empty()) continue;
    const auto index = static_cast<uint32_t>(std::find(group.begin(), group.end(), s.self) - group.begin());
    s.regions[way].emplace(s.cards, group, index, way == 0 ? Forming::Way::kMemfd : Forming::Way::kFile);
    if (way == 0 && index == 0) s.own.memfd = -1;  // the region has it now
    s.regions[way]->try_first();
  }
  // As at the start: not for a region that may still fail.
  const bool needed = std::any_of(s.strangers.begin(), s.strangers.end(), [&](uint32_t place) {
    return std::none_of(std::begin(groups), std::end(groups), [&](const auto* group) {
      return std::find(group->begin(), group->end(), place) != group->end();
    });
  });
  if (!needed || !(s.own.channels & kAllowUcx)) return std::string();
  if (detail::open_outside(*world, true).ok()) return world->outside->network().address();
  s.network_trouble = base::failure_text(base::kOther);
  return std::string();
}

// Numbers are given to all strangers, reached or not, so that a failure does not depend on the order.
Status Meeting::State::number_strangers() {
  World& w = *world;
  for (uint32_t i : strangers) {
    if (w.table.full())
      return fail(base::kOther, "this process has met %u others since its start, which is all that it can",
                  Table::kRoom);
    const Proc proc = w.table.size();
    w.table.grow().be_nothing(proc, "not met yet");
    w.home.push_back(nullptr);
    w.cards.push_back(cards[i]);
    procs[i] = proc;
  }
  return base::kOk;
}

void Meeting::State::join(Forming& forming) {
  forming.settle();
  if (!forming.in()) {
    trouble = forming.trouble();
    VICINITY_LOG(kInfo, "not in a region with those that we meet: %s", trouble.c_str());
    return;
  }
  std::vector<uint32_t> numbers;
  std::vector<Card> members;
  for (uint32_t place : forming.group()) {
    numbers.push_back(procs[place]);
    members.push_back(cards[place]);
  }
  made.push_back(std::make_unique<Neighbourhood>(std::move(forming.mapping()), forming.geometry(),
                                                 forming.generation(), std::move(numbers), forming.admitted(),
                                                 forming.self()));
  detail::open_port(*world, *made.back(), members);
}

Status Meeting::State::find(uint32_t place, const std::string& address) {
  for (auto& region : made)
    if (region->section(procs[place]) != kNoSection) {
      found.emplace_back(place, region.get());
      return base::kOk;
    }
  const Card& other = cards[place];
  std::string why = apart(own, other);
  if (why.empty()) why = trouble.empty() ? "both run under one kernel but share no memory" : trouble;
  const bool opened = world->outside && world->outside->opened();
  if (opened && !address.empty() && (own.channels & other.channels & kAllowUcx)) {
    world->outside->network().link(procs[place]);
    found.emplace_back(place, nullptr);
    addresses.emplace(place, address);
    reasons.emplace(place, why);
    return base::kOk;
  }
  if (!network_trouble.empty())
    why += "; " + network_trouble;
  else if (!(own.channels & other.channels & kAllowUcx))
    why += "; VICINITY_CHANNELS forbids the network (ucx)";
  else
    why += "; it has no network";
  return fail(base::kOther, "process %d on host %s cannot be reached from process %d on host %s: %s",
              other.pid, other.host.c_str(), own.pid, own.host.c_str(), why.c_str());
}

Result<std::string> Meeting::settle(const std::vector<std::string>& addresses) {
  State& s = *state_;
  VICINITY_TRY(s.number_strangers());
  for (auto& region : s.regions)
    if (region) s.join(*region);
  for (uint32_t place : s.strangers) VICINITY_TRY(s.find(place, addresses[place]));
  return std::string(reinterpret_cast<const char*>(s.procs.data()), s.procs.size() * sizeof(Proc));
}

// A message names its sender by the number that the receiver has given it.
void Meeting::State::meet_outside(uint32_t place, const std::string& numbers) {
  World& w = *world;
  const Proc proc = procs[place];
  channel::ucx::Network& network = w.outside->network();
  w.addresses.emplace(proc, std::move(addresses[place]));
  w.names[names[place]] = proc;
  w.table[proc].be_network(proc, &network, reasons[place] + ": " + w.outside->description());
  Proc there = 0;
  if (numbers.size() != procs.size() * sizeof there)
    return detail::report_lost(proc, "what it says of numbers is damaged");
  std::memcpy(&there, numbers.data() + self * sizeof there, sizeof there);
  network.link(proc).meet(there);
}

void Meeting::keep(const std::vector<std::string>& numbers) {
  World& w = *world;
  for (auto& region : state_->made) w.acquaintances.all.push_back({std::move(region), 0});
  for (const auto& [place, region] : std::exchange(state_->found, {})) {
    if (!region) {
      state_->meet_outside(place, numbers[place]);
      continue;
    }
    const Proc proc = state_->procs[place];
    for (Acquaintance& met : w.acquaintances.all)
      if (met.region.get() == region) ++met.held;
    w.names[state_->names[place]] = proc;
    detail::connect_ring(w, *region, proc);
    detail::watch_life(w, proc);
  }
  // A region of which we have no use: all there is in it we know already.
  std::erase_if(w.acquaintances.all, [](const Acquaintance& met) { return met.held == 0; });
  if (w.outside && w.outside->opened())
    w.outside->network().sparing = !w.neighbourhoods.empty() || !w.acquaintances.all.empty();
  detail::refresh_sleeper(w);
  detail::judge_crowd(w);
}

const std::vector<Proc>& Meeting::procs() const { return state_->procs; }

bool is_guest(Proc proc) {
  return proc >= world->count && (world->home[proc] || world->addresses.count(proc));
}

size_t guest_count() {
  size_t count = 0;
  for (Proc proc = world->count; proc < world->table.size(); ++proc)
    count += is_guest(proc) && !world->table[proc].lost();
  return count;
}

void let_go(Proc proc) {
  World& w = *world;
  if (!is_guest(proc)) return;
  Neighbourhood* home = std::exchange(w.home[proc], nullptr);
  w.liveness.unwatch(proc);
  std::erase_if(w.names, [&](const auto& entry) { return entry.second == proc; });
  if (w.addresses.erase(proc)) w.outside->network().link(proc).part();
  w.table[proc].be_parted("disconnected");
  for (size_t i = 0; i < w.acquaintances.all.size(); ++i) {
    Acquaintance& met = w.acquaintances.all[i];
    if (met.region.get() != home || --met.held > 0) continue;
    met.region->port().depart();
    w.acquaintances.retired.push_back(std::move(met.region));
    w.acquaintances.all.erase(w.acquaintances.all.begin() + static_cast<std::ptrdiff_t>(i));
    detail::refresh_sleeper(w);
    break;
  }
  detail::judge_crowd(w);
}

}  // namespace vicinity::peer
