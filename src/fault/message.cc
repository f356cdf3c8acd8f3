// SPDX-License-Identifier: BSD-3-Clause
// Bytes come from other processes: every length, position and order is checked.
#include "fault/message.h"

#include <cstring>

namespace vicinity::fault {
namespace {

struct Head {
  uint32_t call;
  uint32_t step;
  uint32_t ballot;
  uint32_t lock_ballot;
  uint8_t say;
  uint8_t locked;  // 1: a second value follows the first
  uint8_t spare[6];
};
static_assert(sizeof(Head) == 24 && offsetof(Head, say) == 16);

// Followed by `failed` positions of 4 bytes each.
struct Body {
  uint64_t most;
  uint64_t least;
  int32_t low;
  int32_t high;
  uint32_t unacknowledged;
  uint32_t failed;
};
static_assert(sizeof(Body) == 32 && offsetof(Body, failed) == 28);

void append(std::vector<std::byte>& out, const void* bytes, size_t length) {
  const auto* from = static_cast<const std::byte*>(bytes);
  out.insert(out.end(), from, from + length);
}

void append(std::vector<std::byte>& out, const Value& value) {
  const Body body{value.most, value.least,          value.low,
                  value.high, value.unacknowledged, static_cast<uint32_t>(value.failed.size())};
  append(out, &body, sizeof body);
  append(out, value.failed.data(), value.failed.size() * sizeof(uint32_t));
}

bool take(const std::byte*& at, size_t& left, void* to, size_t length) {
  if (left < length) return false;
  if (length) std::memcpy(to, at, length);
  at += length;
  left -= length;
  return true;
}

bool take(const std::byte*& at, size_t& left, uint32_t members, Value& value) {
  Body body;
  if (!take(at, left, &body, sizeof body) || body.failed >= members || body.unacknowledged > 1) return false;
  value = Value{body.low, body.high, body.most, body.least, body.unacknowledged != 0, {}};
  value.failed.resize(body.failed);
  if (!take(at, left, value.failed.data(), body.failed * sizeof(uint32_t))) return false;
  for (size_t i = 0; i < value.failed.size(); ++i)
    if (value.failed[i] >= members || (i > 0 && value.failed[i] <= value.failed[i - 1])) return false;
  return true;
}

}  // namespace

std::vector<std::byte> encode(const Name& name, const Message& m) {
  const Head head{name.call, name.step, m.ballot, m.lock_ballot, static_cast<uint8_t>(m.say), m.locked, {}};
  std::vector<std::byte> out;
  append(out, &head, sizeof head);
  append(out, m.value);
  if (m.locked) append(out, m.lock);
  return out;
}

bool decode(const std::byte* bytes, size_t length, uint32_t members, Name& name, Message& m) {
  Head head;
  if (!take(bytes, length, &head, sizeof head)) return false;
  if (head.say < static_cast<uint8_t>(Say::kContribute) || head.say > static_cast<uint8_t>(Say::kDecide))
    return false;
  if (head.locked > 1 || head.ballot >= members || head.lock_ballot >= members) return false;
  name = {head.call, head.step};
  m = Message{.say = static_cast<Say>(head.say),
              .ballot = head.ballot,
              .locked = head.locked != 0,
              .lock_ballot = head.lock_ballot};
  if (!take(bytes, length, members, m.value)) return false;
  if (m.locked && !take(bytes, length, members, m.lock)) return false;
  return length == 0;
}

}  // namespace vicinity::fault
