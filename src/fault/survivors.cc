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

// Of one sender: messages about communicators that are still being made here, in bytes, and agreements of one
// communicator that have not begun here.
constexpr size_t kMostEarly = 1 << 20;
constexpr uint32_t kMostAhead = 8192;
constexpr int kNobody = -1;

struct Instance {
  Instance(uint32_t self, std::vector<bool> alive, bool spreads) : core(self, std::move(alive), spreads) {}
  Consensus core;
  Party* party = nullptr;   // until it has been told
  int opened_by = kNobody;  // position of who has spoken of it before it began here
};

// What is known of a communicator that has ever agreed; it outlives the communicator.
struct Community {
  uint32_t context = 0;
  std::vector<Proc> members;  // by position
  uint32_t self = 0;
  std::map<Name, Instance> instances;
  std::set<uint32_t> open;      // calls begun and not ended here
  uint32_t next = 0;            // call
  uint32_t settled = 0;         // all survivors have all that was decided in calls below
  bool left = false;            // there will be no more calls, and all have been told how the last one ended
  bool broken = false;          // some member has missed a message: nothing is decided any more
  std::vector<uint32_t> ahead;  // by position: agreements opened

  int position(Proc proc) const {
    const auto at = std::find(members.begin(), members.end(), proc);
    return at == members.end() ? kNobody : static_cast<int>(at - members.begin());
  }
};

struct Letter {
  Proc to;
  uint32_t context;
  std::vector<std::byte> bytes;  // empty: the agreements are abandoned
};

// What came before the communicator that it is about.
struct Early {
  Proc from;
  std::vector<std::byte> bytes;
  bool abandoned = false;  // said, or it is known because a message was missed
  size_t weight() const { return sizeof(Early) + bytes.size(); }
};

class Survivors final : public p2p::Survival {
 public:
  Community& community(Communicator& comm);
  Instance& instance(Community& of, Name name);
  void take_part(Community& of, Name name, const Value& mine, Party& party);
  void heard(Proc from, uint32_t context, const std::byte* body, size_t bytes) override;
  void lost(Proc proc) override;
  void missed(Proc from, uint32_t context) override;
  void abandoned(Proc from, uint32_t context) override;
  void introduced(Communicator& comm) override;

 private:
  Community* find(uint32_t context);
  void keep(uint32_t context, Early early);
  void read(Community& of, Proc from, const std::byte* body, size_t bytes);
  bool open(Community& of, Name name, int position);
  void close(Community& of, Instance& one);
  void abandon(Community& of);
  void send(const Letter& letter);
  void post(Community& of, Name name, const Consensus::Outbox& out);
  void flush();
  bool tell_parties();
  void tell(Community& of, Instance& one);

  std::unordered_map<uint32_t, std::unique_ptr<Community>> communities_;
  std::unordered_map<uint32_t, std::vector<Early>> early_;  // by context
  std::unordered_map<Proc, size_t> weights_;                // of what is in early_, by sender
  std::deque<Letter> box_;
  bool flushing_ = false;
};

Survivors& survivors() {
  static auto* made = new Survivors;  // survives static destructors
  return *made;
}

Community& Survivors::community(Communicator& comm) {
  std::unique_ptr<Community>& place = communities_[comm.context];
  if (place) return *place;
  place = std::make_unique<Community>();
  Community& of = *place;
  of.context = comm.context;
  of.members = members_of(comm);
  of.self = static_cast<uint32_t>(of.position(peer::self()));
  of.ahead.resize(of.members.size());
  return of;
}

Community* Survivors::find(uint32_t context) {
  const auto found = communities_.find(context);
  if (found != communities_.end()) return found->second.get();
  Communicator* comm = p2p::communicator(context);
  return comm ? &community(*comm) : nullptr;
}

// The communicator is not there: it may still be made.
void Survivors::keep(uint32_t context, Early early) {
  if (p2p::was_freed(context)) return;
  size_t& weight = weights_[early.from];
  if (weight + early.weight() > kMostEarly)
    return p2p::engine().liar(early.from, "it talks too much of communicators that are not there");
  weight += early.weight();
  early_[context].push_back(std::move(early));
}

void Survivors::introduced(Communicator& comm) {
  const auto found = early_.find(comm.context);
  if (found == early_.end()) return;
  const std::vector<Early> all = std::move(found->second);
  early_.erase(found);
  Community& of = community(comm);
  for (const Early& one : all) {
    weights_[one.from] -= one.weight();
    if (of.position(one.from) == kNobody)
      VICINITY_LOG(kError,
                   "process %u speaks of an agreement in communicator %u, of which it is no member: ignored",
                   one.from, of.context);
    else if (one.abandoned)
      abandon(of);
    else
      read(of, one.from, one.bytes.data(), one.bytes.size());
  }
  flush();
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
  close(of, one);
  one.party = &party;
  Consensus::Outbox out;
  one.core.begin(mine, out);
  post(of, name, out);
  flush();
}

