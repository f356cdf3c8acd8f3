// SPDX-License-Identifier: BSD-3-Clause
// Tellings, the meeting on top of them, and who is still known through which communicator.
#include "world/encounter.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "object/datatype.h"
#include "object/pool.h"
#include "p2p/p2p.h"
#include "peer/meeting.h"
#include "world/construct.h"
#include "world/context.h"
#include "world/instance.h"
#include "world/introduce.h"

namespace vicinity::world {
namespace {

using object::Lane;
using object::Proc;
using Texts = std::vector<std::string>;

// A list of texts as one: count, then length and bytes of each.
void add_number(std::string& to, uint64_t number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::string flatten(const Texts& texts) {
  std::string all;
  add_number(all, texts.size());
  for (const std::string& text : texts) {
    add_number(all, text.size());
    all += text;
  }
  return all;
}

bool take_number(const std::string& all, size_t* at, uint64_t* number) {
  if (all.size() - *at < sizeof *number) return false;
  std::memcpy(number, all.data() + *at, sizeof *number);
  *at += sizeof *number;
  return true;
}

bool unfold(const std::string& all, Texts* texts) {
  size_t at = 0;
  uint64_t count = 0;
  if (!take_number(all, &at, &count) || count > all.size()) return false;
  for (; count > 0; --count) {
    uint64_t length = 0;
    if (!take_number(all, &at, &length) || length > all.size() - at) return false;
    texts->push_back(all.substr(at, length));
    at += length;
  }
  return at == all.size();
}

// A text as it travels: "+words", or "-class words" of who has failed.
std::string marked(const Result<std::string>& text) {
  if (text.ok()) return "+" + text.value();
  const int code = text.status().code();
  return "-" + std::to_string(code) + " " + base::failure_text(code);
}

Status failure_in(const Texts& texts) {
  for (const std::string& text : texts) {
    if (!text.empty() && text[0] == '+') continue;
    char* words = nullptr;
    const long code = text.size() > 1 ? std::strtol(text.c_str() + 1, &words, 10) : MPI_ERR_INTERN;
    const bool known = code > 0 && object::error_name(static_cast<int>(code));
    return fail(known ? static_cast<int>(code) : MPI_ERR_OTHER, "%s",
                words && *words ? words + 1 : "unknown");
  }
  return kOk;
}

class Teller {
 public:
  Teller(Communicator& comm, int leader, Bridge* bridge)
      : comm_(comm), who_(everyone(comm)), leader_(leader), bridge_(bridge) {}

  // In the order: first side, other side. Which is first is found out at the first telling.
  Result<Texts> tell(const Result<std::string>& mine);
  bool first() const { return first_; }
  uint32_t place() const {
    return static_cast<uint32_t>((first_ ? 0 : others_) + static_cast<size_t>(comm_.rank));
  }
  size_t others() const { return others_; }

 private:
  Status gather(const std::string& mine, Texts* all);
  Status cross(const Texts& own, std::string* all);
  Status spread_text(std::string* text);

  Communicator& comm_;
  const Participants who_;
  const int leader_;
  Bridge* const bridge_;
  bool first_ = false, decided_ = false;
  size_t others_ = 0;
};

// Of one process: a card and what goes with it, some KiB. Another guest may say anything.
constexpr int64_t kMostTextBytes = 1 << 20;

Status Teller::gather(const std::string& mine, Texts* all) {
  object::Datatype& number = object::builtin(MPI_INT64_T);
  object::Datatype& byte = object::builtin(MPI_BYTE);
  int64_t length = static_cast<int64_t>(mine.size());
  if (comm_.rank != leader_) {
    VICINITY_TRY(p2p::send(&length, 1, number, leader_, who_.tag, comm_, Lane::kControl));
    return p2p::send(mine.data(), length, byte, leader_, who_.tag, comm_, Lane::kControl);
  }
  all->resize(static_cast<size_t>(comm_.size()));
  for (int rank = 0; rank < comm_.size(); ++rank) {
    std::string& text = (*all)[static_cast<size_t>(rank)];
    if (rank == leader_) {
      text = mine;
      continue;
    }
    VICINITY_TRY(p2p::recv(&length, 1, number, rank, who_.tag, comm_, Lane::kControl));
    if (length < 0 || length > kMostTextBytes)
      return fail(MPI_ERR_OTHER, "rank %d announces a description of %lld bytes; %lld are the most", rank,
                  static_cast<long long>(length), static_cast<long long>(kMostTextBytes));
    text.resize(static_cast<size_t>(length));
    VICINITY_TRY(p2p::recv(text.data(), length, byte, rank, who_.tag, comm_, Lane::kControl));
  }
  return kOk;
}

// The leader's: own texts for those of both sides, with a mark of which side is ours.
Status Teller::cross(const Texts& own, std::string* all) {
  std::string other;
  if (!bridge_) {  // our leader has told why
    *all = flatten(own);
    return kOk;
  }
  const std::string mine = flatten(own);
  VICINITY_TRY(bridge_->swap(mine, &other));
  if (!decided_ && mine == other) return fail(MPI_ERR_PORT, "a process cannot be connected with itself");
  if (!decided_) first_ = mine < other;
  Texts texts;
  const bool good =
      first_ ? unfold(mine, &texts) && unfold(other, &texts) : unfold(other, &texts) && unfold(mine, &texts);
  if (!good || texts.size() <= own.size())
    return fail(MPI_ERR_PORT, "the other side sends what is no list of texts; is it another version?");
  texts.push_back(first_ ? "1" : "0");
  *all = flatten(texts);
  return kOk;
}

Status Teller::spread_text(std::string* text) {
  std::vector<int64_t> words(1, static_cast<int64_t>(text->size()));
  VICINITY_TRY(spread(who_, leader_, words));
  if (words[0] < 0 || words[0] > 2 * kMostTold)
    return fail(MPI_ERR_OTHER, "the leader announces %lld bytes", static_cast<long long>(words[0]));
  const auto bytes = static_cast<size_t>(words[0]);
  words.assign((bytes + 7) / 8, 0);
  if (comm_.rank == leader_) std::memcpy(words.data(), text->data(), bytes);
  VICINITY_TRY(spread(who_, leader_, words));
  text->assign(reinterpret_cast<const char*>(words.data()), bytes);
  return kOk;
}

Result<Texts> Teller::tell(const Result<std::string>& mine) {
  Texts own, texts;
  std::string all;
  const std::string text = marked(mine);
  const Status gathered = gather(text, &own);
  if (!gathered.ok() && comm_.rank != leader_) return gathered;
  // The other side is to hear of a failure of ours in the same words.
  if (!gathered.ok()) own.assign(static_cast<size_t>(comm_.size()), marked(gathered));
  if (comm_.rank == leader_)
    if (Status crossed = cross(own, &all); !crossed.ok()) all = flatten({marked(crossed)});
  VICINITY_TRY(spread_text(&all));
  if (!unfold(all, &texts)) return fail(MPI_ERR_INTERN, "a telling was damaged on its way");
  const bool crossed = texts.size() > static_cast<size_t>(comm_.size()) + 1;
  if (crossed) {
    first_ = texts.back() == "1";
    texts.pop_back();
    decided_ = true;
    others_ = texts.size() - static_cast<size_t>(comm_.size());
  }
  VICINITY_TRY(failure_in(texts));
  if (!crossed) return fail(MPI_ERR_INTERN, "a telling did not reach the other side");
  for (std::string& one : texts) one.erase(0, 1);
  return texts;
}

// The same search as among the members of a communicator, by tellings.
Result<uint32_t> agree_on_context(Teller& teller) {
  IdSearch ids(2, false, 0, 0);
  for (;;) {
    const Ballot& mine = ids.ballot();
    const std::string text(reinterpret_cast<const char*>(mine.data()), sizeof mine);
    Result<Texts> all = teller.tell(text);
    if (!all.ok()) return all.status();
    Ballot most = mine;
    for (const std::string& one : *all) {
      Ballot ballot;
      if (one.size() != sizeof ballot) return fail(MPI_ERR_INTERN, "a ballot is damaged");
      std::memcpy(ballot.data(), one.data(), sizeof ballot);
      for (size_t i = 0; i < kBallotWords; ++i) most[i] = std::max(most[i], ballot[i]);
    }
    Result<bool> found = ids.judge(most);
    if (!found.ok()) return found.status();
    if (*found) return ids.context();
  }
}

// For whoever we are connected with our death is theirs.
void tell_launcher() {
  if (instance().wireup) instance().wireup->tell_guests(peer::guest_count());
}

// Afterwards all processes of both sides have numbers here, and a channel.
Status acquaint(Teller& teller, peer::Meeting& meeting, Status trouble) {
  Result<Texts> texts = teller.tell(trouble.ok() ? meeting.introduction() : trouble);
  if (!texts.ok()) return texts.status();
  const Status read = meeting.read(*texts, teller.place());
  Result<Texts> news =
      teller.tell(read.ok() ? std::string(meeting.strangers() ? "1" : "0") : Result<std::string>(read));
  if (!news.ok()) return news.status();
  if (std::find(news->begin(), news->end(), "1") == news->end()) return kOk;
  Result<Texts> addresses = teller.tell(meeting.try_first());
  if (!addresses.ok()) return addresses.status();
  Result<Texts> numbers = teller.tell(meeting.settle(*addresses));
  if (!numbers.ok()) return numbers.status();
  meeting.keep(*numbers);
  tell_launcher();
  return kOk;
}

std::unordered_map<Proc, uint32_t> held;  // communicators in which a guest is

template <class Visit>
void each_guest(const Communicator& comm, Visit&& visit) {
  for (const Group* group : {comm.group, comm.remote}) {
    if (!group) continue;
    for (Proc proc : group->procs)
      if (peer::is_guest(proc)) visit(proc);
  }
}

}  // namespace

void hold_guests(const Communicator& comm) {
  each_guest(comm, [](Proc proc) { ++held[proc]; });
}

void release_guests(const Communicator& comm) {
  each_guest(comm, [](Proc proc) {
    const auto found = held.find(proc);
    if (found != held.end() && found->second > 0) --found->second;
  });
}

void part_from(const std::vector<Proc>& procs) {
  for (Proc proc : procs) {
    const auto found = held.find(proc);
    if (found != held.end() && found->second > 0) continue;
    if (found != held.end()) held.erase(found);
    peer::let_go(proc);
  }
  tell_launcher();
}

namespace {

Result<Communicator*> unite(Communicator& comm, Teller& teller, const peer::Meeting& meeting) {
  Result<uint32_t> context = agree_on_context(teller);
  if (!context.ok()) return context.status();
  const std::vector<Proc>& all = meeting.procs();
  const size_t own = static_cast<size_t>(comm.size()), from = teller.first() ? own : 0;
  std::vector<Proc> others(all.begin() + static_cast<std::ptrdiff_t>(from),
                           all.begin() + static_cast<std::ptrdiff_t>(from + teller.others()));
  for (Proc proc : others)
    if (comm.group->rank_of(proc) != MPI_UNDEFINED)
      return fail(MPI_ERR_GROUP, "the two groups of an intercommunicator share a process");
  Group* remote = object::make_group(std::move(others), instance().self());
  if (!remote) return fail(MPI_ERR_NO_MEM, "no memory for a group");
  Communicator* made = assemble(Parts{.context = *context,
                                      .group = object::retain(comm.group),
                                      .remote = remote,
                                      .low_group = teller.first(),
                                      .parent = &comm});
  if (!made) return fail(MPI_ERR_NO_MEM, "no memory for a communicator");
  return made;
}

}  // namespace

Result<Communicator*> encounter(Communicator& comm, int leader, Bridge* bridge, Status trouble) {
  Teller teller(comm, leader, bridge);
  peer::Meeting meeting;
  VICINITY_TRY(acquaint(teller, meeting, trouble));
  Result<Communicator*> made = unite(comm, teller, meeting);
  if (!made.ok()) part_from(meeting.procs());
  return made;
}

}  // namespace vicinity::world
