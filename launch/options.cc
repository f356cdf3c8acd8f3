// SPDX-License-Identifier: BSD-3-Clause
// One table describes every option: names, argument, what it does, and how it is stored. --help prints it.
#include "launch/options.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "launch/topology.h"

namespace vicinity::launch {
namespace {

using base::fail;
using base::kArgument;
using base::Result;
using base::Status;

constexpr int kRanksLimit = 1000000;

// The words after an option, taken one by one.
struct Words {
  const std::vector<std::string>& all;
  size_t at = 0;
  bool empty() const { return at >= all.size(); }
};

struct State {
  Options options;
  Segment segment;  // being read
  EnvironmentOptions* target() { return &segment.environment; }
};

struct Option;
using Store = Status (*)(State&, const Option&, const std::string&);

struct Option {
  const char* names;     // without dashes, separated by '|'
  const char* argument;  // nullptr: none
  Store store;
  const char* text;  // nullptr: accepted for scripts of others, not shown
};

Result<int> number(const Option& option, const std::string& text, int least, int most) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value < least || value > most)
    return fail(kArgument, "-%.*s %s: a number from %d to %d is needed",
                static_cast<int>(std::strcspn(option.names, "|")), option.names, text.c_str(), least, most);
  return value;
}

Status store_ranks(State& state, const Option& option, const std::string& text) {
  auto value = number(option, text, 1, kRanksLimit);
  if (value.ok()) state.segment.ranks = *value;
  return value.status();
}

Status store_per_host(State& state, const Option& option, const std::string& text) {
  auto value = number(option, text, 1, kSlotsLimit);
  if (value.ok()) state.options.ranks_per_host = *value;
  return value.status();
}

Status store_universe(State& state, const Option& option, const std::string& text) {
  auto value = number(option, text, 1, kRanksLimit);
  if (value.ok()) state.options.universe_size = *value;
  return value.status();
}

Status store_hosts(State& state, Result<std::vector<Host>> hosts) {
  if (hosts.ok())
    for (const Host& host : *hosts) add_host(state.segment.hosts, host);
  return hosts.status();
}

Status store_host_list(State& state, const Option&, const std::string& text) {
  return store_hosts(state, parse_host_list(text));
}

Status store_host_file(State& state, const Option&, const std::string& text) {
  return store_hosts(state, read_host_file(text));
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  for (size_t start = 0; start <= list.size();) {
    const size_t end = std::min(list.find(',', start), list.size());
    if (end > start) out.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  return out;
}

Status store_pass(EnvironmentOptions& target, Pass pass, const std::string& list = "") {
  target.chosen = true;
  target.pass = pass;
  target.listed = split(list);
  return base::kOk;
}

// -env and -genv arrive here as "NAME=VALUE", whichever way they were written.
Status store_setting(EnvironmentOptions& target, const std::string& text) {
  if (text.empty() || text[0] == '=') return fail(kArgument, "`%s` does not name a variable", text.c_str());
  target.settings.push_back(text);
  return base::kOk;
}

Status store_stdin(State& state, const Option& option, const std::string& text) {
  if (text == "all") return state.options.stdin_rank = kStdinAll, base::kOk;
  if (text == "none") return state.options.stdin_rank = kStdinNone, base::kOk;
  auto value = number(option, text, 0, kRanksLimit);
  if (value.ok()) state.options.stdin_rank = *value;
  return value.status();
}

Status store_timeout(State& state, const Option&, const std::string& text) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !(seconds > 0 && seconds < 1e9))
    return fail(kArgument, "-timeout %s: a number of seconds is needed", text.c_str());
  state.options.timeout_s = seconds;
  return base::kOk;
}

Status store_bind(State& state, const Option& option, const std::string& text) {
  auto unit = parse_unit(text, "-bind-to");
  (void)option;
  if (unit.ok()) state.options.bind_to = text;
  return unit.status();
}

Status store_map(State& state, const Option&, const std::string& text) {
  // "slot" fills up host by host and "node" deals ranks out to the hosts; the others are within a host.
  if (text != "slot" && text != "node") {
    auto unit = parse_unit(text, "-map-by");
    if (!unit.ok())
      return fail(kArgument,
                  "-map-by %s is not known; allowed: slot, node, hwthread, core, l3, numa, "
                  "socket",
                  text.c_str());
  }
  state.options.map_by = text;
  return base::kOk;
}

