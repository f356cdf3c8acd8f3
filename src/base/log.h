// SPDX-License-Identifier: BSD-3-Clause
// One line per event on stderr, with the rank in front: "[vicinity 3@nodeA] text".
// Levels: error, warn (default), info, debug; set by VICINITY_LOG. Never on a hot path.
#pragma once

namespace vicinity::base {

enum class LogLevel : int { kError, kWarn, kInfo, kDebug };

extern LogLevel log_level;  // read everywhere
void log_as_told();         // takes the level of VICINITY_LOG; params_load() calls it
void log_open(int rank, const char* host);  // names this process in later lines
void log_line(LogLevel level, const char* format, ...) __attribute__((format(printf, 2, 3), cold));

}  // namespace vicinity::base

#define VICINITY_LOG(level, ...)                                             \
  do {                                                                       \
    if (::vicinity::base::LogLevel::level <= ::vicinity::base::log_level)    \
      ::vicinity::base::log_line(::vicinity::base::LogLevel::level, __VA_ARGS__); \
  } while (0)
