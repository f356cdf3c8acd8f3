// SPDX-License-Identifier: BSD-3-Clause
// Everything of the sending end that is not one short line: credit, frames, bulk, waking.
#include "channel/ring/sender.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "base/clock.h"

namespace vicinity::channel::ring {

static_assert(Channel<Sender>);

namespace {

constexpr size_t kLeastPiece = 4096;
constexpr size_t kShared = 4;  // messages of at most such a part of a buffer share one
constexpr size_t kPiecesOfMessage = 2;
constexpr uint32_t kWarmBytes = 65536;

// What each take gains once all buffers are in use, at most: a stream of 64 KiB, which is four takes,
// needs 4.0 us for one message with 8 buffers and 2.6 with 64. To touch a page takes 0.3 us if it is there
// already; to make it, 3 us in a virtual machine whose host has to find the memory first.
constexpr int64_t kEarnedNs = 400;
constexpr int64_t kLeastTakes = 4, kMostTakes = 32;

// What the clock says of reading a line that the receiver has just written: 40 to 80 ns when we share a
// cache, 120 to 250 when we do not. The clock itself takes some 20 of it.
constexpr int64_t kFarNs = 100;
constexpr int64_t kMostNs = 600;  // whatever is longer was something else
constexpr uint32_t kEveryLook = 4;
constexpr uint32_t kFirstLooks = 16;

uint32_t kind_and_flags(const Envelope& envelope) { return envelope.kind | uint32_t{envelope.flags} << 8; }

uint64_t address_of(const Envelope& envelope) {
  uint64_t address;
  std::memcpy(&address, &envelope, sizeof address);
  return address;
}

// A whole following line: constant size, so that it compiles to a few wide moves.
void copy_more(Line* line, const std::byte* data, size_t bytes) {
  if (bytes == kMorePayload) [[likely]] {
    std::memcpy(line->payload, data, kMorePayload);
  } else {
    copy_small(line->payload, data, bytes);
  }
}

// Pieces of a buffer: as many as keep them above half of the message.
uint32_t cuts_of_buffer(size_t buffer_bytes, size_t message_bytes) {
  const size_t least = std::max(kLeastPiece, message_bytes / kPiecesOfMessage);
  uint32_t cuts = 1;
  while (cuts < kMostPieces && buffer_bytes / (2 * cuts) >= least && buffer_bytes % (128 * cuts) == 0)
    cuts *= 2;
  return cuts;
}

}  // namespace

BufferPool::BufferPool(std::byte* base, uint32_t count, uint32_t bytes_each)
    : base_(base), bytes_each_(bytes_each), count_(count), free_(new uint32_t[count]) {}

uint32_t BufferPool::takes_to_earn(int64_t ns) {
  return static_cast<uint32_t>(std::clamp(ns / kEarnedNs, kLeastTakes, kMostTakes));
}

// All pages of the buffer at once. By reading: a write would map pages that are there already (of a file that
// an earlier job has used) one by one, a read maps them together, and for writing too. That it fails, as in
// an old kernel, does not matter: the next write does the same.
uint32_t BufferPool::touch() {
  const uint32_t index = touched_++;
#ifdef MADV_POPULATE_READ
  const int64_t before = base::now_ns();
  const auto from = reinterpret_cast<uintptr_t>(at(index)) & -uintptr_t{region::kPageBytes};
  const auto to = reinterpret_cast<uintptr_t>(at(index)) + bytes_each_;
  const bool done = madvise(reinterpret_cast<void*>(from), to - from, MADV_POPULATE_READ) == 0;
  unearned_ = done ? takes_to_earn(base::now_ns() - before) : kMostTakes;
#else
  unearned_ = kMostTakes;
#endif
  return index;
}

uint32_t BufferPool::take_oldest() {
  if (unearned_ != 0) --unearned_;
  if (available_ == 0 || (touched_ < count_ && unearned_ == 0)) return touch();
  const uint32_t index = free_[first_];
  first_ = within(first_ + 1);
  --available_;
  return index;
}

Sender::Sender(const SenderParts& parts)
    : next_(parts.lines),
      base_(parts.lines),
      bell_(parts.bell),
      seq_(first_sequence(parts.generation)),
      mask_(parts.line_count - 1),
      warm_(std::max(1u, kWarmBytes / parts.pool->bytes_each())),
      held_(new Held[parts.share]),
      parts_(parts) {
  const size_t following = parts.line_count / 2 - 1;
  frame_limit_ = static_cast<uint32_t>(std::min(kMostFrameBytes, kFirstWithWord + following * kMorePayload));
}

// room_ is 0 until the first send, so that it comes here and the receiver learns of this ring.
void Sender::open() {
  known_ = true;
  room_ = parts_.line_count;
  __atomic_store_n(parts_.opened, uint8_t{region::kOpened}, __ATOMIC_RELEASE);
  const uint64_t bit = uint64_t{1} << (parts_.own_section % 64);
  __atomic_fetch_or(parts_.receiver_hints + parts_.own_section / 64, bit, __ATOMIC_SEQ_CST);
}

// Reads the receiver's credit only if the cached value says no.
bool Sender::have_room(uint32_t lines) {
  if (room_ >= lines) return true;
  if (failure_) return false;
  if (!known_) {
    open();
  } else {
    refresh();
  }
  return room_ >= lines;
}

void Sender::refresh() {
  // SYNC POINT CREDIT (acquire): the receiver has read the lines before it gave them back.
  const uint64_t credit = __atomic_load_n(&parts_.credit->lines, __ATOMIC_ACQUIRE);
  const uint64_t back = credit - credited_;
  if (back > parts_.line_count - room_) return close("its credit counts lines that were never sent");
  room_ += static_cast<uint32_t>(back);
  credited_ = credit;
}

// How far the receiver's core is from ours; a virtual CPU moves, so one looks again and again.
uint64_t Sender::timed_credit() {
  const bool timed = ++looks_ < kFirstLooks || looks_ % kEveryLook == 0;
  const int64_t before = timed ? base::now_ns() : 0;
  // SYNC POINT CREDIT (acquire), for bulk buffers.
  const uint64_t credit = __atomic_load_n(&parts_.credit->pieces, __ATOMIC_ACQUIRE);
  if (timed && credit != pieces_back_) {
    const int64_t took = std::min(base::now_ns() - before, kMostNs);
    distance_ns_ += (took - distance_ns_) / 4;
  }
  return credit;
}

void Sender::refresh_buffers() {
  const uint64_t credit = timed_credit();
  if (credit - pieces_back_ > pieces_sent_ - pieces_back_)
    return close("its credit counts pieces that were never sent");
  pieces_back_ = credit;
  for (; buffers_back_ != buffers_taken_ && held(buffers_back_).last <= credit; ++buffers_back_) {
    if (buffers_back_ + 1 == buffers_taken_) open_ = 0;
    parts_.pool->give(held(buffers_back_).buffer);
  }
}

void Sender::hold(uint32_t buffer) { held(buffers_taken_++) = {buffer, pieces_sent_}; }

// One more has been written into the newest buffer.
void Sender::count_piece() { held(buffers_taken_ - 1).last = ++pieces_sent_; }

// Reads the receiver's credit, a miss, not for every message; but long before the share is used up: buffers
// that come back early are still in the cache.
bool Sender::have_buffers(uint32_t count) {
  if (buffers_taken_ - buffers_back_ + count > std::min(parts_.share, warm_)) refresh_buffers();
  return !failure_ && buffers_taken_ - buffers_back_ + count <= parts_.share;
}

Answer Sender::send_slowly(const Envelope& envelope, const void* data, size_t bytes) {
  if (failure_ || bytes > parts_.largest) return Answer::kFailed;
  const auto* from = static_cast<const std::byte*>(data);
  const Answer answer = bytes <= frame_limit_                          ? send_frame(envelope, from, bytes)
                        : bytes <= parts_.pool->bytes_each() / kShared ? send_packed(envelope, from, bytes)
                                                                       : send_bulk(envelope, from, bytes);
  if (answer == Answer::kDone) {
    ring_bell();
    return answer;
  }
  if (failure_) return Answer::kFailed;
  ++*parts_.retries;
  return Answer::kRetry;
}

// One line, or consecutive lines with a sequence in each: the receiver copies the first while we still
// write the next.
Answer Sender::send_frame(const Envelope& envelope, const std::byte* data, size_t bytes) {
  const bool with_word = envelope.word != 0;
  const size_t first = std::min(bytes, with_word ? kFirstWithWord : kFirstPayload);
  const auto more = static_cast<uint32_t>((bytes - first + kMorePayload - 1) / kMorePayload);
  if (!have_room(1 + more)) return Answer::kRetry;

  copy_small(next_->payload, data, first);
  if (with_word) std::memcpy(next_->payload + kFirstWithWord, &envelope.word, sizeof envelope.word);
  const Form form = more ? (with_word ? Form::kFrameWithWord : Form::kFrame)
                         : (with_word ? Form::kShortWithWord : Form::kShort);
  publish(next_, address_of(envelope),
          make_control(kind_and_flags(envelope), form, static_cast<uint32_t>(bytes), seq_));
  advance(1);
  for (size_t done = first; done < bytes;) {
    const size_t part = std::min(bytes - done, kMorePayload);
    copy_more(next_, data + done, part);
    publish_more(next_, make_control(0, Form::kMore, static_cast<uint32_t>(part), seq_));
    advance(1);
    done += part;
  }
  return Answer::kDone;
}

// A receiver with a cache in common takes the data from there; another gets it sooner from memory.
void Sender::fill(std::byte* to, const std::byte* from, size_t bytes) const {
  if (distance_ns_ > kFarNs) {
    copy_past_caches(to, from, bytes);
  } else {
    std::memcpy(to, from, bytes);
  }
}

// Short ones lie in one buffer, one behind the other. When it is full, its beginning has often come back.
Answer Sender::send_packed(const Envelope& envelope, const std::byte* data, size_t bytes) {
  BufferPool& pool = *parts_.pool;
  const auto room =
      static_cast<uint32_t>((bytes + region::kLineBytes - 1) / region::kLineBytes * region::kLineBytes);
  if (!have_room(1)) return Answer::kRetry;
  if (open_ < room) {
    refresh_buffers();
    if (!have_buffers(1)) return Answer::kRetry;
    hold(pool.take_newest());
    open_ = pool.bytes_each();
  }
  const uint32_t buffer = held(buffers_taken_ - 1).buffer, offset = pool.bytes_each() - open_;
  fill(pool.at(buffer) + offset, data, bytes);
  open_ -= room;
  publish_bulk(envelope, {static_cast<uint32_t>(bytes), envelope.word, buffer, offset}, 1);
  return Answer::kDone;
}

// A message goes in pieces, a line each, so that the receiver empties one while we fill the next: a buffer
// each, or parts of the only buffer; not in smaller ones, because every handing over costs as much as the
// copy of some KiB.
Answer Sender::send_bulk(const Envelope& envelope, const std::byte* data, size_t bytes) {
  const size_t each = parts_.pool->bytes_each();
  const uint32_t cuts = cuts_of_buffer(each, bytes);
  const size_t piece = each / cuts;
  const auto buffers = static_cast<uint32_t>((bytes + each - 1) / each);
  if (!have_room(static_cast<uint32_t>((bytes + piece - 1) / piece)) || !have_buffers(buffers))
    return Answer::kRetry;

  BufferPool& pool = *parts_.pool;
  open_ = 0;
  uint32_t buffer = 0;
  for (size_t done = 0; done < bytes; done += piece) {
    const size_t within = done % each;
    if (within == 0) {
      buffer = buffers == 1 ? pool.take_newest() : pool.take_oldest();
      hold(buffer);
    }
    fill(pool.at(buffer) + within, data + done, std::min(bytes - done, piece));
    if (done == 0) {
      publish_bulk(envelope, {static_cast<uint32_t>(bytes), envelope.word, buffer, 0}, cuts);
    } else {
      count_piece();
      std::memcpy(next_->payload, &buffer, sizeof buffer);
      publish_more(next_, make_control(0, Form::kMoreBulk, 0, seq_));
      advance(1);
    }
  }
  return Answer::kDone;
}

void Sender::publish_bulk(const Envelope& envelope, const BulkFirst& first, uint32_t cuts) {
  count_piece();
  std::memcpy(next_->payload, &first, sizeof first);
  publish(next_, address_of(envelope), make_control(kind_and_flags(envelope), Form::kBulk, cuts, seq_));
  advance(1);
}

// One waker per sleep: the others see kWaking and go on.
void Bell::ring(uint32_t seen) const {
  if (seen == region::kAwake || seen == region::kWaking) return;
  if (!__atomic_compare_exchange_n(state, &seen, uint32_t{region::kWaking}, false, __ATOMIC_SEQ_CST,
                                   __ATOMIC_RELAXED))
    return;
  __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace vicinity::channel::ring
