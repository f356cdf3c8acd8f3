// SPDX-License-Identifier: BSD-3-Clause
// What the files of this room share: the table of processes and the services that a connection needs.
#pragma once

#include <cstdint>
#include <string>

#include "peer/virtual_connection.h"

namespace vicinity::peer::detail {

// `connection` has queued messages: flush it from progress.
void has_work(VirtualConnection& connection);
// `connection` is changing its channel: follow it from progress.
void has_change(VirtualConnection& connection);
// Has this process left the memory that we share, in good order?
bool departed(Proc proc);
// The peer is gone: from the next progress on, its connection is lost and the sink is told, once.
void report_lost(Proc proc, const char* why);
// What has come from this process so far.
void fill_received(Proc proc, Counters& counters);
// VICINITY_REGION: auto, memfd, file.
const std::string& region_wish();

}  // namespace vicinity::peer::detail
