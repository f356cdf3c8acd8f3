// SPDX-License-Identifier: BSD-3-Clause
// Info objects (MPI 5.0, chapter 10). Keys and values count without their terminating null, and may be one
// shorter than MPI_MAX_INFO_KEY and MPI_MAX_INFO_VAL.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "entry_world.h"
#include "object/pool.h"
#include "world/environment.h"
#include "world/instance.h"

namespace vicinity::world {
namespace {

constexpr size_t kKeyRoom = MPI_MAX_INFO_KEY, kValueRoom = MPI_MAX_INFO_VAL;

Status check(const Info* info) { return info ? kOk : fail(MPI_ERR_INFO, "argument `info` is MPI_INFO_NULL"); }

Status check_writable(const Info* info) {
  VICINITY_TRY(check(info));
  return info->predefined() ? fail(MPI_ERR_INFO, "MPI_INFO_ENV cannot be changed") : kOk;
}

// MPI 5.0, chapter 10: leading and trailing blanks are stripped from keys and values in Fortran only.
Status check_key(const char* key) {
  if (!key || !*key) return fail(MPI_ERR_INFO_KEY, "argument `key` is empty");
  if (strnlen(key, kKeyRoom) >= kKeyRoom)
    return fail(MPI_ERR_INFO_KEY, "argument `key` is longer than %zu characters: %.40s...", kKeyRoom - 1,
                key);
  return kOk;
}

Result<Info*> no_memory_unless(Info* info) {
  if (!info) return fail(MPI_ERR_NO_MEM, "no memory for an info object");
  return info;
}

Status give(Info* made, Info** out) {
  Result<Info*> info = no_memory_unless(made);
  if (!info.ok()) return info.status();
  *out = *info;
  return kOk;
}

}  // namespace

namespace entry {

Status info_create(Info** info) { return give(object::copy_info(nullptr), info); }

Status info_create_env(int argc, char** argv, Info** info) {
  VICINITY_TRY(open());  // so that the answer is the same before and after MPI_Init
  VICINITY_TRY(give(object::copy_info(nullptr), info));
  describe_command(**info, argc, argv);
  return kOk;
}

Status info_dup(Info* info, Info** newinfo) {
  VICINITY_TRY(check(info));
  return give(object::copy_info(info), newinfo);
}

Status info_free(MPI_Info* info) {
  Info* object = object::lookup<Info>(*info);
  VICINITY_TRY(check_writable(object));
  object::release(object);
  *info = MPI_INFO_NULL;
  return kOk;
}

Status info_set(Info* info, const char* key, const char* value) {
  VICINITY_TRY(check_writable(info));
  VICINITY_TRY(check_key(key));
  if (!value) return fail(MPI_ERR_INFO_VALUE, "argument `value` is a null pointer");
  if (strnlen(value, kValueRoom) >= kValueRoom)
    return fail(MPI_ERR_INFO_VALUE, "argument `value` for key %s is longer than %zu characters", key,
                kValueRoom - 1);
  info->set(key, value);
  return kOk;
}

Status info_delete(Info* info, const char* key) {
  VICINITY_TRY(check_writable(info));
  VICINITY_TRY(check_key(key));
  return info->remove(key) ? kOk : fail(MPI_ERR_INFO_NOKEY, "the info object has no key %s", key);
}

Status info_get(Info* info, const char* key, int valuelen, char* value, int* flag) {
  VICINITY_TRY(check(info));
  VICINITY_TRY(check_key(key));
  if (valuelen < 0) return fail(MPI_ERR_ARG, "argument `valuelen` is %d", valuelen);
  const std::string* found = info->find(key);
  *flag = found != nullptr;
  if (!found) return kOk;
  if (!value) return fail(MPI_ERR_INFO_VALUE, "argument `value` is a null pointer");
  const size_t length = std::min(found->size(), static_cast<size_t>(valuelen));
  std::memcpy(value, found->data(), length);
  value[length] = '\0';  // `valuelen` does not count the null (10, deprecated MPI_Info_get)
  return kOk;
}

// `buflen` counts the null, in and out.
Status info_get_string(Info* info, const char* key, int* buflen, char* value, int* flag) {
  VICINITY_TRY(check(info));
  VICINITY_TRY(check_key(key));
  if (*buflen < 0) return fail(MPI_ERR_ARG, "argument `buflen` is %d", *buflen);
  const std::string* found = info->find(key);
  *flag = found != nullptr;
  if (!found) return kOk;
  if (*buflen > 0 && value) {
    const size_t length = std::min(found->size(), static_cast<size_t>(*buflen) - 1);
    std::memcpy(value, found->data(), length);
    value[length] = '\0';
  }
  *buflen = static_cast<int>(found->size()) + 1;
  return kOk;
}

Status info_get_valuelen(Info* info, const char* key, int* valuelen, int* flag) {
  VICINITY_TRY(check(info));
  VICINITY_TRY(check_key(key));
  const std::string* found = info->find(key);
  *flag = found != nullptr;
  if (found) *valuelen = static_cast<int>(found->size());
  return kOk;
}

Status info_get_nkeys(Info* info, int* nkeys) {
  VICINITY_TRY(check(info));
  *nkeys = static_cast<int>(info->pairs.size());
  return kOk;
}

Status info_get_nthkey(Info* info, int n, char* key) {
  VICINITY_TRY(check(info));
  if (n < 0 || n >= static_cast<int>(info->pairs.size()))
    return fail(MPI_ERR_ARG, "argument `n` is %d, the info object has %zu keys", n, info->pairs.size());
  std::snprintf(key, kKeyRoom, "%s", info->pairs[static_cast<size_t>(n)].first.c_str());
  return kOk;
}

}  // namespace entry
}  // namespace vicinity::world
