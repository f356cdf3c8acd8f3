// SPDX-License-Identifier: BSD-3-Clause
// Error classes, codes and strings (MPI 5.0, 9.4 and 9.5).
#include <cstdio>

#include "entry_world.h"
#include "object/error.h"
#include "world/instance.h"

namespace vicinity::world::entry {

Status error_class(int errorcode, int* errorclass) {
  const int found = object::error_class(errorcode);
  if (found < 0) return fail(MPI_ERR_ARG, "argument `errorcode` is %d, which is no error code", errorcode);
  *errorclass = found;
  return kOk;
}

// The words of the class, and those of the newest failure of that class on this thread.
Status error_string(int errorcode, char* string, int* resultlen) {
  const char* text = object::error_text(errorcode);
  if (!text) return fail(MPI_ERR_ARG, "argument `errorcode` is %d, which is no error code", errorcode);
  const char* name = object::error_name(errorcode);
  const char* detail = base::failure_text(errorcode);
  const int written = name ? std::snprintf(string, MPI_MAX_ERROR_STRING, "%s: %s%s%s", name, text,
                                           *detail ? ": " : "", detail)
                           : std::snprintf(string, MPI_MAX_ERROR_STRING, "%s", text);
  *resultlen = written < MPI_MAX_ERROR_STRING ? written : MPI_MAX_ERROR_STRING - 1;
  return kOk;
}

Status add_error_class(int* errorclass) {
  Result<int> added = object::add_error_class();
  if (!added.ok()) return added.status();
  *errorclass = *added;
  return kOk;
}

Status add_error_code(int errorclass, int* errorcode) {
  Result<int> added = object::add_error_code(errorclass);
  if (!added.ok()) return added.status();
  *errorcode = *added;
  return kOk;
}

Status add_error_string(int errorcode, const char* string) {
  return object::add_error_string(errorcode, string);
}
Status remove_error_class(int errorclass) { return object::remove_error_class(errorclass); }
Status remove_error_code(int errorcode) { return object::remove_error_code(errorcode); }
Status remove_error_string(int errorcode) { return object::remove_error_string(errorcode); }

}  // namespace vicinity::world::entry
