// SPDX-License-Identifier: BSD-3-Clause
// For tests: runs the schedules of many virtual ranks in one process over an in-memory network.
//
// A seed decides who moves next, when a message arrives, and whether its bytes are read when it is sent
// (eager) or only when it is received (so that a buffer that is used again too early gives wrong
// results). Messages of one pair and context stay in order and match by tag, as in MPI. When nobody can
// move any more, run() says so instead of hanging.
#pragma once

#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "coll/engine.h"
#include "coll/plan.h"

namespace vicinity::coll::sim {

struct Ticket {
  bool done = false;
  uint64_t bytes = 0;
  Status status;
};

struct Traffic {
  uint64_t messages = 0, bytes = 0;
};

class Network {
 public:
  // `low` ranks form one group and the rest the other, of an intercommunicator; 0: all are one group.
  Network(int ranks, int low, uint64_t seed) : ranks_(ranks), low_(low), random_(seed) {
    const auto n = static_cast<size_t>(ranks);
    channels_.resize(n * n);
    sent_.resize(n * n);
    arrived_.resize(n);
    posted_.resize(n);
  }
  uint64_t pick(uint64_t below) { return random_() % below; }

  int global(int rank, Side side, int peer) const {
    if (low_ == 0) return peer;
    const bool in_low = rank < low_;
    const bool peer_in_low = side == Side::kOwn ? in_low : !in_low;
    return peer_in_low ? peer : low_ + peer;
  }
  int context(int rank, Side side) const { return side == Side::kOther ? 2 : low_ > 0 && rank >= low_; }

  void send(int rank, const Step& step, int tag, Ticket* ticket) {
    const int to = global(rank, step.side, step.peer);
    Traffic& sent = sent_[static_cast<size_t>(rank * ranks_ + to)];
    ++sent.messages;
    sent.bytes += step.from.bytes();
    Message message{rank, context(rank, step.side), tag, step.from, {}, nullptr};
    if (pick(2) == 0) {
      read(message);
      ticket->done = true;
    } else {
      message.sender = ticket;
    }
    channels_[static_cast<size_t>(rank * ranks_ + to)].push_back(std::move(message));
    ++under_way_;
  }
  void recv(int rank, const Step& step, int tag, Ticket* ticket) {
    const int from = global(rank, step.side, step.peer);
    posted_[static_cast<size_t>(rank)].push_back({from, context(rank, step.side), tag, step.to, ticket});
    match(rank);
  }
  // Delivers one message; false when none is under way.
  bool deliver() {
    if (under_way_ == 0) return false;
    size_t at = pick(channels_.size());
    while (channels_[at].empty()) at = (at + 1) % channels_.size();
    const auto to = at % static_cast<size_t>(ranks_);
    arrived_[to].push_back(std::move(channels_[at].front()));
    channels_[at].pop_front();
    --under_way_;
    match(static_cast<int>(to));
    return true;
  }
  // What has gone from one place to another.
  Traffic crossing(const std::vector<uint32_t>& places) const {
    Traffic sum;
    for (size_t at = 0; at < sent_.size(); ++at) {
      if (places[at / places.size()] == places[at % places.size()]) continue;
      sum.messages += sent_[at].messages;
      sum.bytes += sent_[at].bytes;
    }
    return sum;
  }
  size_t left_over() const {
    size_t n = under_way_;
    for (const auto& list : arrived_) n += list.size();
    return n;
  }

 private:
  struct Message {
    int from, context, tag;
    Typed source;
    std::vector<char> data;
    Ticket* sender;
  };
  struct Posted {
    int from, context, tag;
    Typed target;
    Ticket* ticket;
  };
  static void read(Message& message) {
    message.data.resize(message.source.bytes());
    if (!message.data.empty())
      object::pack(message.source.at, message.source.count, *message.source.type, message.data.data());
  }
  void match(int rank) {
    auto& posted = posted_[static_cast<size_t>(rank)];
    auto& arrived = arrived_[static_cast<size_t>(rank)];
    for (size_t p = 0; p < posted.size();) {
      size_t a = 0;
      while (a < arrived.size() && !(arrived[a].from == posted[p].from && arrived[a].tag == posted[p].tag &&
                                     arrived[a].context == posted[p].context))
        ++a;
      if (a == arrived.size()) {
        ++p;
        continue;
      }
      complete(arrived[a], posted[p]);
      arrived.erase(arrived.begin() + static_cast<ptrdiff_t>(a));
      posted.erase(posted.begin() + static_cast<ptrdiff_t>(p));
    }
  }
  static void complete(Message& message, Posted& posted) {
    if (message.sender) {
      read(message);
      message.sender->done = true;
    }
    posted.ticket->bytes = message.data.size();
    posted.ticket->done = true;
    if (message.data.size() > posted.target.bytes()) {
      posted.ticket->status = Status(MPI_ERR_TRUNCATE);
      return;
    }
    if (message.data.size() == posted.target.bytes() && !message.data.empty())
      object::unpack(message.data.data(), posted.target.at, posted.target.count, *posted.target.type);
  }

