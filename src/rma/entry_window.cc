// SPDX-License-Identifier: BSD-3-Clause
// The end of windows, and what one asks or tells them: attributes, names, info, group, shared memory, and
// memory attached to dynamic windows (MPI 5.0, 12.2).
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "coll/coll.h"
#include "entry_rma.h"
#include "object/pool.h"
#include "rma/hints.h"
#include "rma/outbound.h"
#include "rma/sink.h"

namespace vicinity::rma {
namespace {

// Predefined attributes hand out addresses, except the base, which is one (12.2.6).
bool predefined_attribute(Window& window, int keyval, void** value) {
  switch (keyval) {
    case MPI_WIN_BASE:
      *value = window.base;
      return true;
    case MPI_WIN_SIZE:
      *value = &window.size;
      return true;
    case MPI_WIN_DISP_UNIT:
      *value = &window.disp_unit;
      return true;
    case MPI_WIN_CREATE_FLAVOR:
      *value = &window.flavor;
      return true;
    case MPI_WIN_MODEL:
      *value = &window.model;
      return true;
    default:
      return false;
  }
}

Status check_dynamic(const Window& window) {
  if (window.dynamic()) return kOk;
  return fail(MPI_ERR_RMA_FLAVOR, "memory is attached to windows of MPI_Win_create_dynamic only");
}

bool overlaps(const Window& window, uintptr_t begin, uint64_t bytes) {
  auto after = window.attached.lower_bound(begin + bytes);
  if (after == window.attached.begin()) return false;
  --after;
  return after->first + after->second > begin;
}

// MPI_PROC_NULL asks for the lowest rank that has a part, whether we can reach it or not (12.2.3).
Peer* lowest_with_memory(Window& window) {
  for (int rank = 0; rank < window.count; ++rank)
    if (window.peer(rank).size > 0) return &window.peer(rank);
  return nullptr;
}

}  // namespace

namespace entry {

Status win_free(MPI_Win* win) {
  Window& window = of(*object::lookup<object::Window>(*win));
  VICINITY_TRY(leave_access(window, "MPI_Win_free"));
  if (window.exposed)
    return fail(MPI_ERR_RMA_SYNC, "MPI_Win_post has exposed the window; call MPI_Win_wait first");
  VICINITY_TRY(object::attributes_delete_all(window, window.attributes));
  VICINITY_TRY(coll::barrier(*window.comm));
  dismiss(window);
  window.mapping = region::Mapping();
  object::release(&window);
  *win = MPI_WIN_NULL;
  return kOk;
}

Status win_set_attr(object::Window& win, int win_keyval, void* attribute_val) {
  return object::attribute_set(win, win.attributes, win_keyval, attribute_val);
}

Status win_delete_attr(object::Window& win, int win_keyval) {
  return object::attribute_delete(win, win.attributes, win_keyval);
}

Status win_get_attr(object::Window& win, int win_keyval, void* attribute_val, int* flag) {
  void* value = nullptr;
  bool found = predefined_attribute(of(win), win_keyval, &value);
  if (!found) VICINITY_TRY(object::attribute_get(win, win.attributes, win_keyval, &value, &found));
  *flag = found;
  if (found) *static_cast<void**>(attribute_val) = value;
  return kOk;
}

Status win_set_name(object::Window& win, const char* win_name) {
  std::snprintf(win.name, sizeof win.name, "%s", win_name);
  return kOk;
}

Status win_get_name(object::Window& win, char* win_name, int* resultlen) {
  *resultlen = std::snprintf(win_name, MPI_MAX_OBJECT_NAME, "%s", win.name);
  return kOk;
}

Status win_set_info(object::Window& win, Info* info) {
  accept_hints(of(win), info);
  return kOk;
}

Status win_get_info(object::Window& win, Info** info_used) {
  *info_used = object::copy_info(of(win).info);
  return *info_used ? kOk : fail(MPI_ERR_NO_MEM, "no memory for an info object");
}

Status win_get_group(object::Window& win, Group** group) {
  *group = object::retain(win.comm->group);
  return kOk;
}

Status win_shared_query(object::Window& win, int rank, MPI_Aint* size, MPI_Count* disp_unit, void* baseptr) {
  Window& window = of(win);
  if (window.dynamic())
    return fail(MPI_ERR_RMA_FLAVOR,
                "windows of MPI_Win_create_dynamic have no parts that could be asked for");
  Peer* peer = nullptr;
  VICINITY_TRY(find_peer(window, rank, &peer));
  if (!peer) peer = lowest_with_memory(window);
  const bool reached = peer && peer->mapped;
  *size = reached ? static_cast<MPI_Aint>(peer->size) : 0;
  *disp_unit = peer ? peer->unit : window.disp_unit;
  *static_cast<void**>(baseptr) = reached ? peer->base : nullptr;
  return kOk;
}

Status win_attach(object::Window& win, void* base, MPI_Aint size) {
  Window& window = of(win);
  VICINITY_TRY(check_dynamic(window));
  if (size < 0) return fail(MPI_ERR_SIZE, "argument `size` is %lld", static_cast<long long>(size));
  const auto begin = reinterpret_cast<uintptr_t>(base);
  const auto bytes = static_cast<uint64_t>(size);
  if (!base && bytes > 0) return fail(MPI_ERR_BASE, "argument `base` is a null pointer");
  if (begin + bytes < begin) return fail(MPI_ERR_SIZE, "the memory reaches beyond the end of addresses");
  if (overlaps(window, begin, bytes))
    return fail(MPI_ERR_RMA_ATTACH, "%" PRIu64 " bytes at %p overlap memory that is attached already", bytes,
                base);
  window.attached.emplace(begin, bytes);
  return kOk;
}

Status win_detach(object::Window& win, const void* base) {
  Window& window = of(win);
  VICINITY_TRY(check_dynamic(window));
  if (window.attached.erase(reinterpret_cast<uintptr_t>(base)) == 1) return kOk;
  return fail(MPI_ERR_RMA_ATTACH, "no memory was attached at %p", base);
}

}  // namespace entry
}  // namespace vicinity::rma
