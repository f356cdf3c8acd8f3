// SPDX-License-Identifier: BSD-3-Clause
// Everything of the sending end that is not one short line: credit, frames, bulk, waking.
#include "channel/ring/sender.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace vicinity::channel::ring {

static_assert(Channel<Sender>);

namespace {

constexpr size_t kBatchBytes = 32768;  // of bulk buffers that are filled before their lines are published
constexpr uint32_t kWarmBuffers = 8;

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

}  // namespace

BufferPool::BufferPool(std::byte* base, uint32_t count, uint32_t bytes_each)
    : base_(base), bytes_each_(bytes_each), available_(count), free_(new uint32_t[count]) {
  for (uint32_t i = 0; i < count; ++i) free_[i] = count - 1 - i;
}

Sender::Sender(const SenderParts& parts)
    : next_(parts.lines),
      base_(parts.lines),
      bell_(parts.bell),
      seq_(first_sequence(parts.generation)),
      mask_(parts.line_count - 1),
      held_(new uint32_t[parts.share]),
      parts_(parts) {
  const size_t following = parts.line_count / 2 - 1;
  frame_limit_ = static_cast<uint32_t>(std::min(kMostFrameBytes, kFirstWithWord + following * kMorePayload));
}

// room_ is 0 until the first send, so that it comes here and the receiver learns of this ring.
void Sender::open() {
  open_ = true;
  room_ = parts_.line_count;
  __atomic_store_n(parts_.opened, uint8_t{region::kOpened}, __ATOMIC_RELEASE);
  const uint64_t bit = uint64_t{1} << (parts_.own_section % 64);
  __atomic_fetch_or(parts_.receiver_hints + parts_.own_section / 64, bit, __ATOMIC_SEQ_CST);
}

// Reads the receiver's credit only if the cached value says no.
bool Sender::have_room(uint32_t lines) {
  if (room_ >= lines) return true;
  if (failure_) return false;
  if (!open_) {
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

void Sender::refresh_buffers() {
  // SYNC POINT CREDIT (acquire), for bulk buffers.
  const uint64_t credit = __atomic_load_n(&parts_.credit->buffers, __ATOMIC_ACQUIRE);
  if (credit - buffers_back_ > buffers_taken_ - buffers_back_)
    return close("its credit counts buffers that were never sent");
  for (; buffers_back_ != credit; ++buffers_back_) parts_.pool->give(held_[buffers_back_ % parts_.share]);
}

// Reads the receiver's credit, a miss, not for every message; but long before the share is used up: buffers
// that come back early are still in the cache.
bool Sender::have_buffers(uint32_t count) {
  if (buffers_taken_ - buffers_back_ + count > std::min(parts_.share, kWarmBuffers)) refresh_buffers();
  return !failure_ && buffers_taken_ - buffers_back_ + count <= parts_.share;
}

Answer Sender::send_slowly(const Envelope& envelope, const void* data, size_t bytes) {
  if (failure_ || bytes > parts_.largest) return Answer::kFailed;
  const auto* from = static_cast<const std::byte*>(data);
  const Answer answer =
      bytes <= frame_limit_ ? send_frame(envelope, from, bytes) : send_bulk(envelope, from, bytes);
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

// A line per buffer. Lines are published in batches: the receiver empties one batch while we fill the next.
// Every handing over costs as much as the copy of some KiB, so a batch is long.
Answer Sender::send_bulk(const Envelope& envelope, const std::byte* data, size_t bytes) {
  const size_t each = parts_.pool->bytes_each();
  const auto pieces = static_cast<uint32_t>((bytes + each - 1) / each);
  if (!have_room(pieces) || !have_buffers(pieces)) return Answer::kRetry;

  for (size_t done = 0; done < bytes;) {
    const size_t batch = std::min(bytes - done, std::max(each, kBatchBytes / each * each));
    const uint64_t first = buffers_taken_;
    for (size_t filled = 0; filled < batch; filled += each) {
      const uint32_t buffer = parts_.pool->take();
      held_[buffers_taken_++ % parts_.share] = buffer;
      std::memcpy(parts_.pool->at(buffer), data + done + filled, std::min(batch - filled, each));
    }
    for (uint64_t taken = first; taken != buffers_taken_; ++taken) {
      const uint32_t buffer = held_[taken % parts_.share];
      if (done == 0 && taken == first) {
        publish_bulk(envelope, bytes, buffer);
      } else {
        std::memcpy(next_->payload, &buffer, sizeof buffer);
        publish_more(next_, make_control(0, Form::kMoreBulk, 0, seq_));
        advance(1);
      }
    }
    done += batch;
  }
  return Answer::kDone;
}

void Sender::publish_bulk(const Envelope& envelope, size_t bytes, uint32_t buffer) {
  const BulkFirst first{static_cast<uint32_t>(bytes), envelope.word, buffer};
  std::memcpy(next_->payload, &first, sizeof first);
  publish(next_, address_of(envelope), make_control(kind_and_flags(envelope), Form::kBulk, 0, seq_));
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