Status store_launcher(State& state, const Option&, const std::string& text) {
  if (text.empty()) return fail(kArgument, "-launcher needs a command");
  state.options.launcher = text;
  return base::kOk;
}

const Option kOptions[] = {
    {"n|np", "N", store_ranks, "start N processes of the program that follows"},
    {"host|hosts|H", "A,B:4", store_host_list, "run on these hosts; after a colon: slots"},
    {"hostfile|f|machinefile", "FILE", store_host_file,
     "run on the hosts of FILE (`host[:slots]` or `host slots=N`)"},
    {"ppn|perhost|npernode", "N", store_per_host, "N processes on each host in turn"},
    {"env", "NAME VALUE",
     [](State& s, const Option&, const std::string& t) { return store_setting(s.segment.environment, t); },
     "set a variable for this program"},
    {"genv", "NAME VALUE",
     [](State& s, const Option&, const std::string& t) { return store_setting(s.options.environment, t); },
     "set a variable for all programs"},
    {"x", "NAME[=VALUE]",
     [](State& s, const Option&, const std::string& t) { return store_setting(s.options.environment, t); },
     "set, or pass on, a variable for all programs"},
    {"envall", nullptr,
     [](State& s, const Option&, const std::string&) {
       return store_pass(s.segment.environment, Pass::kAll);
     },
     "pass the whole environment on to this program (default)"},
    {"envnone", nullptr,
     [](State& s, const Option&, const std::string&) {
       return store_pass(s.segment.environment, Pass::kNone);
     },
     "pass nothing on to this program"},
    {"envlist", "A,B",
     [](State& s, const Option&, const std::string& t) {
       return store_pass(s.segment.environment, Pass::kListed, t);
     },
     "pass only these variables on to this program"},
    {"genvall", nullptr,
     [](State& s, const Option&, const std::string&) {
       return store_pass(s.options.environment, Pass::kAll);
     },
     "as -envall, for all programs"},
    {"genvnone", nullptr,
     [](State& s, const Option&, const std::string&) {
       return store_pass(s.options.environment, Pass::kNone);
     },
     "as -envnone, for all programs"},
    {"genvlist", "A,B",
     [](State& s, const Option&, const std::string& t) {
       return store_pass(s.options.environment, Pass::kListed, t);
     },
     "as -envlist, for all programs"},
    {"wdir|wd|cwd", "FOLDER",
     [](State& s, const Option&, const std::string& t) { return s.segment.directory = t, base::kOk; },
     "start the program in FOLDER"},
    {"path", "A:B",
     [](State& s, const Option&, const std::string& t) { return s.segment.path = t, base::kOk; },
     "look for the program in these folders first"},
    {"bind-to", "UNIT", store_bind,
     "bind each process to a core, hwthread, l3, numa, socket, or none (default: core, "
     "when there are as many free cores as processes, or all are free and get the same number of processes)"},
    {"map-by", "UNIT", store_map,
     "spread processes over core, l3, numa, socket of a host, or over hosts (node)"},
    {"s|stdin", "N|all|none", store_stdin, "which process reads our standard input (default 0)"},
    {"l|prepend-rank|tag-output", nullptr,
     [](State& s, const Option&, const std::string&) { return s.options.label = true, base::kOk; },
     "put the rank in front of each line of output"},
    {"o|outfile-pattern", "FILE",
     [](State& s, const Option&, const std::string& t) { return s.options.output_pattern = t, base::kOk; },
     "write each process's output to FILE, where %r is the rank (without %r: FILE.rank)"},
    {"errfile-pattern", "FILE",
     [](State& s, const Option&, const std::string& t) { return s.options.error_pattern = t, base::kOk; },
     "the same for standard error"},
    {"timeout", "SECONDS", store_timeout, "end the job after so long; the exit code is then 124"},
    {"enable-recovery|disable-auto-cleanup", nullptr,
     [](State& s, const Option&, const std::string&) { return s.options.recovery = true, base::kOk; },
     "let the job go on when a process dies after MPI_Init (docs/design/fault-tolerance.md)"},
    {"launcher|launcher-exec|rsh", "COMMAND", store_launcher,
     "how to reach other hosts: ssh (default), srun, or a command "
     "that is called as `COMMAND host program arguments...`"},
    {"usize", "N", store_universe, "value of MPI_UNIVERSE_SIZE (default: all slots)"},
    {"v|verbose", nullptr,
     [](State& s, const Option&, const std::string&) { return s.options.verbose = true, base::kOk; },
     "tell what is being done"},
    {"V|version", nullptr,
     [](State& s, const Option&, const std::string&) { return s.options.version = true, base::kOk; },
     "print the version"},
    {"h|help", nullptr,
     [](State& s, const Option&, const std::string&) { return s.options.help = true, base::kOk; },
     "print this text"},
    {"oversubscribe|allow-run-as-root", nullptr,
     [](State&, const Option&, const std::string&) { return base::kOk; }, nullptr},
};

