// SPDX-License-Identifier: BSD-3-Clause
// Matching: one engine above all channels, one set of queues per context id on the wire.
//
// Posted receives wait in the queue of their source, or in the queue of MPI_ANY_SOURCE; a stamp tells
// which of two was posted first. Unexpected messages wait both in the queue of their source and in
// the queue of their context, in the order in which they came. A context comes to be when its first
// receive or its first message does, whichever is earlier: a message may be here before
// MPI_Comm_dup has returned here.
//
// A search looks at a queue element by element, which is fastest while it is short. One that was long makes
// tables beside the queues of its kind, until these are empty again: unexpected messages by source and tag,
// and by tag; posted receives by source and tag as they name them, so that a message has four places to look
// at.
//
// Order (MPI 5.0, 3.5): of one source, messages are matched in the order in which they came, and a
// message goes to the first posted receive that takes it.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "p2p/counters.h"
#include "p2p/table.h"
#include "p2p/transfer.h"

namespace vicinity::p2p {

class Context {
 public:
  explicit Context(Counters& counters) : counters_(counters) {}
  ~Context();

  // The receive that this message goes to, taken out of its queue; nullptr: keep the message.
  Transfer* match_posted(Proc from, int32_t tag);
  void post(Transfer* receive);
  void unpost(Transfer* receive);

  // The first unexpected message that a receive from `source` (or kAnyProc) with `tag` (or MPI_ANY_TAG)
  // takes; it stays queued until drop().
  Arrival* find_unexpected(Proc source, int32_t tag);
  // The first of one source whose tag is accepted.
  template <class Accept>
  Arrival* find_unexpected_if(Proc source, Accept&& accept) {
    BySource& queue = queues(source).unexpected;
    Arrival* arrival = queue.front();
    while (arrival && !accept(arrival->envelope.tag)) arrival = queue.after(arrival);
    return arrival;
  }
  void keep(Arrival* arrival);
  void drop(Arrival* arrival);
  // No message from `source` waits here, and no receive that could take one.
  bool nothing_from(Proc source) {
    Queues& q = queues(source);
    return q.posted.empty() && any_.empty() && q.unexpected.empty();
  }
  // For cancel: the unexpected message that `from` calls `sender_id`.
  Arrival* find_sent_as(Proc from, uint32_t sender_id);

  // Calls visit(transfer) for every posted receive that names `source` (kAnyProc: those that name
  // nobody); `visit` may take it out.
  template <class Visit>
  void each_posted(Proc source, Visit&& visit) {
    Posted& queue = source == kAnyProc ? any_ : queues(source).posted;
    for (Transfer *transfer = queue.front(), *next; transfer; transfer = next) {
      next = queue.after(transfer);
      visit(transfer);
    }
  }

  // The same for every posted receive.
  template <class Visit>
  void each_posted_at_all(Visit&& visit) {
    each_posted(UINT32_MAX, visit);
    for (size_t page = 0; page < pages_.size(); ++page)
      for (Proc at = 0; pages_[page] && at < kPage; ++at)
        each_posted(static_cast<Proc>(page * kPage) + at, visit);
  }

 private:
  using Posted = base::List<Transfer, &Transfer::place>;
  using BySource = base::List<Arrival, &Arrival::by_source>;
  using ByOrder = base::List<Arrival, &Arrival::by_order>;
  struct Queues {
    Posted posted;
    BySource unexpected;
  };
  static constexpr uint32_t kPage = 64;  // sources per page; pages come when first used
  struct Page {
    Queues queues[kPage];
  };

  Queues& queues(Proc source) {
    const size_t page = source / kPage;
    if (page < pages_.size() && pages_[page]) [[likely]]
      return pages_[page]->queues[source % kPage];
    return new_queues(source);
  }
  Queues& new_queues(Proc source);

  static constexpr uint64_t kLongSearch = 16;  // elements
  static uint64_t key_of(Proc source, int32_t tag) {
    return uint64_t{source} << 32 | static_cast<uint32_t>(tag);
  }
  Transfer* match_in_table(Proc from, int32_t tag);
  Transfer* first_posted(Proc source, int32_t tag);
  Arrival* search_unexpected(Proc source, int32_t tag);
  Arrival* find_in_tables(Proc source, int32_t tag);
  void tabulate_posted();
  void tabulate_unexpected();
  void add_posted(Transfer* receive);
  void add_unexpected(Arrival* arrival);

  Counters& counters_;
  std::vector<std::unique_ptr<Page>> pages_;
  Posted any_;
  ByOrder order_;
  Table<Transfer, &Transfer::by_key> posted_table_;
  Table<Arrival, &Arrival::by_key> unexpected_table_;  // this and the next are on together
  Table<Arrival, &Arrival::by_tag> tag_table_;
};

// All contexts of this process, by their id on the wire.
class Contexts {
 public:
  explicit Contexts(Counters& counters) : counters_(counters) {}
  Context& of(uint32_t id) {
    if (id < low_.size() && low_[id]) [[likely]]
      return *low_[id];
    return make(id);
  }
  void forget(uint32_t id);
  template <class Visit>
  void each(Visit&& visit) {
    for (auto& context : low_)
      if (context) visit(*context);
    for (auto& [id, context] : high_) visit(*context);
  }

 private:
  static constexpr uint32_t kLow = 1u << 16;  // ids below are looked up in an array
  Context& make(uint32_t id);
  Counters& counters_;
  std::vector<std::unique_ptr<Context>> low_;
  std::unordered_map<uint32_t, std::unique_ptr<Context>> high_;
};

}  // namespace vicinity::p2p
