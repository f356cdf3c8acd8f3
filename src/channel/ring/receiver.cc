// SPDX-License-Identifier: BSD-3-Clause
// Reading lines: short messages, frames, bulk; and giving credit.
#include "channel/ring/receiver.h"

#include <algorithm>
#include <cstring>

#include "base/clock.h"

namespace vicinity::channel::ring {
namespace {

constexpr int kMostMessages = 32;  // of one ring in one pass, so that no peer starves the others
constexpr int kPatience = 128;     // looks at a line that must come soon, because its message has begun

Envelope envelope_of(uint64_t address, uint64_t control, uint32_t word) {
  const uint64_t parts[2] = {address, (control & 0xffff) | uint64_t{word} << 32};
  Envelope envelope;
  std::memcpy(&envelope, parts, sizeof envelope);
  return envelope;
}

uint64_t read_address(const Line* line) { return __atomic_load_n(&line->address, __ATOMIC_RELAXED); }

// One of the 32-bit words in the payload, loaded exactly once.
uint32_t read_word(const Line* line, size_t offset) {
  return __atomic_load_n(reinterpret_cast<const uint32_t*>(line->payload + offset), __ATOMIC_RELAXED);
}

}  // namespace

void Receiver::give_credit() {
  if (consumed_ == credited_) return;
  credited_ = consumed_;
  // SYNC POINT CREDIT (release): our reads of the lines come before.
  __atomic_store_n(&parts_.credit->lines, consumed_, __ATOMIC_RELEASE);
  feed();
}

// Wakes a sender that sleeps for want of what we just gave.
void Receiver::feed() {
  if (const uint32_t seen = parts_.bell.look(); seen == region::kHungry) [[unlikely]]
    parts_.bell.ring(seen);
}

void Receiver::begin(const Envelope& envelope, size_t bytes, State state, Sink& sink) {
  landing_ = sink.land(parts_.proc, envelope, bytes);
  total_ = bytes;
  done_ = 0;
  state_ = state;
}

void Receiver::put(const std::byte* data, size_t bytes) {
  if (done_ < landing_.room) {
    std::byte* to = static_cast<std::byte*>(landing_.where) + done_;
    const size_t fits = std::min(bytes, landing_.room - done_);
    if (fits == kMorePayload) {
      std::memcpy(to, data, kMorePayload);
    } else if (fits <= 64) {
      copy_small(to, data, fits);
    } else {
      std::memcpy(to, data, fits);
    }
  }
  done_ += bytes;
}

void Receiver::finish_if_whole(Sink& sink) {
  if (done_ < total_) return;
  state_ = State::kBetween;
  ++messages_;
  bytes_ += total_;
  sink.landed(landing_, total_);
}

bool Receiver::take_short(Watch& watch, uint64_t control, uint32_t word, size_t bytes, Sink& sink) {
  const Line* line = watch.next;
  const Landing landing = sink.land(parts_.proc, envelope_of(read_address(line), control, word), bytes);
  copy_small(landing.where, line->payload, std::min(bytes, landing.room));
  step(watch);
  ++messages_;
  bytes_ += bytes;
  sink.landed(landing, bytes);  // last: it may send, or look at us
  return true;
}

bool Receiver::take_first(Watch& watch, uint64_t control, Sink& sink) {
  const Line* line = watch.next;
  const size_t length = length_of(control);
  uint32_t word = 0;
  switch (form_of(control)) {
    case Form::kShort:
      if (length > kFirstPayload) return lie("a short line is longer than a line");
      return take_short(watch, control, 0, length, sink);
    case Form::kShortWithWord:
      if (length > kFirstWithWord) return lie("a short line with a word is longer than a line");
      return take_short(watch, control, read_word(line, kFirstWithWord), length, sink);
    case Form::kFrame:
      break;
    case Form::kFrameWithWord:
      word = read_word(line, kFirstWithWord);
      break;
    case Form::kBulk:
      return take_bulk(watch, control, sink);
    default:
      return lie("a line of unknown form where a message should begin");
  }
  begin(envelope_of(read_address(line), control, word), length, State::kInFrame, sink);
  put(line->payload, std::min(length, word ? kFirstWithWord : kFirstPayload));
  step(watch);
  finish_if_whole(sink);
  return true;
}

bool Receiver::take_bulk(Watch& watch, uint64_t control, Sink& sink) {
  const Line* line = watch.next;
  const uint32_t bytes = read_word(line, offsetof(BulkFirst, bytes));
  const uint32_t word = read_word(line, offsetof(BulkFirst, word));
  const uint32_t buffer = read_word(line, offsetof(BulkFirst, buffer));
  if (bytes == 0 || bytes > parts_.largest) return lie("a bulk message of impossible length");
  const uint32_t offset = read_word(line, offsetof(BulkFirst, offset));
  if (buffer >= parts_.buffers) return lie("a bulk message in a buffer that does not exist");
  if (offset != 0 && (offset >= parts_.buffer_bytes || bytes > parts_.buffer_bytes - offset))
    return lie("a bulk message that begins inside a buffer and ends outside");
  const uint32_t cuts = length_of(control);
  if (cuts == 0 || cuts > kMostPieces || parts_.buffer_bytes % (cuts * region::kLineBytes) != 0)
    return lie("a bulk message in an impossible number of pieces");
  piece_ = parts_.buffer_bytes / cuts;
  offset_ = offset;
  begin(envelope_of(read_address(line), control, word), bytes, State::kInBulk, sink);
  take_piece(buffer);
  step(watch);
  finish_if_whole(sink);
  return true;
}

// Copies the next piece out of a buffer, and tells so when the sender could use the buffer again.
void Receiver::take_piece(uint32_t buffer) {
  const size_t part = std::min<size_t>(total_ - done_, piece_);
  put(parts_.bulk + size_t{buffer} * parts_.buffer_bytes + (offset_ + done_) % parts_.buffer_bytes, part);
  ++pieces_;
  if (done_ < total_ && done_ % parts_.buffer_bytes != 0) return;
  // SYNC POINT CREDIT (release), for bulk buffers.
  __atomic_store_n(&parts_.credit->pieces, pieces_, __ATOMIC_RELEASE);
  feed();
}

bool Receiver::take_more(Watch& watch, uint64_t control, Sink& sink) {
  const Line* line = watch.next;
  if (state_ == State::kInFrame) {
    const size_t part = std::min(total_ - done_, kMorePayload);
    if (form_of(control) != Form::kMore || length_of(control) != part)
      return lie("a frame is interrupted by something else");
    put(line->payload, part);
  } else {
    const uint32_t buffer = read_word(line, 0);
    if (form_of(control) != Form::kMoreBulk || buffer >= parts_.buffers)
      return lie("a bulk message is interrupted by something else");
    take_piece(buffer);
  }
  step(watch);
  finish_if_whole(sink);
  return true;
}

int Receiver::receive(Watch& watch, uint64_t control, Sink& sink) {
  int events = 0;
  for (;;) {
    const bool good =
        state_ == State::kBetween ? take_first(watch, control, sink) : take_more(watch, control, sink);
    if (!good) return events;
    if (consumed_ - credited_ >= parts_.line_count / 4) give_credit();
    ++events;
    if (state_ == State::kBetween) {
      if (events >= kMostMessages || !watch.arrived(&control)) return events;
      continue;
    }
    int patience = kPatience;
    while (!watch.arrived(&control)) {
      if (--patience == 0) return events;
      base::cpu_relax();
    }
  }
}

}  // namespace vicinity::channel::ring
