// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a host file, a host list, and a command line.
#include <string_view>

#include "launch/hostfile.h"
#include "launch/options.h"
#include "launch/plan.h"
#include "standalone.h"

using namespace vicinity;

namespace {

void check(base::Result<std::vector<launch::Host>> hosts) {
  if (!hosts.ok()) return;
  if (hosts->empty()) std::abort();
  for (const launch::Host& host : *hosts)
    if (host.slots < 1 || host.slots > launch::kSlotsLimit || host.name.empty() || host.name[0] == '-')
      std::abort();
}

void options(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty() && words.size() < 64) {
    const size_t end = text.find_first_of(" \n");
    words.emplace_back(text.substr(0, end));
    // Files of this machine and huge jobs have no place here.
    if (words.back().find("file") != std::string::npos || words.back() == "-f" || words.back() == "--f")
      return;
    if (words.back().size() > 4 && std::isdigit(static_cast<unsigned char>(words.back()[0]))) return;
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  auto parsed = launch::parse_options(words);
  if (!parsed.ok() || parsed->help || parsed->version) return;
  int64_t slots = 0;
  for (const auto& segment : parsed->segments)
    for (const auto& host : segment.hosts) slots += host.slots;
  if (slots > 10000) return;
  auto plan = launch::make_plan(*parsed);
  if (plan.ok()) (void)launch::process_mapping(*plan);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(launch::parse_host_file(text, "fuzz"));
  check(launch::parse_host_list(text));
  options(text);
  return 0;
}

VICINITY_FUZZ_MAIN("nodeA:4\nnodeB slots=2 max-slots=3 # x\n\nnodeC\n", "a,b:2,c",
                   "-n 2 -host a:2,b -map-by node prog : -n 1 b",
                   "-genv A 1 -env B 2 -bind-to core -ppn 2 -stdin all x",
                   "-timeout 3 -l -x A=b -- -prog : -- y")
