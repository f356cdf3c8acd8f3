// SPDX-License-Identifier: BSD-3-Clause
// Strict decoding: what encode_text() cannot have made is refused.
#include "wireup/codec.h"

#include <algorithm>
#include <cstdint>

#include "wireup/pmi_text.h"

namespace vicinity::wireup {
namespace {

using base::fail;
using base::kArgument;
using base::kOther;
using base::Result;

constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int letter_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '-') return 62;
  return c == '_' ? 63 : -1;
}

}  // namespace

std::string encode_text(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  uint32_t bits = 0;
  int held = 0;
  for (char byte : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(byte);
    for (held += 8; held >= 6; held -= 6) text += kLetters[(bits >> (held - 6)) & 63];
  }
  if (held > 0) text += kLetters[(bits << (6 - held)) & 63];
  return text;
}

Result<std::string> decode_text(std::string_view text) {
  if (text.size() % 4 == 1) return fail(kOther, "an encoded value of %zu letters is cut short", text.size());
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  uint32_t bits = 0;
  int held = 0;
  for (char c : text) {
    const int value = letter_value(c);
    if (value < 0) return fail(kOther, "an encoded value has the foreign character %d", c);
    bits = (bits << 6) | static_cast<uint32_t>(value);
    held += 6;
    if (held >= 8) bytes += static_cast<char>((bits >> (held -= 8)) & 255);
  }
  if (bits & ((1u << held) - 1)) return fail(kOther, "an encoded value ends with stray bits");
  return bytes;
}

Result<std::vector<std::string>> split_value(std::string_view bytes, size_t part_max) {
  constexpr size_t kHeader = 5;  // "4096."
  if (part_max <= kHeader) return fail(kOther, "the launcher's longest value, %zu, is too short", part_max);
  const std::string text = encode_text(bytes);
  const size_t room = part_max - kHeader;
  const size_t parts = std::max<size_t>(1, (text.size() + room - 1) / room);
  if (parts > kPartsLimit)
    return fail(kArgument, "a value of %zu bytes is too long for the launcher; the limit is %zu",
                bytes.size(), kPartsLimit * room * 3 / 4);
  std::vector<std::string> out;
  for (size_t i = 0; i < parts; ++i) out.push_back(text.substr(std::min(text.size(), i * room), room));
  out[0] = std::to_string(parts) + "." + out[0];
  return out;
}

Result<FirstPart> parse_first_part(std::string_view part) {
  const size_t dot = part.find('.');
  if (dot == part.npos) return fail(kOther, "a value from the launcher lacks its number of parts");
  Result<int> parts = parse_number(part.substr(0, dot));
  if (!parts.ok()) return parts.status();
  if (*parts < 1 || static_cast<size_t>(*parts) > kPartsLimit)
    return fail(kOther, "a value from the launcher claims %d parts", *parts);
  return FirstPart{static_cast<size_t>(*parts), part.substr(dot + 1)};
}

Result<std::string> part_key(int rank, std::string_view key, size_t part, size_t key_max) {
  std::string name = "v" + std::to_string(rank) + "." + std::string(key);
  if (part > 0) name += "." + std::to_string(part);
  for (char c : key)
    if (letter_value(c) < 0)
      return fail(kArgument, "key `%s` has a character that PMI cannot carry", name.c_str());
  if (key.empty() || name.size() > key_max)
    return fail(kArgument, "key `%s` is empty or too long; the launcher allows %zu characters", name.c_str(),
                key_max);
  return name;
}

std::string format_ranks(const std::set<int>& ranks) {
  std::string text;
  for (auto at = ranks.begin(); at != ranks.end();) {
    const int first = *at;
    int last = first;
    while (++at != ranks.end() && *at == last + 1) last = *at;
    text += (text.empty() ? "" : ",") + std::to_string(first);
    if (last > first) text += "-" + std::to_string(last);
  }
  return text;
}

Result<std::vector<int>> parse_ranks(std::string_view text, int size) {
  std::vector<int> ranks;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    const std::string_view part = text.substr(start, end - start);
    const size_t dash = part.find('-');
    auto first = parse_number(part.substr(0, dash));
    auto last = dash == part.npos ? first : parse_number(part.substr(dash + 1));
    if (!first.ok()) return first.status();
    if (!last.ok()) return last.status();
    if (*first < 0 || *last < *first || *last >= size)
      return fail(kOther, "a list of ranks names %d to %d, of %d", *first, *last, size);
    for (int rank = *first; rank <= *last; ++rank) ranks.push_back(rank);
    start = end + 1;
  }
  return ranks;
}

}  // namespace vicinity::wireup
