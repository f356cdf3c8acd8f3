// SPDX-License-Identifier: BSD-3-Clause
// Uniform agreement of processes of which some may die at any moment: one instance at one process, without
// any input or output.
//
// The living member with the lowest position leads; its position is the ballot. It waits for the contribution
// of every living member, combines them, proposes the result, and decides when every living member has
// accepted it. Who accepts a proposal locks it. When a leader dies the next one asks all; if any of them has
// locked a value, the one of the highest ballot is proposed again; if any has decided, that is the decision.
//
// Why no two members decide differently, the dead ones included: a decision in ballot b means that all
// members alive at that time had locked its value. Every later leader hears all living members before it
// proposes, so it finds a lock of b, or of a ballot between, and by induction those are of the same value. A
// member that has promised a ballot ignores lower ones. This needs a failure detector that is never wrong
// about a death and learns of each in the end; who is suspected wrongly is shut out by the others
// (Value::failed) and ends itself.
//
// Without deaths it takes two round trips between leader and members; each death of a leader adds as many.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace vicinity::fault {

// What each contributes, and what all decide.
struct Value {
  int32_t low = -1, high = -1;   // conjunction of all contributions, bit by bit
  uint64_t most = 0;             // their maximum
  uint64_t least = UINT64_MAX;   // their minimum
  bool unacknowledged = false;   // decision: some contributor had not acknowledged some failure
  std::vector<uint32_t> failed;  // positions, ascending; of a contribution: those acknowledged
  bool operator==(const Value&) const = default;
};

enum class Say : uint8_t { kContribute = 1, kPrepare, kPropose, kAccept, kDecide };

struct Message {
  Say say = Say::kContribute;
  uint32_t ballot = 0;
  bool locked = false;  // kContribute: `lock` was accepted in `lock_ballot`
  uint32_t lock_ballot = 0;
  Value value;  // the contribution, the proposal, or the decision
  Value lock;
};

class Consensus {
 public:
  using Outbox = std::vector<std::pair<uint32_t, Message>>;  // to whom

  // `spreads`: whoever decides tells all, so that each may then go away without answering questions.
  Consensus(uint32_t self, std::vector<bool> alive, bool spreads = false);

  void begin(const Value& mine, Outbox& out);
  // Before begin() messages are kept. False: no correct member says this.
  bool hear(uint32_t from, const Message& message, Outbox& out);
  void lost(uint32_t who, Outbox& out);

  bool begun() const { return begun_; }
  bool decided() const { return decided_; }
  const Value& decision() const { return decision_; }
  bool alive(uint32_t who) const { return alive_[who]; }
  uint32_t size() const { return static_cast<uint32_t>(alive_.size()); }

 private:
  struct Heard {
    bool there = false, accepted = false;
    Message contribution;
  };

  void turn(Outbox& out);
  void collect(Outbox& out);
  void settle(Outbox& out);
  void decide(const Value& value);
  Value combined() const;
  Message contribution_to(uint32_t leader) const;
  void tell_all(const Message& message, Outbox& out) const;
  void tell_decision(Outbox& out) const;

  const uint32_t self_;
  std::vector<bool> alive_;
  const bool spreads_;
  bool begun_ = false, leading_ = false, proposed_ = false, decided_ = false, locked_ = false;
  uint32_t promised_ = 0;       // no lower ballot is listened to
  uint32_t told_ = UINT32_MAX;  // the leader that has our contribution
  uint32_t lock_ballot_ = 0;
  Value mine_, lock_, proposal_, decision_;
  std::vector<Heard> heard_;  // by position, from begin() on: the leader's
  std::vector<std::pair<uint32_t, Message>> early_;
};

}  // namespace vicinity::fault
