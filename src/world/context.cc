// SPDX-License-Identifier: BSD-3-Clause
// Agreement on context ids; see context.h for the idea.
#include "world/context.h"

#include <algorithm>

#include "base/clock.h"
#include "base/progress.h"
#include "object/datatype.h"
#include "p2p/p2p.h"

namespace vicinity::world {
namespace {

using base::fail;
using object::Lane;

// Guarded by the engine lock, like everything here.
int64_t next_context = kFirstContext;
int searches = 0;  // begun and not ended in this process

constexpr int64_t kMostContext = int64_t{UINT32_MAX} - 1024;
// In the first word: the other group cannot be reached any more. The leader's own group hears it as a value.
constexpr int64_t kBrokenBridge = INT64_MAX;

}  // namespace

Participants everyone(Communicator& comm) {
  Participants who;
  who.tag = static_cast<int>(comm.agreements++ & object::kTagUpperBound);
  if (!comm.inter()) {
    who.via = &comm;
    who.position = comm.rank;
    return who;
  }
  who.via = comm.local;
  who.position = comm.rank;
  who.bridge = &comm;
  who.bridge_tag = who.tag;
  return who;
}

Participants some(Communicator& via, std::vector<int> ranks, int position, int tag) {
  Participants who;
  who.via = &via;
  who.ranks = std::move(ranks);
  who.position = position;
  who.tag = tag;
  return who;
}

Maximum::~Maximum() { give_up(); }

// Only after a failure is anything still under way; its buffers are ours, so it has to end first.
void Maximum::give_up() {
  if (recv_) static_cast<void>(recv_->ops->cancel(*recv_));
  if (send_) static_cast<void>(p2p::finish(send_));
  if (recv_) static_cast<void>(p2p::finish(recv_));
  send_ = recv_ = nullptr;
}

void Maximum::start(const Ballot& mine) {
  value_ = mine;
  phase_ = Phase::kOwnGroup;
  distance_ = 1;
}

Status Maximum::post(Communicator& via, int dest, int source, int tag) {
  sent_ = value_;
  object::Datatype& type = object::builtin(MPI_INT64_T);
  VICINITY_TRY(p2p::irecv(received_.data(), kBallotWords, type, source, tag, via, Lane::kControl, &recv_));
  return p2p::isend(sent_.data(), kBallotWords, type, dest, tag, via, Lane::kControl, p2p::Mode::kStandard,
                    &send_);
}

// Takes in what came, once both directions are through.
Result<bool> Maximum::collected() {
  if (!send_->complete || !recv_->complete) {
    VICINITY_TRY(p2p::all_alive(*who_.via, who_.ranks));  // who left because of a loss sends nothing more
    return false;
  }
  Status sent = p2p::finish(send_), received = p2p::finish(recv_);
  send_ = recv_ = nullptr;
  if (!sent.ok()) return sent;
  if (!received.ok()) return received;
  for (size_t i = 0; i < kBallotWords; ++i) value_[i] = std::max(value_[i], received_[i]);
  return true;
}

void Maximum::next_phase() {
  distance_ = 1;
  switch (phase_) {
    case Phase::kOwnGroup:
      if (!who_.bridge)
        phase_ = Phase::kDone;
      else
        phase_ = who_.position == who_.leader ? Phase::kBridge : Phase::kSpread;
      return;
    case Phase::kBridge:
      phase_ = Phase::kSpread;
      return;
    case Phase::kSpread:
    case Phase::kDone:
      phase_ = Phase::kDone;
      return;
  }
}

Result<bool> Maximum::advance() {
  while (phase_ != Phase::kDone) {
    if (send_) {
      Result<bool> all = collected();
      if (!all.ok() && phase_ == Phase::kBridge) {
        give_up();
        value_[0] = kBrokenBridge;
        next_phase();
        continue;
      }
      if (!all.ok() || !*all) return all;
      if (phase_ == Phase::kBridge)
        next_phase();
      else
        distance_ *= 2;
      continue;
    }
    if (phase_ == Phase::kBridge) {
      VICINITY_TRY(post(*who_.bridge, who_.remote_leader, who_.remote_leader, who_.bridge_tag));
      continue;
    }
    const int size = who_.size();
    if (distance_ >= size) {
      next_phase();
      continue;
    }
    const auto rank = [&](int position) {
      position = (position + size) % size;
      return who_.ranks.empty() ? position : who_.ranks[static_cast<size_t>(position)];
    };
    VICINITY_TRY(post(*who_.via, rank(who_.position + distance_), rank(who_.position - distance_), who_.tag));
  }
  if (value_[0] == kBrokenBridge) return fail(MPI_ERR_PROC_ABORTED, "a process of the other group is gone");
  return true;
}

IdSearch::IdSearch(int count, bool in_background, int64_t extra0, int64_t extra1)
    : width_(int64_t{count} * object::kLanes), in_background_(in_background), mine_{extra0, extra1} {
  ++searches;
  propose();
}

IdSearch::~IdSearch() { --searches; }

// After a clash both searches start anew; chance parts them.
int64_t propose_context(int attempt) {
  return next_context + (attempt == 0 ? 0 : base::now_ns() % (8 * int64_t{attempt}) * object::kLanes);
}

bool take_context(int64_t context, int count) {
  const bool free_here = context >= next_context && context <= kMostContext;
  next_context = std::max(next_context, context + int64_t{count} * object::kLanes);
  return free_here;
}

void IdSearch::propose() {
  verifying_ = false;
  const int64_t careful = in_background_ || searches > 1 || base::threads_multiple();
  ballot_ = {propose_context(attempt_), careful, mine_[0], mine_[1]};
}

// Looks at the result of a maximum: take the id, vote about it, or start again.
Result<bool> IdSearch::judge(const Ballot& value) {
  if (verifying_) {
    if (value[0] == 0) return true;
    ++attempt_;
    propose();
    return false;
  }
  if (value[0] > kMostContext)
    return object::fail(MPI_ERR_OTHER, "all context ids are used up after %lld communicators",
                        static_cast<long long>(kMostContext / object::kLanes));
  context_ = static_cast<uint32_t>(value[0]);
  extra_[0] = value[2];
  extra_[1] = value[3];
  const bool free_here = value[0] >= next_context;
  next_context = std::max(next_context, value[0] + width_);
  if (value[1] == 0) return true;
  verifying_ = true;
  ballot_ = {free_here ? 0 : 1, 0, 0, 0};
  return false;
}

ContextSearch::ContextSearch(Participants who, int count, bool in_background, int64_t extra0, int64_t extra1)
    : who_(std::move(who)), maximum_(who_), ids_(count, in_background, extra0, extra1) {
  maximum_.start(ids_.ballot());
}

Result<bool> ContextSearch::advance() {
  while (true) {
    Result<bool> done = maximum_.advance();
    if (!done.ok() || !*done) return done;
    Result<bool> found = ids_.judge(maximum_.value());
    if (!found.ok() || *found) return found;
    maximum_.start(ids_.ballot());
  }
}

Result<uint32_t> agree(ContextSearch& search) {
  Status status;
  base::wait_until([&] {
    Result<bool> done = search.advance();
    if (!done.ok()) status = done.status();
    return !done.ok() || *done;
  });
  if (!status.ok()) return status;
  return search.context();
}

Status run(Maximum& maximum) {
  Status status;
  base::wait_until([&] {
    Result<bool> done = maximum.advance();
    if (!done.ok()) status = done.status();
    return !done.ok() || *done;
  });
  return status;
}

Status meet(const Participants& who) {
  Maximum maximum(who);
  maximum.start({});
  return run(maximum);
}

}  // namespace vicinity::world
