// SPDX-License-Identifier: BSD-3-Clause
// Attribute caching (MPI 5.0, 7.7), the same for communicators, datatypes and windows.
//
// A keyval is a number; what it means lives in one registry for all three classes. A keyval that the
// user freed lives on as long as an attribute of it is attached somewhere, with its callbacks.
//
// Callbacks get the handle of the object and may call MPI, also on the same object; no reference into
// a list is kept across one.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "object/handle.h"

namespace vicinity::object {

struct Object;

struct Attribute {
  int keyval;
  void* value;
  // Set from Fortran: the value is an integer, and C is given a pointer to it (MPI 5.0, 19.3.7).
  std::shared_ptr<void*> integer = nullptr;

  void set(void* it, bool is_integer) {
    value = it;
    integer = is_integer ? std::make_shared<void*>(it) : nullptr;
  }
  void* seen_by(bool fortran) const { return integer && !fortran ? integer.get() : value; }
};

// In the order in which they were set; deleted in reverse order (MPI 5.0, 7.7.1 asks for LIFO on SELF).
struct Attributes {
  std::vector<Attribute> list;
};

// `target` is kComm, kDatatype or kWin; `copy` and `destroy` are the C callbacks or the predefined
// constants (0: null, 1: dup). MPI_ERR_KEYVAL for a keyval of another class, freed or never made.
base::Result<int> keyval_create(Kind target, void* copy, void* destroy, void* extra);
base::Status keyval_free(Kind target, int keyval);

// `owner` says which class of keyvals is meant and is what the callbacks are told.
base::Status attribute_set(Object& owner, Attributes& attributes, int keyval, void* value);
base::Status attribute_get(const Object& owner, const Attributes& attributes, int keyval, void** value,
                           bool* found);
base::Status attribute_delete(Object& owner, Attributes& attributes, int keyval);

// For duplication: asks each copy callback. When one fails, what was copied stays in `into`, for the
// caller to delete with attributes_delete_all(copy, into) and give up; its error is returned.
base::Status attributes_copy(Object& owner, const Attributes& from, Attributes& into);
// Before an object dies: deletes in reverse order. Stops at the first callback that fails, whose
// attribute and those before it stay; the object must then live on.
base::Status attributes_delete_all(Object& owner, Attributes& attributes);

}  // namespace vicinity::object
