// SPDX-License-Identifier: BSD-3-Clause
// Word by word, without regular expressions; the fuzzer test/fuzz/fuzz_hostfile.cc drives it.
#include "launch/hostfile.h"

#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>

namespace vicinity::launch {
namespace {

using base::fail;
using base::kArgument;
using base::Result;
using base::Status;

std::string shown(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, 60)) out += (c > ' ' && c < 127) ? c : '?';
  return out;
}

Result<int> parse_slots(std::string_view text) {
  int slots = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, slots);
  if (error != std::errc() || at != end || slots < 1 || slots > kSlotsLimit)
    return fail(kArgument, "`%s` is not a number of slots (1 to %d)", shown(text).c_str(), kSlotsLimit);
  return slots;
}

// A name that no launcher command can take for an option or a piece of shell.
Status check_name(std::string_view name) {
  bool good = !name.empty() && name.size() <= 255 && name[0] != '-';
  for (char c : name)
    good =
        good && (std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_' || c == '@');
  return good ? base::kOk : fail(kArgument, "`%s` is not a host name", shown(name).c_str());
}

Result<Host> parse_host(std::string_view text) {
  Host host;
  const size_t colon = text.find(':');
  host.name = text.substr(0, colon);
  VICINITY_TRY(check_name(host.name));
  if (colon == text.npos) return host;
  auto slots = parse_slots(text.substr(colon + 1));
  if (!slots.ok()) return slots.status();
  host.slots = *slots;
  host.slots_given = true;
  return host;
}

std::string_view next_word(std::string_view& line) {
  constexpr const char* kBlank = " \t\r\v\f";
  const size_t start = line.find_first_not_of(kBlank);
  if (start == line.npos) return line = {};
  line.remove_prefix(start);
  const std::string_view word = line.substr(0, line.find_first_of(kBlank));
  line.remove_prefix(word.size());
  return word;
}

Status read_setting(std::string_view word, Host& host) {
  const size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  if (equals == word.npos || (name != "slots" && name != "max-slots" && name != "max_slots"))
    return fail(kArgument, "`%s` is not known; allowed after the host: slots=N", shown(word).c_str());
  auto slots = parse_slots(word.substr(equals + 1));
  if (!slots.ok()) return slots.status();
  if (name == "slots") {
    if (host.slots_given)
      return fail(kArgument, "the slots of `%s` are given twice", shown(host.name).c_str());
    host.slots = *slots;
    host.slots_given = true;
  }
  return base::kOk;
}

Status parse_line(std::string_view line, std::vector<Host>& hosts) {
  line = line.substr(0, line.find('#'));
  const std::string_view first = next_word(line);
  if (first.empty()) return base::kOk;
  auto host = parse_host(first);
  if (!host.ok()) return host.status();
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line))
    VICINITY_TRY(read_setting(word, *host));
  add_host(hosts, *host);
  return base::kOk;
}

}  // namespace

void add_host(std::vector<Host>& hosts, const Host& host) {
  for (Host& known : hosts)
    if (known.name == host.name) {
      known.slots = std::min(known.slots + host.slots, kSlotsLimit);
      known.slots_given = true;
      return;
    }
  hosts.push_back(host);
}

Result<std::vector<Host>> parse_host_file(std::string_view text, std::string_view file_name) {
  std::vector<Host> hosts;
  const std::string file(file_name);
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    if (Status status = parse_line(text.substr(0, end), hosts); !status.ok()) {
      const std::string reason = base::failure_text(status.code());
      return fail(kArgument, "%s, line %d: %s", file.c_str(), number, reason.c_str());
    }
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  if (hosts.empty()) return fail(kArgument, "%s names no host", file.c_str());
  return hosts;
}

Result<std::vector<Host>> parse_host_list(std::string_view list) {
  std::vector<Host> hosts;
  while (true) {
    const size_t comma = list.find(',');
    auto host = parse_host(list.substr(0, comma));
    if (!host.ok()) return host.status();
    add_host(hosts, *host);
    if (comma == list.npos) return hosts;
    list.remove_prefix(comma + 1);
  }
}

Result<std::vector<Host>> read_host_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail(kArgument, "cannot read the host file `%s`: %s", path.c_str(), std::strerror(errno));
  std::string text(kHostFileLimit + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kHostFileLimit) return fail(kArgument, "host file `%s` is too long", path.c_str());
  return parse_host_file(text, path);
}

}  // namespace vicinity::launch
