// SPDX-License-Identifier: BSD-3-Clause
// The steps of an agreement; the argument for them is in consensus.h.
#include "fault/consensus.h"

#include <algorithm>

namespace vicinity::fault {

Consensus::Consensus(uint32_t self, std::vector<bool> alive, bool spreads)
    : self_(self), alive_(std::move(alive)), spreads_(spreads) {}

void Consensus::begin(const Value& mine, Outbox& out) {
  begun_ = true;
  mine_ = mine;
  heard_.resize(alive_.size());
  turn(out);
  for (const auto& [from, message] : std::exchange(early_, {})) static_cast<void>(hear(from, message, out));
}

void Consensus::tell_all(const Message& message, Outbox& out) const {
  for (uint32_t who = 0; who < size(); ++who)
    if (who != self_ && alive_[who]) out.emplace_back(who, message);
}

void Consensus::tell_decision(Outbox& out) const {
  tell_all(Message{.say = Say::kDecide, .ballot = self_, .value = decision_}, out);
}

Message Consensus::contribution_to(uint32_t leader) const {
  return Message{.say = Say::kContribute,
                 .ballot = leader,
                 .locked = locked_,
                 .lock_ballot = lock_ballot_,
                 .value = mine_,
                 .lock = lock_};
}

// Who leads now, as far as we know?
void Consensus::turn(Outbox& out) {
  uint32_t leader = 0;
  while (!alive_[leader]) ++leader;  // we are alive
  if (leader == self_) {
    if (leading_) return;
    leading_ = true;
    promised_ = std::max(promised_, self_);
    heard_[self_].there = true;
    heard_[self_].contribution = contribution_to(self_);
    // Those who have decided, or still wait for a dead leader, do not come by themselves.
    if (self_ > 0) tell_all(Message{.say = Say::kPrepare, .ballot = self_}, out);
    return collect(out);
  }
  if (told_ != UINT32_MAX && told_ >= leader) return;
  told_ = leader;
  promised_ = std::max(promised_, leader);
  out.emplace_back(leader, contribution_to(leader));
}

void Consensus::lost(uint32_t who, Outbox& out) {
  alive_[who] = false;
  if (!begun_ || decided_) return;
  turn(out);
  if (leading_) proposed_ ? settle(out) : collect(out);
}

bool Consensus::hear(uint32_t from, const Message& m, Outbox& out) {
  const bool to_leader = m.say == Say::kContribute || m.say == Say::kAccept;
  if (m.ballot != (to_leader ? self_ : from)) return false;
  if (decided_) {
    if (m.say != Say::kAccept && m.say != Say::kDecide)
      out.emplace_back(from, Message{.say = Say::kDecide, .ballot = self_, .value = decision_});
    return true;
  }
  if (!begun_) {  // nobody has a reason to say the same twice to one who is silent
    const auto same = [&](const auto& early) { return early.first == from && early.second.say == m.say; };
    if (std::any_of(early_.begin(), early_.end(), same)) return false;
    early_.emplace_back(from, m);
    return true;
  }
  switch (m.say) {
    case Say::kContribute:
      heard_[from].there = true;
      heard_[from].contribution = m;
      collect(out);
      return true;
    case Say::kPrepare:
      if (m.ballot < promised_) return true;
      promised_ = told_ = m.ballot;
      out.emplace_back(from, contribution_to(from));
      return true;
    case Say::kPropose:
      if (m.ballot < promised_) return true;
      promised_ = lock_ballot_ = m.ballot;
      locked_ = true;
      lock_ = m.value;
      out.emplace_back(from, Message{.say = Say::kAccept, .ballot = from});
      return true;
    case Say::kAccept:
      if (!proposed_) return false;
      heard_[from].accepted = true;
      settle(out);
      return true;
    case Say::kDecide:
      decide(m.value);
      if (leading_ || spreads_) tell_decision(out);
      return true;
  }
  return false;
}

Value Consensus::combined() const {
  Value result;
  for (uint32_t who = 0; who < size(); ++who)
    if (!alive_[who]) result.failed.push_back(who);
  for (const Heard& heard : heard_) {
    if (!heard.there) continue;
    const Value& one = heard.contribution.value;
    result.low &= one.low;
    result.high &= one.high;
    result.most = std::max(result.most, one.most);
    result.least = std::min(result.least, one.least);
    result.unacknowledged |=
        !std::includes(one.failed.begin(), one.failed.end(), result.failed.begin(), result.failed.end());
  }
  return result;
}

void Consensus::collect(Outbox& out) {
  if (!leading_ || proposed_ || decided_) return;
  const Message* best = nullptr;
  for (uint32_t who = 0; who < size(); ++who) {
    const Heard& heard = heard_[who];
    if (alive_[who] && !heard.there) return;
    const bool locked = heard.there && heard.contribution.locked;
    if (locked && (!best || heard.contribution.lock_ballot > best->lock_ballot)) best = &heard.contribution;
  }
  proposal_ = best ? best->lock : combined();
  proposed_ = locked_ = true;
  lock_ballot_ = self_;
  lock_ = proposal_;
  heard_[self_].accepted = true;
  tell_all(Message{.say = Say::kPropose, .ballot = self_, .value = proposal_}, out);
  settle(out);
}

void Consensus::settle(Outbox& out) {
  if (decided_) return;
  for (uint32_t who = 0; who < size(); ++who)
    if (alive_[who] && !heard_[who].accepted) return;
  decide(proposal_);
  tell_decision(out);
}

void Consensus::decide(const Value& value) {
  decided_ = true;
  decision_ = value;
}

}  // namespace vicinity::fault
