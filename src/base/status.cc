// SPDX-License-Identifier: BSD-3-Clause
// The words of the newest failure of each thread.
#include "base/status.h"

#include <cstdarg>
#include <cstdio>

namespace vicinity::base {
namespace {

struct Failure {
  int code = 0;
  char text[384] = "";
};
thread_local Failure newest;

}  // namespace

Status fail(int code, const char* format, ...) {
  newest.code = code;
  va_list args;
  va_start(args, format);
  std::vsnprintf(newest.text, sizeof newest.text, format, args);
  va_end(args);
  return Status(code);
}

const char* failure_text(int code) {
  return code != 0 && newest.code == code ? newest.text : "";
}

void forget_failure() { newest.code = 0; }

}  // namespace vicinity::base
