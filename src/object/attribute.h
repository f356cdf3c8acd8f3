// SPDX-License-Identifier: BSD-3-Clause
// Attribute caching (MPI 5.0, 7.7), the same for communicators, datatypes and windows.
#pragma once

#include <mpi.h>

#include <vector>

#include "base/status.h"

namespace vicinity::object {

struct Object;

struct Attribute {
  int keyval;
  void* value;
};

// In the order in which they were set; deleted in reverse order (MPI 5.0, 7.7.1 asks for LIFO on SELF).
struct Attributes {
  std::vector<Attribute> list;
};

}  // namespace vicinity::object
