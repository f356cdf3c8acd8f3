// SPDX-License-Identifier: BSD-3-Clause
// Writing and reading of spawn requests.
#include "wireup/pmi_spawn.h"

#include <cstdint>
#include <utility>

#include "wireup/pmi_text.h"

namespace vicinity::wireup {
namespace {

using base::fail;
using base::kOther;
using base::Result;
using base::Status;

bool fits(std::string_view text) { return text.find_first_of(std::string_view("\n\0", 2)) == text.npos; }

void add(std::string& to, const std::string& key, const std::string& value) {
  to += key + "=" + value + "\n";
}

void add_pairs(std::string& to, const std::string& name, const Pairs& pairs) {
  add(to, name + "_num", std::to_string(pairs.size()));
  for (size_t i = 0; i < pairs.size(); ++i) {
    add(to, name + "_key_" + std::to_string(i), pairs[i].first);
    add(to, name + "_val_" + std::to_string(i), pairs[i].second);
  }
}

// The next key or value of a list that comes one by one.
Status extend(Pairs& pairs, bool is_key, std::string_view value) {
  if (is_key) {
    pairs.emplace_back(value, "");
  } else if (pairs.empty()) {
    return fail(kOther, "a spawn request has a value without a key");
  } else {
    pairs.back().second = value;
  }
  return base::kOk;
}

}  // namespace

// A port is longer than a key may be.
std::string spawn_failure_key(const std::string& port) {
  uint64_t hash = 14695981039346656037u;
  for (char c : port) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return "spawn-failure-" + std::to_string(hash);
}

Result<std::string> format_spawn(const SpawnCommand& command, size_t index, size_t count,
                                 const Pairs& preput) {
  for (const std::string& word : command.argv)
    if (!fits(word)) return fail(kOther, "an argument of `%.60s` has a line break", command.argv[0].c_str());
  for (const auto& [key, value] : command.info)
    if (!fits(key) || !fits(value))
      return fail(kOther, "the value of info key `%.60s` has a line break", key.c_str());
  std::string text = "mcmd=spawn\n";
  add(text, "nprocs", std::to_string(command.processes));
  add(text, "execname", command.argv[0]);
  add(text, "totspawns", std::to_string(count));
  add(text, "spawnssofar", std::to_string(index + 1));
  for (size_t i = 1; i < command.argv.size(); ++i) add(text, "arg" + std::to_string(i), command.argv[i]);
  add(text, "argcnt", std::to_string(command.argv.size() - 1));
  add_pairs(text, "preput", preput);
  add_pairs(text, "info", command.info);
  return text + "endcmd\n";
}

void SpawnReader::begin() {
  if (commands_.empty()) preput_.clear(), bytes_ = 0;
  inside_ = true;
  commands_.emplace_back();
  commands_.back().argv.emplace_back();
}

Result<bool> SpawnReader::line(std::string_view text) {
  bytes_ += text.size() + 1;
  if (bytes_ > kMostBytes) return fail(kOther, "sent a spawn request of more than %zu KiB", kMostBytes >> 10);
  if (text == "endcmd") {
    inside_ = false;
    return static_cast<int>(commands_.size()) >= total_;
  }
  const size_t equals = text.find('=');
  if (equals == text.npos) return fail(kOther, "sent a line without `=` in a spawn request");
  VICINITY_TRY(field(text.substr(0, equals), text.substr(equals + 1)));
  return false;
}

Status SpawnReader::field(std::string_view key, std::string_view value) {
  SpawnCommand& command = commands_.back();
  if (key == "nprocs" || key == "totspawns") {
    auto number = parse_number(value);
    if (!number.ok() || *number < 1 || *number > kMostProcesses)
      return fail(kOther, "asks in a spawn request for %.20s processes or commands",
                  std::string(value).c_str());
    (key == "nprocs" ? command.processes : total_) = *number;
  } else if (key == "execname") {
    command.argv[0] = value;
  } else if (key.starts_with("preput_key_") || key.starts_with("preput_val_")) {
    return extend(preput_, key[7] == 'k', value);
  } else if (key.starts_with("info_key_") || key.starts_with("info_val_")) {
    return extend(command.info, key[5] == 'k', value);
  } else if (key.starts_with("arg") && key != "argcnt") {
    command.argv.emplace_back(value);
  }
  return base::kOk;
}

std::vector<SpawnCommand> SpawnReader::take_commands() { return std::exchange(commands_, {}); }

}  // namespace vicinity::wireup
