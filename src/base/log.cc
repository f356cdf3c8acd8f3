// SPDX-License-Identifier: BSD-3-Clause
// Writes each line with one write(2), so that lines of several ranks never mix.
#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/param.h"

namespace vicinity::base {
namespace {

constexpr const char* kLevels[] = {"error", "warn", "info", "debug"};

Param<std::string> level{"VICINITY_LOG", "base", "warn", "error|warn|info|debug",
                         "How much is said on stderr: info tells why a channel was chosen or given up."};
[[maybe_unused]] const bool changeable = (level.changed = log_as_told, true);

int log_rank = -1;
char log_host[64] = "";

}  // namespace

LogLevel log_level = LogLevel::kWarn;

void log_as_told() {
  for (int i = 0; i < 4; ++i)
    if (level.get() == kLevels[i]) log_level = static_cast<LogLevel>(i);
}

void log_open(int rank, const char* host) {
  log_rank = rank;
  std::snprintf(log_host, sizeof log_host, "%s", host);
}

void log_line(LogLevel, const char* format, ...) {
  char line[1024];
  int used = log_rank < 0 ? std::snprintf(line, sizeof line, "[vicinity] ")
                          : std::snprintf(line, sizeof line, "[vicinity %d@%s] ", log_rank, log_host);
  va_list args;
  va_start(args, format);
  used += std::vsnprintf(line + used, sizeof line - static_cast<size_t>(used) - 1, format, args);
  va_end(args);
  size_t length = std::min(static_cast<size_t>(used), sizeof line - 2);
  line[length++] = '\n';
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line, length);
}

}  // namespace vicinity::base