void Survivors::heard(Proc from, uint32_t context, const std::byte* body, size_t bytes) {
  Community* of = find(context);
  if (!of) return keep(context, Early{from, {body, body + bytes}});
  if (of->left) return;
  read(*of, from, body, bytes);
  flush();
}

// Whose message is missed would wait for an answer for ever, and others with it. That one is told, and all
// others, who have to give up as well: there is no memory to go on with.
void Survivors::missed(Proc from, uint32_t context) {
  Community* of = find(context);
  if (!of) return keep(context, Early{from, {}, true});
  abandon(*of);
  flush();
}

void Survivors::abandoned(Proc from, uint32_t context) {
  Community* of = find(context);
  if (!of) return keep(context, Early{from, {}, true});
  if (of->position(from) == kNobody) return p2p::engine().liar(from, "it abandons an agreement of others");
  abandon(*of);
  flush();
}

// As with a revocation, whoever hears of it for the first time tells all.
void Survivors::abandon(Community& of) {
  if (of.broken || of.left) return;
  of.broken = true;
  VICINITY_LOG(kError, "agreements over communicator %u end: a message found no memory at a member",
               of.context);
  for (Proc proc : of.members)
    if (proc != peer::self()) box_.push_back({proc, of.context, {}});
}

void Survivors::read(Community& of, Proc from, const std::byte* body, size_t bytes) {
  const int position = of.position(from);
  Name name;
  Message message;
  if (position < 0 || !decode(body, bytes, static_cast<uint32_t>(of.members.size()), name, message))
    return p2p::engine().liar(from, "a message of an agreement is damaged, or of others");
  if (name.call < of.settled || of.broken) return;  // late: everybody has that
  if (!open(of, name, position))
    return p2p::engine().liar(from, "it is too many agreements ahead of this process");
  Consensus::Outbox out;
  Instance& one = instance(of, name);
  if (!one.core.hear(static_cast<uint32_t>(position), message, out))
    return p2p::engine().liar(from, "a message of an agreement has a wrong ballot, or comes twice");
  post(of, name, out);
}

// Somebody speaks of it: false if that one has opened too many already.
bool Survivors::open(Community& of, Name name, int position) {
  if (of.instances.count(name)) return true;
  uint32_t& ahead = of.ahead[static_cast<size_t>(position)];
  if (ahead == kMostAhead) return false;
  ++ahead;
  instance(of, name).opened_by = position;
  return true;
}

// It begins here, or is dropped.
void Survivors::close(Community& of, Instance& one) {
  const int position = std::exchange(one.opened_by, kNobody);
  if (position != kNobody) --of.ahead[static_cast<size_t>(position)];
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
      send(letter);
    }
  } while (tell_parties());
  flushing_ = false;
}

void Survivors::send(const Letter& letter) {
  if (letter.bytes.empty()) {
    // Who cannot even be told this must find that the connection is gone.
    if (p2p::send_abandon(letter.to, letter.context) == p2p::Sent::kNoMemory)
      p2p::engine().lost(letter.to, "there is no memory to tell it that an agreement has ended");
    return;
  }
  if (letter.bytes.size() > peer::connection(letter.to).largest())
    return p2p::engine().liar(letter.to, "so many processes have failed that it cannot be told");
  const p2p::Sent sent =
      p2p::send_survival(letter.to, letter.context, letter.bytes.data(), letter.bytes.size());
  if (sent == p2p::Sent::kNoMemory) abandon(*communities_.at(letter.context));
}

bool Survivors::tell_parties() {
  for (auto& [context, of] : communities_)
    for (auto& [name, one] : of->instances)
      if (one.party && (one.core.decided() || of->broken)) {
        tell(*of, one);  // may change the maps
        return true;
      }
  return false;
}

void Survivors::tell(Community& of, Instance& one) {
  Party* party = std::exchange(one.party, nullptr);
  if (!one.core.decided()) return party->done(party, nullptr);
  const Value decision = one.core.decision();
  for (uint32_t position : decision.failed) {
    if (position == of.self) {
      VICINITY_LOG(kError, "the other processes have lost the connection to this one and go on without it");
      _exit(1);
    }
    if (one.core.alive(position))
      p2p::engine().lost(of.members[position], "the survivors have agreed that it is gone");
  }
  of.settled = std::max(of.settled, static_cast<uint32_t>(std::min<uint64_t>(decision.least, of.next)));
  const auto settled = of.instances.lower_bound(Name{of.settled, 0});
  for (auto at = of.instances.begin(); at != settled; ++at) close(of, at->second);
  of.instances.erase(of.instances.begin(), settled);
  party->done(party, &decision);
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
