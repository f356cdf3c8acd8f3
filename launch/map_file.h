// SPDX-License-Identifier: BSD-3-Clause
// What a rank wrote with VICINITY_MAP=1: its row in the matrix of channels (src/peer/map.h writes it).
//
//   vicinity-map 1
//   job NAME
//   rank R size N pid P host H
//   peer Q host H channel C copies K sent MESSAGES BYTES received MESSAGES BYTES reason TEXT TO THE END
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace vicinity::launch {

struct MapPeer {
  int peer = 0;
  std::string host, channel, reason;
  int copies = 0;
  uint64_t messages_sent = 0, bytes_sent = 0, messages_received = 0, bytes_received = 0;
};

struct MapRow {
  std::string job, host;
  int rank = 0, size = 0, pid = 0;
  std::vector<MapPeer> peers;
};

base::Result<MapRow> parse_map(std::string_view text);

}  // namespace vicinity::launch
