// SPDX-License-Identifier: BSD-3-Clause
// Attributes of communicators, and keyvals of windows (MPI 5.0, 7.7). Datatypes have theirs in object/.
#include "entry_world.h"
#include "object/attribute.h"
#include "world/environment.h"
#include "world/instance.h"

namespace vicinity::world {
namespace {

using object::Kind;

Status create(Kind target, void* copy, void* destroy, int* keyval, void* extra) {
  Result<int> made = object::keyval_create(target, copy, destroy, extra);
  if (!made.ok()) return made.status();
  *keyval = *made;
  return kOk;
}

Status end(Kind target, int* keyval) {
  VICINITY_TRY(object::keyval_free(target, *keyval));
  *keyval = MPI_KEYVAL_INVALID;
  return kOk;
}

}  // namespace

namespace entry {

Status comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* destroy,
                          int* keyval, void* extra_state) {
  return create(Kind::kComm, reinterpret_cast<void*>(copy), reinterpret_cast<void*>(destroy), keyval,
                extra_state);
}
Status comm_free_keyval(int* keyval) { return end(Kind::kComm, keyval); }

Status win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* destroy, int* keyval,
                         void* extra_state) {
  return create(Kind::kWin, reinterpret_cast<void*>(copy), reinterpret_cast<void*>(destroy), keyval,
                extra_state);
}
Status win_free_keyval(int* keyval) { return end(Kind::kWin, keyval); }

Status comm_set_attr(Communicator& comm, int keyval, void* value) {
  return object::attribute_set(comm, comm.attributes, keyval, value);
}

Status comm_delete_attr(Communicator& comm, int keyval) {
  return object::attribute_delete(comm, comm.attributes, keyval);
}

Status comm_get_attr(Communicator& comm, int keyval, void* attribute_val, int* flag) {
  void* value = nullptr;
  bool found = false;
  // Predefined attributes are attached to MPI_COMM_WORLD; asking any other communicator is harmless, and
  // programs do it.
  if (!predefined_attribute(keyval, &value, &found))
    VICINITY_TRY(object::attribute_get(comm, comm.attributes, keyval, &value, &found));
  *flag = found;
  if (found) *static_cast<void**>(attribute_val) = value;
  return kOk;
}

}  // namespace entry
}  // namespace vicinity::world
