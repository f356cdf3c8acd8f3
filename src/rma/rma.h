// SPDX-License-Identifier: BSD-3-Clause
// One-sided communication inside the library: what world/ uses to make windows, because a window needs a
// communicator of its own. The MPI_ functions are in rma/entry_*.cc.
#pragma once

#include "object/info.h"
#include "object/window.h"

namespace vicinity::rma {

using object::Communicator;
using object::Info;
using object::Result;
using object::Status;

struct Plan {
  int flavor = MPI_WIN_FLAVOR_CREATE;
  void* base = nullptr;  // MPI_WIN_FLAVOR_CREATE
  MPI_Aint size = 0;
  MPI_Count disp_unit = 1;
  const Info* info = nullptr;
};

// What can be said of the arguments without asking others.
Status check_plan(const Plan& plan);

// Collective over `comm`, which nobody else uses and which becomes the window's own. Fails on all members or
// on none; the caller then releases `comm`.
Result<object::Window*> create(Communicator& comm, const Plan& plan);

}  // namespace vicinity::rma
