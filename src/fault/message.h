// SPDX-License-Identifier: BSD-3-Clause
// Messages of an agreement as bytes (docs/formats/messages.md).
#pragma once

#include <cstddef>
#include <vector>

#include "fault/consensus.h"

namespace vicinity::fault {

// Which agreement of a communicator: the number of the call, and of the step within it.
struct Name {
  uint32_t call = 0;
  uint32_t step = 0;
  // The step of a call after which its members may be gone, so that whoever decides tells everybody.
  static constexpr uint32_t kLast = UINT32_MAX;
  auto operator<=>(const Name&) const = default;
};

std::vector<std::byte> encode(const Name& name, const Message& message);
// False: no correct process sends this. `members`: positions are below.
bool decode(const std::byte* bytes, size_t length, uint32_t members, Name& name, Message& message);

}  // namespace vicinity::fault
