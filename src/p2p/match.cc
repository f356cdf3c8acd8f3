// SPDX-License-Identifier: BSD-3-Clause
// The queues of matching.
#include "p2p/match.h"

#include <algorithm>

#include "base/event.h"

namespace vicinity::p2p {
namespace {

bool takes(int32_t wanted, int32_t tag) { return wanted == tag || wanted == MPI_ANY_TAG; }

}  // namespace

Context::~Context() {
  while (Arrival* arrival = order_.front()) {
    drop(arrival);
    give_arrival(arrival);
  }
}

Context::Queues& Context::new_queues(Proc source) {
  const size_t page = source / kPage;
  if (page >= pages_.size()) pages_.resize(page + 1);
  pages_[page] = std::make_unique<Page>();
  return pages_[page]->queues[source % kPage];
}

Transfer* Context::match_posted(Proc from, int32_t tag) {
  if (posted_table_.on()) [[unlikely]]
    return match_in_table(from, tag);
  const uint64_t before = counters_.match_attempts;
  Posted& named = queues(from).posted;
  Transfer* best = nullptr;
  for (Transfer* t = named.front(); t; t = named.after(t)) {
    ++counters_.match_attempts;
    if (!takes(t->tag, tag)) continue;
    best = t;
    break;
  }
  for (Transfer* t = any_.front(); t && (!best || t->stamp < best->stamp); t = any_.after(t)) {
    ++counters_.match_attempts;
    if (!takes(t->tag, tag)) continue;
    best = t;
    break;
  }
  if (best) unpost(best);
  if (counters_.match_attempts - before > kLongSearch) [[unlikely]]
    tabulate_posted();
  return best;
}

// The first that names exactly this.
Transfer* Context::first_posted(Proc source, int32_t tag) {
  const auto& chain = posted_table_.chain_of(key_of(source, tag));
  for (Transfer* t = chain.front(); t; t = chain.after(t)) {
    ++counters_.match_attempts;
    if (t->peer == source && t->tag == tag) return t;
  }
  return nullptr;
}

Transfer* Context::match_in_table(Proc from, int32_t tag) {
  Transfer* best = nullptr;
  for (Transfer* t : {first_posted(from, tag), first_posted(from, MPI_ANY_TAG), first_posted(kAnyProc, tag),
                      first_posted(kAnyProc, MPI_ANY_TAG)})
    if (t && (!best || t->stamp < best->stamp)) best = t;
  if (best) unpost(best);
  return best;
}

void Context::tabulate_posted() {
  if (!posted_table_.begin(2 * counters_.posted)) return;
  each_posted_at_all([&](Transfer* t) { posted_table_.add(key_of(t->peer, t->tag), t); });
}

void Context::add_posted(Transfer* receive) {
  posted_table_.add(key_of(receive->peer, receive->tag), receive);
  if (posted_table_.crowded()) tabulate_posted();
}

void Context::post(Transfer* receive) {
  if (receive->peer == kAnyProc) {
    any_.push_back(receive);
  } else {
    queues(receive->peer).posted.push_back(receive);
  }
  if (posted_table_.on()) [[unlikely]]
    add_posted(receive);
  receive->stage = Stage::kPosted;
  counters_.posted_most = std::max(counters_.posted_most, ++counters_.posted);
}

void Context::unpost(Transfer* receive) {
  receive->place.unlink();
  if (posted_table_.on()) [[unlikely]]
    posted_table_.remove(receive);
  receive->stage = Stage::kIdle;
  --counters_.posted;
}

inline Arrival* Context::search_unexpected(Proc source, int32_t tag) {
  if (source == kAnyProc) {
    for (Arrival* a = order_.front(); a; a = order_.after(a)) {
      ++counters_.match_attempts;
      if (takes(tag, a->envelope.tag)) return a;
    }
    return nullptr;
  }
  BySource& queue = queues(source).unexpected;
  for (Arrival* a = queue.front(); a; a = queue.after(a)) {
    ++counters_.match_attempts;
    if (takes(tag, a->envelope.tag)) return a;
  }
  return nullptr;
}

Arrival* Context::find_unexpected(Proc source, int32_t tag) {
  if (unexpected_table_.on()) [[unlikely]]
    return find_in_tables(source, tag);
  const uint64_t before = counters_.match_attempts;
  Arrival* found = search_unexpected(source, tag);
  if (counters_.match_attempts - before > kLongSearch) [[unlikely]]
    tabulate_unexpected();
  return found;
}

Arrival* Context::find_in_tables(Proc source, int32_t tag) {
  if (tag == MPI_ANY_TAG) return source == kAnyProc ? order_.front() : queues(source).unexpected.front();
  if (source == kAnyProc) {
    const auto& chain = tag_table_.chain_of(key_of(0, tag));
    for (Arrival* a = chain.front(); a; a = chain.after(a)) {
      ++counters_.match_attempts;
      if (a->envelope.tag == tag) return a;
    }
    return nullptr;
  }
  const auto& chain = unexpected_table_.chain_of(key_of(source, tag));
  for (Arrival* a = chain.front(); a; a = chain.after(a)) {
    ++counters_.match_attempts;
    if (a->from == source && a->envelope.tag == tag) return a;
  }
  return nullptr;
}

void Context::tabulate_unexpected() {
  Table<Arrival, &Arrival::by_tag> tags;
  if (!tags.begin(2 * counters_.unexpected) || !unexpected_table_.begin(2 * counters_.unexpected)) return;
  tag_table_ = std::move(tags);
  for (Arrival* a = order_.front(); a; a = order_.after(a)) {
    unexpected_table_.add(key_of(a->from, a->envelope.tag), a);
    tag_table_.add(key_of(0, a->envelope.tag), a);
  }
}

void Context::add_unexpected(Arrival* arrival) {
  unexpected_table_.add(key_of(arrival->from, arrival->envelope.tag), arrival);
  tag_table_.add(key_of(0, arrival->envelope.tag), arrival);
  if (unexpected_table_.crowded()) tabulate_unexpected();
}

void Context::keep(Arrival* arrival) {
  queues(arrival->from).unexpected.push_back(arrival);
  order_.push_back(arrival);
  if (unexpected_table_.on()) [[unlikely]]
    add_unexpected(arrival);
  ++counters_.unexpected_total;
  counters_.unexpected_bytes += arrival->data_bytes;
  counters_.unexpected_most = std::max(counters_.unexpected_most, ++counters_.unexpected);
  base::tell(base::MessageUnexpected{static_cast<int32_t>(arrival->from), arrival->envelope.tag,
                                     static_cast<int64_t>(arrival->length)});
}

void Context::drop(Arrival* arrival) {
  arrival->by_source.unlink();
  arrival->by_order.unlink();
  if (unexpected_table_.on()) [[unlikely]] {
    unexpected_table_.remove(arrival);
    tag_table_.remove(arrival);
  }
  counters_.unexpected_bytes -= arrival->data_bytes;
  --counters_.unexpected;
}

Arrival* Context::find_sent_as(Proc from, uint32_t sender_id) {
  BySource& queue = queues(from).unexpected;
  for (Arrival* a = queue.front(); a; a = queue.after(a))
    if (a->envelope.word == sender_id) return a;
  return nullptr;
}

Context& Contexts::make(uint32_t id) {
  if (id >= kLow) {
    auto& context = high_[id];
    if (!context) context = std::make_unique<Context>(counters_);
    return *context;
  }
  if (id >= low_.size()) low_.resize(id + 1);
  low_[id] = std::make_unique<Context>(counters_);
  return *low_[id];
}

void Contexts::forget(uint32_t id) {
  if (id < low_.size()) low_[id].reset();
  high_.erase(id);
}

}  // namespace vicinity::p2p