  int ranks_, low_;
  std::mt19937_64 random_;
  std::vector<std::deque<Message>> channels_;  // [from * ranks + to]
  std::vector<Traffic> sent_;                  // the same
  std::vector<std::deque<Message>> arrived_;   // unexpected, per receiver
  std::vector<std::vector<Posted>> posted_;
  size_t under_way_ = 0;
};

// The engine's transport of one virtual rank.
class RankTransport {
 public:
  RankTransport(Network& network, int rank) : network_(network), rank_(rank) {}
  Status isend(const Step& step, int tag, void** ticket) {
    network_.send(rank_, step, tag, fresh(ticket));
    ++posts;
    return object::kOk;
  }
  Status irecv(const Step& step, int tag, void** ticket) {
    network_.recv(rank_, step, tag, fresh(ticket));
    ++posts;
    return object::kOk;
  }
  bool done(void* ticket) const { return static_cast<Ticket*>(ticket)->done; }
  Status finish(void* ticket, uint64_t* bytes) {
    *bytes = static_cast<Ticket*>(ticket)->bytes;
    return static_cast<Ticket*>(ticket)->status;
  }
  void abandon(void*, const Step&) { ++abandoned; }
  int posts = 0;
  int abandoned = 0;

 private:
  Ticket* fresh(void** ticket) {
    tickets_.push_back(std::make_unique<Ticket>());
    *ticket = tickets_.back().get();
    return tickets_.back().get();
  }
  Network& network_;
  int rank_;
  std::vector<std::unique_ptr<Ticket>> tickets_;
};

class Simulation {
 public:
  explicit Simulation(int ranks, uint64_t seed, int low = 0)
      : network(ranks, low, seed), ranks_(ranks), low_(low) {
    for (int rank = 0; rank < ranks; ++rank) {
      schedules.push_back(std::make_unique<Schedule>());
      transports.push_back(std::make_unique<RankTransport>(network, rank));
    }
  }
  ~Simulation() {
    for (auto& schedule : schedules) schedule->clear();
  }
  Plan plan(int rank, Kind kind, const Op* op = nullptr, int root = kNoRoot) {
    Schedule& schedule = *schedules[static_cast<size_t>(rank)];
    schedule.kind = kind;
    schedule.op = op;
    schedule.tag[0] = schedule.tag[1] = make_tag(kind, static_cast<uint32_t>(root + 1), 7);
    if (low_ == 0) return Plan(schedule, rank, ranks_, division);
    const bool in_low = rank < low_;
    Plan plan(schedule, in_low ? rank : rank - low_, in_low ? low_ : ranks_ - low_);
    plan.others = in_low ? ranks_ - low_ : low_;
    return plan;
  }
  // Runs until every rank is done, or nobody can move: then returns false.
  bool run() {
    std::vector<bool> over(static_cast<size_t>(ranks_), false);
    size_t finished = 0;
    auto advance = [&](size_t rank) {
      if (over[rank] || !Engine<RankTransport>::advance(*schedules[rank], *transports[rank])) return;
      over[rank] = true;
      ++finished;
    };
    while (finished < over.size()) {
      if (network.pick(3) > 0 && network.deliver()) continue;
      const size_t before = finished + steps_done();
      advance(network.pick(over.size()));
      if (finished + steps_done() != before || network.deliver()) continue;
      for (size_t rank = 0; rank < over.size(); ++rank) advance(rank);
      if (finished + steps_done() == before && !network.deliver()) return false;
    }
    return true;
  }
  size_t steps_done() const {
    size_t n = 0;
    for (const auto& schedule : schedules) n += schedule->next + schedule->oldest;
    return n;
  }

  Network network;
  const Division* division = nullptr;  // of all ranks
  std::vector<std::unique_ptr<Schedule>> schedules;
  std::vector<std::unique_ptr<RankTransport>> transports;

 private:
  int ranks_, low_;
};

}  // namespace vicinity::coll::sim
