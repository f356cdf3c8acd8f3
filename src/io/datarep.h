// SPDX-License-Identifier: BSD-3-Clause
// Data representations (MPI 5.0, 14.5): native, internal (the same here), external32, and those that the
// program registers. What a representation says of a predefined type goes for the elements of any other.
#pragma once

#include <cstdint>
#include <string>

#include "object/datatype_create.h"

namespace vicinity::io {

using base::fail;
using base::kOk;
using base::Status;
using object::Datatype;

struct Representation {
  enum class Kind : uint8_t { kNative, kExternal, kUser };
  std::string name;
  Kind kind = Kind::kNative;
  // Of a user's: nullptr stands for the native representation in that direction. The _c form, if it is there,
  // is used.
  MPI_Datarep_conversion_function *read = nullptr, *write = nullptr;
  MPI_Datarep_conversion_function_c *read_c = nullptr, *write_c = nullptr;
  MPI_Datarep_extent_function* extent = nullptr;
  void* extra = nullptr;

  bool converts(bool writing) const {
    if (kind != Kind::kUser) return kind == Kind::kExternal;
    return writing ? write || write_c : read || read_c;
  }
};

const Representation& native();
// The one of that name, which is there for ever; nullptr: there is none.
const Representation* find_datarep(const char* name);

Status add_datarep(Representation&& rep);

// Bytes that an element of `type` takes in the file.
Status bytes_in_file(const Representation& rep, const Datatype& type, int64_t* bytes);
// The type with elements as large as they are in the file; the caller holds a reference.
base::Result<Datatype*> type_in_file(const Representation& rep, Datatype& type);

// `out` has room for count * bytes_in_file.
Status to_file(const Representation& rep, const void* buf, MPI_Count count, Datatype& type, char* out);
// The first `bytes` of what to_file made; `*memory` is the size of the whole elements in them, which are
// moved.
Status from_file(const Representation& rep, char* in, int64_t bytes, void* buf, MPI_Count count,
                 Datatype& type, int64_t* memory);

}  // namespace vicinity::io
