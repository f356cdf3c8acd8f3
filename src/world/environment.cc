// SPDX-License-Identifier: BSD-3-Clause
// MPI_INFO_ENV, the predefined attributes, and the hints that the library knows.
#include "world/environment.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "world/instance.h"

namespace vicinity::world {
namespace {

// Attribute values are handed out by address and must outlive their communicators.
struct Predefined {
  int tag_ub = object::kTagUpperBound;
  int io = MPI_ANY_SOURCE;
  int host = MPI_PROC_NULL;
  int wtime_is_global = 0;
  int appnum = 0;
  int universe_size = 0;
  int last_used_code = MPI_ERR_LASTCODE;
  bool has_appnum = false, has_universe_size = false;
} predefined;

// The command line of this process, words separated by NUL.
std::vector<std::string> own_command_line() {
  std::vector<std::string> words;
  FILE* file = std::fopen("/proc/self/cmdline", "re");
  if (!file) return words;
  char buffer[16384];
  const size_t length = std::fread(buffer, 1, sizeof buffer, file);
  std::fclose(file);
  for (size_t at = 0; at < length;) {
    words.emplace_back(buffer + at, strnlen(buffer + at, length - at));
    at += words.back().size() + 1;
  }
  return words;
}

void describe_place(object::Info& info) {
  info.set("host", this_host().c_str());
  utsname name;
  if (uname(&name) == 0) info.set("arch", name.machine);
  char directory[MPI_MAX_INFO_VAL];
  if (getcwd(directory, sizeof directory)) info.set("wdir", directory);
}

void describe_words(object::Info& info, const std::vector<std::string>& words) {
  if (words.empty()) return;
  info.set("command", words[0].substr(0, MPI_MAX_INFO_VAL - 1).c_str());
  std::string rest;
  for (size_t i = 1; i < words.size() && rest.size() < MPI_MAX_INFO_VAL; ++i) {
    if (i > 1) rest += ' ';
    rest += words[i];
  }
  rest.resize(rest.size() < MPI_MAX_INFO_VAL ? rest.size() : MPI_MAX_INFO_VAL - 1);
  if (!rest.empty()) info.set("argv", rest.c_str());
}

struct Hint {
  const char* key;
  bool truth;  // only "true" and "false" mean anything
};
constexpr Hint kHints[] = {
    {"mpi_assert_no_any_tag", true},
    {"mpi_assert_no_any_source", true},
    {"mpi_assert_exact_length", true},
    {"mpi_assert_allow_overtaking", true},
    {"mpi_assert_strict_start_ordering", true},
    {"mpi_assert_strict_persistent_collective_ordering", true},
    {"mpi_assert_memory_alloc_kinds", false},
};

}  // namespace

void describe_command(object::Info& info, int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = 0; argv && i < argc && argv[i]; ++i) words.emplace_back(argv[i]);
  describe_words(info, words.empty() ? own_command_line() : words);
  info.set("maxprocs", std::to_string(instance().identity.size).c_str());
  info.set("soft", std::to_string(instance().identity.size).c_str());
  describe_place(info);
  info.set(kMemoryKinds, kMemoryKindsHere);
}

void fill_environment_info() {
  object::Info& info = object::environment_info();
  if (info.pairs.empty()) describe_command(info, 0, nullptr);
}

const char* thread_level_name(int level) {
  switch (level) {
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    case MPI_THREAD_MULTIPLE:
      return "MPI_THREAD_MULTIPLE";
    default:
      return "MPI_THREAD_SINGLE";
  }
}

void set_predefined_attributes() {
  const wireup::Identity& identity = instance().identity;
  predefined.has_appnum = identity.appnum >= 0;
  predefined.appnum = identity.appnum;
  predefined.has_universe_size = identity.universe_size >= 0;
  predefined.universe_size = identity.universe_size;
}

bool predefined_attribute(int keyval, void** value, bool* found) {
  *found = true;
  switch (keyval) {
    case MPI_TAG_UB:
      *value = &predefined.tag_ub;
      return true;
    case MPI_IO:
      *value = &predefined.io;
      return true;
    case MPI_HOST:
      *value = &predefined.host;
      return true;
    case MPI_WTIME_IS_GLOBAL:
      *value = &predefined.wtime_is_global;
      return true;
    case MPI_APPNUM:
      *value = &predefined.appnum;
      *found = predefined.has_appnum;
      return true;
    case MPI_UNIVERSE_SIZE:
      *value = &predefined.universe_size;
      *found = predefined.has_universe_size;
      return true;
    case MPI_LASTUSEDCODE:
      predefined.last_used_code = object::last_used_code();
      *value = &predefined.last_used_code;
      return true;
    default:
      return false;
  }
}

void accept_hints(object::Info*& hints, const object::Info* given) {
  if (!given) return;
  for (const Hint& hint : kHints) {
    const std::string* value = given->find(hint.key);
    if (!value || (hint.truth && *value != "true" && *value != "false")) continue;
    if (!hints) hints = object::copy_info(nullptr);
    if (hints) hints->set(hint.key, value->c_str());
  }
}

object::Info* report_hints(const object::Info* hints) {
  object::Info* report = object::copy_info(hints);
  if (report) report->set(kMemoryKinds, kMemoryKindsHere);
  return report;
}

}  // namespace vicinity::world
