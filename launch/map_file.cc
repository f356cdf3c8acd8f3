// SPDX-License-Identifier: BSD-3-Clause
// Strict: a row that is not exactly as described is refused.
#include "launch/map_file.h"

#include <charconv>

namespace vicinity::launch {
namespace {

using base::fail;
using base::kOther;
using base::Result;

// Takes words and named values from the front of a line; ok stays false after a mistake.
struct Line {
  std::string_view left;
  bool ok = true;

  std::string_view word() {
    const size_t end = left.find(' ');
    const std::string_view out = left.substr(0, end);
    left.remove_prefix(end == left.npos ? left.size() : end + 1);
    if (out.empty()) ok = false;
    return out;
  }
  void expect(std::string_view name) {
    if (word() != name) ok = false;
  }
  template <class Number>
  void number(Number& out) {
    const std::string_view text = word();
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || at != text.data() + text.size()) ok = false;
  }
  std::string rest() {
    const std::string out(left);
    left = {};
    return out;
  }
};

std::string_view next_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return line;
}

MapPeer parse_peer(Line& line) {
  MapPeer peer;
  line.expect("peer"), line.number(peer.peer);
  line.expect("host"), peer.host = line.word();
  line.expect("channel"), peer.channel = line.word();
  line.expect("copies"), line.number(peer.copies);
  line.expect("sent"), line.number(peer.messages_sent), line.number(peer.bytes_sent);
  line.expect("received"), line.number(peer.messages_received), line.number(peer.bytes_received);
  line.expect("reason"), peer.reason = line.rest();
  return peer;
}

}  // namespace

Result<MapRow> parse_map(std::string_view text) {
  if (next_line(text) != "vicinity-map 1") return fail(kOther, "this is not a map of version 1");
  MapRow row;
  Line job{next_line(text)};
  job.expect("job"), row.job = job.rest();
  Line who{next_line(text)};
  who.expect("rank"), who.number(row.rank);
  who.expect("size"), who.number(row.size);
  who.expect("pid"), who.number(row.pid);
  who.expect("host"), row.host = who.rest();
  if (!job.ok || !who.ok || row.rank < 0 || row.rank >= row.size)
    return fail(kOther, "the head of the map is damaged");
  for (int number = 4; !text.empty(); ++number) {
    Line line{next_line(text)};
    row.peers.push_back(parse_peer(line));
    if (!line.ok || row.peers.back().peer < 0 || row.peers.back().peer >= row.size)
      return fail(kOther, "line %d of the map is damaged", number);
  }
  return row;
}

}  // namespace vicinity::launch
