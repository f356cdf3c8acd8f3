// SPDX-License-Identifier: BSD-3-Clause
// The row of this process in the matrix of channels, for `vicinity map` (docs/formats/map.md).
#pragma once

#include <cstdint>
#include <string>

#include "peer/virtual_connection.h"

namespace vicinity::peer {

struct MapHead {
  const std::string& job;
  Proc self;
  uint32_t count;
  const std::string& host;
};
std::string map_head(const MapHead& head);
std::string map_line(VirtualConnection& connection, const std::string& host);

// Writes the row to <job directory>/map.<rank> if VICINITY_MAP asks for it. Failures are only logged.
void write_map(const std::string& job, Proc self, const std::string& text);

}  // namespace vicinity::peer
