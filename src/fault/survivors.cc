// SPDX-License-Identifier: BSD-3-Clause
// Instances by communicator and name; what goes out waits in one box, because sending may bring messages in.
#include "fault/survivors.h"

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "base/log.h"
#include "p2p/engine.h"
#include "p2p/p2p.h"

namespace vicinity::fault {
namespace {

using object::Communicator;
using object::Proc;

constexpr size_t kMostUnread = 4096;  // messages of a communicator that is still being made here

struct Instance {
  Instance(uint32_t self, std::vector<bool> alive, bool spreads) : core(self, std::move(alive), spreads) {}
  Consensus core;
  Party* party = nullptr;  // until it has been told
};

// What is known of a communicator that has ever agreed; it outlives the communicator.
struct Community {
  uint32_t context = 0;
  std::vector<Proc> members;  // by position; empty: only messages are here so far
  uint32_t self = 0;
  std::map<Name, Instance> instances;
  std::set<uint32_t> open;  // calls begun and not ended here
  uint32_t next = 0;        // call
  uint32_t settled = 0;     // all survivors have all that was decided in calls below
  bool left = false;        // there will be no more calls, and all have been told how the last one ended
  struct Raw {
    Proc from;
    std::vector<std::byte> bytes;
  };
  std::vector<Raw> unread;

  int position(Proc proc) const {
    const auto at = std::find(members.begin(), members.end(), proc);
    return at == members.end() ? -1 : static_cast<int>(at - members.begin());
  }
};

struct Letter {
  Proc to;
  uint32_t context;
  std::vector<std::byte> bytes;
};

class Survivors final : public p2p::Survival {
 public:
  Community& community(Communicator& comm);
  Instance& instance(Community& of, Name name);
  void take_part(Community& of, Name name, const Value& mine, Party& party);
  void heard(Proc from, uint32_t context, const std::byte* body, size_t bytes) override;
  void lost(Proc proc) override;

 private:
  void read(Community& of, Proc from, const std::byte* body, size_t bytes);
  void post(Community& of, Name name, const Consensus::Outbox& out);
  void flush();
  bool tell_parties();
  void tell(Community& of, Instance& one);

