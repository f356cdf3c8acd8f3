// SPDX-License-Identifier: BSD-3-Clause
// The data representations that there are (MPI 5.0, 14.5).
#include "io/datarep.h"

#include <forward_list>
#include <mutex>
#include <utility>

namespace vicinity::io {
namespace {

using Kind = Representation::Kind;

struct Known {
  std::mutex lock;
  std::forward_list<Representation> all;  // never shrinks, so that views can point into it
};

Known& known() {
  static auto* made = new Known{
      {}, {{"native", Kind::kNative}, {"internal", Kind::kNative}, {"external32", Kind::kExternal}}};
  return *made;
}

const Representation* find_locked(const char* name) {
  for (const Representation& one : known().all)
    if (one.name == name) return &one;
  return nullptr;
}

}  // namespace

const Representation& native() {
  static const Representation* found = find_datarep("native");
  return *found;
}

const Representation* find_datarep(const char* name) {
  const std::lock_guard guard(known().lock);
  return find_locked(name);
}

Status add_datarep(Representation&& rep) {
  if (rep.name.size() >= MPI_MAX_DATAREP_STRING)
    return fail(MPI_ERR_ARG, "argument `datarep` has %zu characters, %d is the most", rep.name.size(),
                MPI_MAX_DATAREP_STRING - 1);
  if (!rep.extent && (rep.converts(false) || rep.converts(true)))
    return fail(MPI_ERR_ARG, "argument `dtype_file_extent_fn` is a null pointer");
  const std::lock_guard guard(known().lock);
  if (find_locked(rep.name.c_str()))
    return fail(MPI_ERR_DUP_DATAREP, "the data representation \"%s\" is there already", rep.name.c_str());
  rep.kind = Kind::kUser;
  known().all.push_front(std::move(rep));
  return kOk;
}

}  // namespace vicinity::io
