// SPDX-License-Identifier: BSD-3-Clause
// A lane is a line such as "#  lane[0]:  2:rc_verbs/mlx5_0:1.0 md[2] -> ...": number of the resource,
// transport, device, path.
#include "channel/ucx/lanes.h"

namespace vicinity::channel::ucx {

std::string lanes_in(std::string_view text) {
  std::string found = ", ";
  for (size_t at = text.find("lane["); at != text.npos; at = text.find("lane[", at + 1)) {
    std::string_view line = text.substr(at, text.find('\n', at) - at);
    const size_t number = line.find("]:");
    const size_t colon = number == line.npos ? number : line.find(':', number + 2);
    if (colon == line.npos) continue;
    line = line.substr(colon + 1);
    std::string_view lane = line.substr(0, line.find(' '));
    if (lane.find('/') == lane.npos) continue;
    const std::string name = std::string(lane.substr(0, lane.rfind('.'))) + ", ";
    if (found.find(", " + name) == found.npos) found += name;
  }
  return found.size() > 4 ? found.substr(2, found.size() - 4) : "";
}

}  // namespace vicinity::channel::ucx