bool has_name(const Option& option, std::string_view name) {
  for (std::string_view names = option.names; !names.empty();) {
    const size_t bar = names.find('|');
    if (names.substr(0, bar) == name) return true;
    names.remove_prefix(bar == names.npos ? names.size() : bar + 1);
  }
  return false;
}

const Option* find_option(const std::string& word) {
  const std::string_view name = std::string_view(word).substr(word.starts_with("--") ? 2 : 1);
  for (const Option& option : kOptions)
    if (has_name(option, name)) return &option;
  return nullptr;
}

Status read_option(State& state, Words& words) {
  const std::string word = words.all[words.at++];
  const Option* option = find_option(word);
  if (!option) return fail(kArgument, "option `%s` is not known; see mpiexec --help", word.c_str());
  if (!option->argument) return option->store(state, *option, "");
  if (words.empty())
    return fail(kArgument, "option `%s` needs an argument: %s", word.c_str(), option->argument);
  std::string argument = words.all[words.at++];
  if (std::strchr(option->argument, ' ') && argument.find('=') == std::string::npos) {
    if (words.empty())
      return fail(kArgument, "option `%s %s` needs a value too", word.c_str(), argument.c_str());
    argument += "=" + words.all[words.at++];
  }
  return option->store(state, *option, argument);
}

// Options, then a program and its arguments up to a lone `:`.
Status read_segment(State& state, Words& words) {
  state.segment = Segment{};
  while (!words.empty() && words.all[words.at].size() > 1 && words.all[words.at][0] == '-') {
    if (words.all[words.at] == "--") {
      ++words.at;
      break;
    }
    VICINITY_TRY(read_option(state, words));
    if (state.options.help || state.options.version) return base::kOk;
  }
  while (!words.empty() && words.all[words.at] != ":") state.segment.argv.push_back(words.all[words.at++]);
  if (state.segment.argv.empty() || state.segment.argv[0].empty())
    return fail(kArgument, "no program is named%s; see mpiexec --help",
                state.options.segments.empty() ? "" : " after `:`");
  state.options.segments.push_back(std::move(state.segment));
  return base::kOk;
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& words) {
  State state;
  Words left{words};
  do {
    VICINITY_TRY(read_segment(state, left));
    if (state.options.help || state.options.version) return state.options;
  } while (!left.empty() && ++left.at <= left.all.size());
  return state.options;
}

std::string help_text() {
  std::string text =
      "mpiexec starts a parallel job.\n\n"
      "  mpiexec [options] program [arguments] [: [options] program [arguments]]...\n\n"
      "Options (one or two dashes):\n";
  for (const Option& option : kOptions) {
    if (!option.text) continue;
    std::string left = "  ";
    for (const char* c = option.names; *c; ++c) {
      if (c == option.names || c[-1] == '|') left += '-';
      left += *c == '|' ? std::string(", ") : std::string(1, *c);
    }
    if (option.argument) left += std::string(" ") + option.argument;
    text += left + "\n        " + option.text + "\n";
  }
  return text +
         "\nThe exit code is that of the first process that fails, 128 + N when signal N killed it.\n"
         "Ctrl-C is passed on; a second one kills. See mpiexec(1).\n";
}

}  // namespace vicinity::launch
