// SPDX-License-Identifier: BSD-3-Clause
// libucp.so.0, loaded at run time: a process that needs no network never touches it, and a machine without
// UCX runs everything else.
#pragma once

#include "base/status.h"
#include "channel/ucx/ucx_abi.h"

namespace vicinity::channel::ucx {

// Loads the library once. The failure says what is missing and how to get it.
base::Result<const abi::Functions*> load();

}  // namespace vicinity::channel::ucx
