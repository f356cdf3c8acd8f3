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
  return best;
}

void Context::post(Transfer* receive) {
  if (receive->peer == kAnyProc) {
    any_.push_back(receive);
  } else {
    queues(receive->peer).posted.push_back(receive);
  }
  receive->stage = Stage::kPosted;
  counters_.posted_most = std::max(counters_.posted_most, ++counters_.posted);
}

void Context::unpost(Transfer* receive) {
  receive->place.unlink();
  receive->stage = Stage::kIdle;
  --counters_.posted;
}

Arrival* Context::find_unexpected(Proc source, int32_t tag) {
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

void Context::keep(Arrival* arrival) {
  queues(arrival->from).unexpected.push_back(arrival);
  order_.push_back(arrival);
  ++counters_.unexpected_total;
  counters_.unexpected_bytes += arrival->data_bytes;
  counters_.unexpected_most = std::max(counters_.unexpected_most, ++counters_.unexpected);
  base::tell(base::MessageUnexpected{static_cast<int32_t>(arrival->from), arrival->envelope.tag,
                                     static_cast<int64_t>(arrival->length)});
}

void Context::drop(Arrival* arrival) {
  arrival->by_source.unlink();
  arrival->by_order.unlink();
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
