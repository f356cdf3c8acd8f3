// SPDX-License-Identifier: BSD-3-Clause
// Do the ranks of this host outnumber the cores they may use? Decides how waiting waits.
#pragma once

#include "base/status.h"
#include "wireup/wireup.h"

namespace vicinity::world {

// Publishes which cores this process may use; before the fences of peer::start().
base::Status publish_cores(wireup::Wireup& wireup);
// After peer::start().
bool oversubscribed(wireup::Wireup& wireup);

// "ff,0" -> number of cores in the union of two such masks; for tests.
int count_union(const char* const* masks, int count);

// Whole cores that the control group grants this process, from the text of cpu.max ("200000 100000" is 2);
// 0: no limit.
int quota_cores(const char* text);

}  // namespace vicinity::world
