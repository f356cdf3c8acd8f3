// SPDX-License-Identifier: BSD-3-Clause
// Memory for a window that all its co-resident members have mapped, or none of them.
#pragma once

#include <vector>

#include "rma/window.h"

namespace vicinity::rma {

// The ranks of `comm` that may be able to share memory with this process, in order, this one too.
std::vector<int> co_resident_ranks(const Communicator& comm);

// Collective over `ranks`. Tries every way until one works for all; leaves `mapping` empty when none does,
// and tells why on each.
Status share_memory(Communicator& comm, const std::vector<int>& ranks, uint64_t bytes,
                    region::Mapping* mapping);

}  // namespace vicinity::rma
