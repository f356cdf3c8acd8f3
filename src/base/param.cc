// SPDX-License-Identifier: BSD-3-Clause
// The list of parameters, their parsing, and the search for misspelt names.
#include "base/param.h"

#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <cstring>

#include "base/log.h"

extern char** environ;

namespace vicinity::base {
namespace {

ParamBase* first_param = nullptr;  // constant-initialised: params of any file may link in before main

// 64K -> 65536. Returns false when `text` is not a number with an optional unit.
bool parse_size(const char* text, int64_t& out) {
  char* end = nullptr;
  long long number = std::strtoll(text, &end, 0);
  if (end == text) return false;
  int shift = 0;
  switch (*end) {
    case 'k': case 'K': shift = 10; ++end; break;
    case 'm': case 'M': shift = 20; ++end; break;
    case 'g': case 'G': shift = 30; ++end; break;
    default: break;
  }
  if (*end != '\0' || number > (INT64_MAX >> shift) || number < (INT64_MIN >> shift)) return false;
  out = number * (int64_t{1} << shift);
  return true;
}

bool parse_bool(const char* text, bool& out) {
  for (const char* yes : {"1", "yes", "on", "true"})
    if (strcasecmp(text, yes) == 0) return out = true, true;
  for (const char* no : {"0", "no", "off", "false"})
    if (strcasecmp(text, no) == 0) return out = false, true;
  return false;
}

bool is_choice(const char* choices, const char* value) {
  const size_t length = std::strlen(value);
  for (const char* at = choices; at && *at;) {
    const char* bar = std::strchr(at, '|');
    const size_t width = bar ? static_cast<size_t>(bar - at) : std::strlen(at);
    if (width == length && std::strncmp(at, value, width) == 0) return true;
    at = bar ? bar + 1 : nullptr;
  }
  return false;
}

size_t edit_distance(const char* a, const char* b) {
  const size_t n = std::strlen(b);
  std::string row(n + 1, '\0');
  for (size_t j = 0; j <= n; ++j) row[j] = static_cast<char>(std::min<size_t>(j, 100));
  for (size_t i = 1; a[i - 1]; ++i) {
    char diagonal = row[0];
    row[0] = static_cast<char>(std::min<size_t>(i, 100));
    for (size_t j = 1; j <= n; ++j) {
      const char above = row[j];
      const char best = static_cast<char>(std::min(above, row[j - 1]) + 1);
      row[j] = std::min<char>(best, static_cast<char>(diagonal + (a[i - 1] != b[j - 1])));
      diagonal = above;
    }
  }
  return static_cast<size_t>(row[n]);
}

void warn_unknown(const std::string& name) {
  const ParamBase* nearest = nullptr;
  size_t best = 6;
  for (ParamBase* param = first_param; param; param = param->next) {
    const size_t distance = edit_distance(name.c_str(), param->name);
    if (distance < best) best = distance, nearest = param;
  }
  if (nearest)
    VICINITY_LOG(kWarn, "%s is not a parameter; did you mean %s?", name.c_str(), nearest->name);
  else
    VICINITY_LOG(kWarn, "%s is not a parameter; `vicinity params` lists them", name.c_str());
}

}  // namespace

ParamBase::ParamBase(const char* name, const char* room, ParamType type, const char* text,
                     const char* alias)
    : name(name), room(room), type(type), text(text), alias(alias), next(first_param) {
  first_param = this;
}

Status Param<int64_t>::set(int64_t value) {
  if (value < least_ || value > most_)
    return fail(kArgument, "%s=%" PRId64 " is out of range; allowed: %" PRId64 " to %" PRId64, name,
                value, least_, most_);
  value_ = value;
  return kOk;
}

Status Param<int64_t>::parse(const char* value, const char* from) {
  int64_t number = 0;
  if (!parse_size(value, number))
    return fail(kArgument, "%s=%s is not a number (a unit K, M or G may follow)", from, value);
  return set(number);
}
std::string Param<int64_t>::value_text() const { return std::to_string(value_); }
std::string Param<int64_t>::default_text() const { return std::to_string(default_); }

Status Param<bool>::parse(const char* value, const char* from) {
  if (!parse_bool(value, value_))
    return fail(kArgument, "%s=%s is neither yes nor no; allowed: 1/0, yes/no, on/off, true/false", from,
                value);
  return kOk;
}
std::string Param<bool>::value_text() const { return value_ ? "yes" : "no"; }
std::string Param<bool>::default_text() const { return default_ ? "yes" : "no"; }

Status Param<std::string>::parse(const char* value, const char* from) {
  if (choices_ && !is_choice(choices_, value))
    return fail(kArgument, "%s=%s is not known; allowed: %s", from, value, choices_);
  value_ = value;
  return kOk;
}
std::string Param<std::string>::value_text() const { return value_; }
std::string Param<std::string>::default_text() const { return default_; }

Status params_load(Unknown unknown) {
  for (ParamBase* param = first_param; param; param = param->next) {
    const char* from = param->name;
    const char* value = std::getenv(from);
    if (!value && param->alias) value = std::getenv(from = param->alias);
    param->was_set = value != nullptr;
    if (value) VICINITY_TRY(param->parse(value, from));
  }
  log_as_told();
  for (char** entry = environ; unknown == Unknown::kWarn && entry && *entry; ++entry) {
    if (std::strncmp(*entry, "VICINITY_", 9) != 0) continue;
    const char* equals = std::strchr(*entry, '=');
    const std::string name(*entry, equals ? static_cast<size_t>(equals - *entry) : std::strlen(*entry));
    if (!params_find(name.c_str())) warn_unknown(name);
  }
  return kOk;
}

ParamBase* params_first() { return first_param; }

ParamBase* params_find(const char* name) {
  for (ParamBase* param = first_param; param; param = param->next)
    if (std::strcmp(param->name, name) == 0) return param;
  return nullptr;
}

}  // namespace vicinity::base
