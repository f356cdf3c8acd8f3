// SPDX-License-Identifier: BSD-3-Clause
// Data representations (MPI 5.0, 14.5): native, internal (the same here), external32. Others can be
// registered; a view with one of them is refused, since conversion functions are not called yet.
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "entry_io.h"
#include "io/file.h"

namespace vicinity::io {
namespace {

std::mutex lock;
std::set<std::string>& registered() {
  static auto* names = new std::set<std::string>;
  return *names;
}

Status add(const char* name) {
  if (strlen(name) >= MPI_MAX_DATAREP_STRING)
    return fail(MPI_ERR_ARG, "argument `datarep` has %zu characters, %d is the most", strlen(name),
                MPI_MAX_DATAREP_STRING - 1);
  std::lock_guard guard(lock);
  if (known_datarep(name) || !registered().insert(name).second)
    return fail(MPI_ERR_DUP_DATAREP, "the data representation \"%s\" is there already", name);
  return kOk;
}

}  // namespace

bool known_datarep(const char* name) {
  return strcmp(name, "native") == 0 || strcmp(name, "internal") == 0 || strcmp(name, "external32") == 0;
}

namespace entry {

Status register_datarep(const char* datarep, MPI_Datarep_conversion_function*,
                        MPI_Datarep_conversion_function*, MPI_Datarep_extent_function*, void*) {
  return add(datarep);
}
Status register_datarep_c(const char* datarep, MPI_Datarep_conversion_function_c*,
                          MPI_Datarep_conversion_function_c*, MPI_Datarep_extent_function*, void*) {
  return add(datarep);
}

}  // namespace entry
}  // namespace vicinity::io
