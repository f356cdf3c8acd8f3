// SPDX-License-Identifier: BSD-3-Clause
// How the members of a new communicator agree on its context id.
//
// Each process counts the ids it has seen used; the new id is the greatest of the counters of all who
// construct. Ids are never used twice. Two constructions that run at once in one process (two threads,
// or MPI_Comm_idup) can arrive at the same id; whoever may be in that position raises a flag, and then
// all vote whether the id is still free with them, and search again if not.
//
// All traffic is a maximum over all participants by dissemination: in round k everybody sends to the one 2^k
// further on. It works for any number, and a maximum does not mind being counted twice. Two groups
// (an intercommunicator) do it in three steps: each group, the two leaders, each group again.
#pragma once

#include <array>
#include <vector>

#include "object/communicator.h"
#include "object/request.h"

namespace vicinity::world {

using object::Communicator;
using object::Result;
using object::Status;

inline constexpr uint32_t kBootstrapContext = 0 * object::kLanes;
inline constexpr uint32_t kWorldContext = 1 * object::kLanes;
inline constexpr uint32_t kSelfContext = 2 * object::kLanes;
inline constexpr uint32_t kFirstContext = 4 * object::kLanes;

// Who takes part and over which communicator's control lane they talk.
struct Participants {
  Communicator* via = nullptr;
  std::vector<int> ranks;  // ranks in `via` by position; empty: all of it
  int position = 0;        // of this process
  int tag = 0;
  Communicator* bridge = nullptr;  // leads to the other group, if there is one
  int leader = 0;                  // position of the one who crosses the bridge
  int remote_leader = 0;           // its partner's rank in bridge->peers()
  int bridge_tag = 0;
  int size() const { return ranks.empty() ? via->size() : static_cast<int>(ranks.size()); }
};

// All of an intra- or intercommunicator, with the next tag of the sequence that all members count alike.
Participants everyone(Communicator& comm);
// Some ranks of an intracommunicator, or of the bootstrap communicator, under a tag that they agree on.
Participants some(Communicator& via, std::vector<int> ranks, int position, int tag);
inline constexpr int group_tag(int tag) { return tag | (object::kTagUpperBound + 1); }

inline constexpr size_t kBallotWords = 4;
using Ballot = std::array<int64_t, kBallotWords>;

// The maximum of each word over all participants. Poll advance() until it says true.
class Maximum {
 public:
  explicit Maximum(const Participants& who) : who_(who) {}
  ~Maximum();
  Maximum(const Maximum&) = delete;
  Maximum& operator=(const Maximum&) = delete;

  void start(const Ballot& mine);
  Result<bool> advance();
  const Ballot& value() const { return value_; }

 private:
  enum class Phase { kOwnGroup, kBridge, kSpread, kDone };
  void next_phase();
  Status post(Communicator& via, int dest, int source, int tag);
  Result<bool> collected();
  void give_up();

  const Participants& who_;
  Phase phase_ = Phase::kDone;
  int distance_ = 1;
  Ballot value_{}, sent_{}, received_{};
  object::Request* send_ = nullptr;
  object::Request* recv_ = nullptr;
};

// The search for ids, however ballots travel: `count` consecutive contexts. propose() gives our ballot,
// judge() takes the maximum of all and says true when the id is found; else they vote, or search, once more.
// The last two words of the first ballot are the caller's.
class IdSearch {
 public:
  IdSearch(int count, bool in_background, int64_t extra0, int64_t extra1);
  ~IdSearch();
  IdSearch(const IdSearch&) = delete;
  IdSearch& operator=(const IdSearch&) = delete;

  const Ballot& ballot() const { return ballot_; }
  Result<bool> judge(const Ballot& value);
  uint32_t context() const { return context_; }
  int64_t extra(size_t i) const { return extra_[i]; }

 private:
  void propose();

  const int64_t width_;
  const bool in_background_;
  bool verifying_ = false;
  int attempt_ = 0;
  int64_t mine_[2], extra_[2]{};
  Ballot ballot_{};
  uint32_t context_ = 0;
};

// The search over communicators. The last two words of the ballot carry whatever the construction wants to
// know besides (the greatest of all participants' values).
class ContextSearch {
 public:
  ContextSearch(Participants who, int count, bool in_background, int64_t extra0 = 0, int64_t extra1 = 0);
  Result<bool> advance();
  uint32_t context() const { return ids_.context(); }
  int64_t extra(size_t i) const { return ids_.extra(i); }

 private:
  Participants who_;
  Maximum maximum_;
  IdSearch ids_;
};
// For those who agree on an id otherwise (survive.cc): a proposal, and whether an agreed one is free here,
// as it is not afterwards. `attempt` > 0: after a clash.
int64_t propose_context(int attempt);
bool take_context(int64_t context, int count);

// Runs a search to its end.
Result<uint32_t> agree(ContextSearch& search);
Status run(Maximum& maximum);
// Returns when all participants have called it.
Status meet(const Participants& who);

}  // namespace vicinity::world