  std::unordered_map<uint32_t, std::unique_ptr<Community>> communities_;
  std::deque<Letter> box_;
  bool flushing_ = false;
};

Survivors& survivors() {
  static auto* made = new Survivors;  // survives static destructors
  return *made;
}

Community& Survivors::community(Communicator& comm) {
  std::unique_ptr<Community>& place = communities_[comm.context];
  if (!place) place = std::make_unique<Community>();
  Community& of = *place;
  if (!of.members.empty()) return of;
  of.context = comm.context;
  of.members = members_of(comm);
  of.self = static_cast<uint32_t>(of.position(peer::self()));
  for (const Community::Raw& raw : std::exchange(of.unread, {}))
    read(of, raw.from, raw.bytes.data(), raw.bytes.size());
  return of;
}

Instance& Survivors::instance(Community& of, Name name) {
  const auto found = of.instances.find(name);
  if (found != of.instances.end()) return found->second;
  std::vector<bool> alive;
  for (Proc proc : of.members) alive.push_back(!p2p::engine().is_lost(proc));
  return of.instances.try_emplace(name, of.self, std::move(alive), name.step == Name::kLast).first->second;
}

void Survivors::take_part(Community& of, Name name, const Value& mine, Party& party) {
  Instance& one = instance(of, name);
  one.party = &party;
  Consensus::Outbox out;
  one.core.begin(mine, out);
  post(of, name, out);
  flush();
}

void Survivors::heard(Proc from, uint32_t context, const std::byte* body, size_t bytes) {
  std::unique_ptr<Community>& place = communities_[context];
  if (!place) place = std::make_unique<Community>();
  if (place->left) return;
  if (place->members.empty()) {
    if (place->unread.size() == kMostUnread)
      return p2p::engine().liar(from, "it talks of a communicator that is not there");
    place->unread.push_back({from, {body, body + bytes}});
    return;
  }
  read(*place, from, body, bytes);
  flush();
}

void Survivors::read(Community& of, Proc from, const std::byte* body, size_t bytes) {
  const int position = of.position(from);
  Name name;
  Message message;
  if (position < 0 || !decode(body, bytes, static_cast<uint32_t>(of.members.size()), name, message))
    return p2p::engine().liar(from, "a message of an agreement is damaged, or of others");
  if (name.call < of.settled) return;  // late: everybody has that
  Consensus::Outbox out;
  Instance& one = instance(of, name);
  if (!one.core.hear(static_cast<uint32_t>(position), message, out))
    return p2p::engine().liar(from, "a message of an agreement has a wrong ballot");
  post(of, name, out);
}

void Survivors::lost(Proc proc) {
  for (auto& [context, of] : communities_) {
    const int position = of->position(proc);
    for (auto& [name, one] : of->instances) {
      if (position < 0) continue;
      Consensus::Outbox out;
      one.core.lost(static_cast<uint32_t>(position), out);
      post(*of, name, out);
    }
  }
  flush();
}

void Survivors::post(Community& of, Name name, const Consensus::Outbox& out) {
  for (const auto& [to, message] : out) box_.push_back({of.members[to], of.context, encode(name, message)});
}

// A message that comes while one is sent adds to the box.
void Survivors::flush() {
  if (flushing_) return;
  flushing_ = true;
  do {
    while (!box_.empty()) {
      const Letter letter = std::move(box_.front());
      box_.pop_front();
      if (letter.bytes.size() > peer::connection(letter.to).largest())
        p2p::engine().liar(letter.to, "so many processes have failed that it cannot be told");
      else
        p2p::send_survival(letter.to, letter.context, letter.bytes.data(), letter.bytes.size());
    }
  } while (tell_parties());
  flushing_ = false;
}

bool Survivors::tell_parties() {
  for (auto& [context, of] : communities_)
    for (auto& [name, one] : of->instances)
      if (one.party && one.core.decided()) {
        tell(*of, one);  // may change the maps
        return true;
      }
  return false;
}

void Survivors::tell(Community& of, Instance& one) {
  const Value decision = one.core.decision();
  Party* party = std::exchange(one.party, nullptr);
  for (uint32_t position : decision.failed) {
    if (position == of.self) {
      VICINITY_LOG(kError, "the other processes have lost the connection to this one and go on without it");
      _exit(1);
    }
    if (one.core.alive(position))
      p2p::engine().lost(of.members[position], "the survivors have agreed that it is gone");
  }
  of.settled = std::max(of.settled, static_cast<uint32_t>(std::min<uint64_t>(decision.least, of.next)));
  of.instances.erase(of.instances.begin(), of.instances.lower_bound(Name{of.settled, 0}));
  party->done(party, decision);
}

}  // namespace

void start() { p2p::set_survival(&survivors()); }

uint32_t begin_call(Communicator& comm) {
  Community& of = survivors().community(comm);
  of.open.insert(of.next);
  return of.next++;
}

void take_part(Communicator& comm, Name name, Value mine, Party& party) {
  Community& of = survivors().community(comm);
  mine.least = of.open.empty() ? of.next : *of.open.begin();
  survivors().take_part(of, name, mine, party);
}

void end_call(Communicator& comm, uint32_t call) { survivors().community(comm).open.erase(call); }

void leave(Communicator& comm) {
  Community& of = survivors().community(comm);
  of.left = true;
  of.instances.clear();
}

std::vector<Proc> members_of(const Communicator& comm) {
  if (!comm.inter()) return comm.group->procs;
  std::vector<Proc> all = comm.low_group ? comm.group->procs : comm.remote->procs;
  const std::vector<Proc>& rest = comm.low_group ? comm.remote->procs : comm.group->procs;
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

std::vector<uint32_t> acknowledged(const Communicator& comm) {
  const std::vector<Proc> all = members_of(comm), gone = p2p::failed(comm);
  const auto known = std::min(gone.size(), static_cast<size_t>(p2p::acknowledged(comm)));
  std::vector<uint32_t> positions;
  for (size_t i = 0; i < known; ++i)
    positions.push_back(static_cast<uint32_t>(std::find(all.begin(), all.end(), gone[i]) - all.begin()));
  std::sort(positions.begin(), positions.end());
  return positions;
}

}  // namespace vicinity::fault
