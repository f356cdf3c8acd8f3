// SPDX-License-Identifier: BSD-3-Clause
// Parsers and writers; the fuzzer test/fuzz/fuzz_pmi.cc drives them.
#include "wireup/pmi_text.h"

#include <charconv>
#include <cstdio>

namespace vicinity::wireup {
namespace {

using base::fail;
using base::kOther;
using base::Result;
using base::Status;

// Text from the other side as it may be shown to people: short, no control characters.
std::string shown(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, 40)) out += (c >= ' ' && c < 127) ? c : '?';
  if (text.size() > 40) out += "...";
  return out;
}

Status add_field(Message& message, std::string_view key, std::string_view value) {
  if (key.empty())
    return fail(kOther, "PMI message has a field without a name before `=%s`", shown(value).c_str());
  if (message.fields.size() == kFieldLimit)
    return fail(kOther, "PMI message has more than %zu fields", kFieldLimit);
  message.fields.push_back({std::string(key), std::string(value)});
  return base::kOk;
}

Status check_line(std::string_view line) {
  if (line.size() > kTextLimit)
    return fail(kOther, "PMI line of %zu bytes is too long; the limit is %zu", line.size(), kTextLimit);
  for (char c : line)
    if (c == '\0' || c == '\n') return fail(kOther, "PMI line has a byte %d inside", c);
  return base::kOk;
}

// Which characters a text may hold so that the other end reads the same fields again.
bool fits(std::string_view text, bool spaces) {
  for (char c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 127 || (c == ' ' && !spaces)) return false;
  return true;
}

// As PMI-2 writes a value: each semicolon twice.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) out.append(c == ';' ? 2 : 1, c);
  return out;
}

}  // namespace

const std::string* Message::find(std::string_view key) const {
  for (const Field& field : fields)
    if (field.key == key) return &field.value;
  return nullptr;
}

Result<Message> parse_pmi1(std::string_view line) {
  VICINITY_TRY(check_line(line));
  Message message;
  bool first = true;
  while (!line.empty()) {
    const size_t space = line.find(' ');
    const std::string_view word = line.substr(0, space);
    line.remove_prefix(space == line.npos ? line.size() : space + 1);
    if (word.empty()) continue;
    const size_t equals = word.find('=');
    if (first) {
      const std::string_view key = word.substr(0, equals);
      if (equals == word.npos || (key != "cmd" && key != "mcmd") || equals + 1 == word.size())
        return fail(kOther, "PMI line does not start with cmd=: `%s`", shown(word).c_str());
      message.command = word.substr(equals + 1);
      first = false;
    } else if (equals != word.npos) {
      VICINITY_TRY(add_field(message, word.substr(0, equals), word.substr(equals + 1)));
    } else if (message.fields.empty()) {
      return fail(kOther, "PMI line has a word without `=`: `%s`", shown(word).c_str());
    } else {
      message.fields.back().value.append(" ").append(word);
    }
  }
  if (first) return fail(kOther, "PMI line is empty");
  return message;
}

Result<Message> parse_pmi2(std::string_view body) {
  if (body.size() > kTextLimit)
    return fail(kOther, "PMI-2 message of %zu bytes is too long; the limit is %zu", body.size(), kTextLimit);
  Message message;
  size_t at = 0;
  while (at < body.size()) {
    const size_t equals = body.find('=', at);
    if (equals == body.npos)
      return fail(kOther, "PMI-2 message ends inside of a field: `%s`", shown(body.substr(at)).c_str());
    const std::string_view key = body.substr(at, equals - at);
    if (key.find(';') != key.npos)
      return fail(kOther, "PMI-2 message has a field without `=`: `%s`", shown(key).c_str());
    std::string value;
    bool ended = false;
    for (at = equals + 1; at < body.size() && !ended; ++at) {
      if (body[at] != ';') {
        value += body[at];
      } else if (at + 1 < body.size() && body[at + 1] == ';') {
        value += ';', ++at;
      } else {
        ended = true;
      }
    }
    if (!ended) return fail(kOther, "PMI-2 field `%s` is not ended by a semicolon", shown(key).c_str());
    if (!message.command.empty()) {
      VICINITY_TRY(add_field(message, key, value));
    } else if (key == "cmd" && !value.empty()) {
      message.command = value;
    } else {
      return fail(kOther, "PMI-2 message does not start with cmd=: `%s`", shown(key).c_str());
    }
  }
  if (message.command.empty()) return fail(kOther, "PMI-2 message is empty");
  return message;
}

Result<size_t> parse_pmi2_length(std::string_view six) {
  // The client library of one launcher pads with spaces on the left, the others with zeros.
  const size_t start = six.find_first_not_of(' ');
  if (six.size() != kPmi2LengthBytes || start == six.npos)
    return fail(kOther, "PMI-2 length `%s` is not six digits", shown(six).c_str());
  size_t end = six.find_last_not_of(' ') + 1;
  size_t length = 0;
  for (char c : six.substr(start, end - start)) {
    if (c < '0' || c > '9') return fail(kOther, "PMI-2 length `%s` is not a number", shown(six).c_str());
    length = length * 10 + static_cast<size_t>(c - '0');
  }
  if (length > kTextLimit) return fail(kOther, "PMI-2 length %zu is above the limit %zu", length, kTextLimit);
  return length;
}

Result<std::string> format_pmi1(const Message& message) {
  std::string line = "cmd=" + message.command;
  for (const Field& field : message.fields) {
    if (!fits(field.key, false) || !fits(field.value, true))
      return fail(kOther, "PMI cannot carry the value of `%s`: it has control characters",
                  shown(field.key).c_str());
    line += " " + field.key + "=" + field.value;
  }
  line += '\n';
  if (line.size() > kTextLimit) return fail(kOther, "PMI line of %zu bytes is too long", line.size());
  return line;
}

Result<std::string> format_pmi2(const Message& message) {
  std::string body = "cmd=" + escaped(message.command) + ";";
  for (const Field& field : message.fields) {
    if (field.key.find(';') != std::string::npos || field.key.find('=') != std::string::npos)
      return fail(kOther, "PMI-2 cannot carry a field named `%s`", shown(field.key).c_str());
    body += field.key + "=" + escaped(field.value) + ";";
  }
  if (body.size() > kTextLimit) return fail(kOther, "PMI-2 message of %zu bytes is too long", body.size());
  char length[kPmi2LengthBytes + 1];
  std::snprintf(length, sizeof length, "%06u", static_cast<unsigned>(body.size()));
  return length + body;
}

Result<int> parse_number(std::string_view text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end || text.empty())
    return fail(kOther, "`%s` is not a number", shown(text).c_str());
  return number;
}

}  // namespace vicinity::wireup
