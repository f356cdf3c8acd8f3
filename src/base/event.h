// SPDX-License-Identifier: BSD-3-Clause
// Events: what happens now and then inside the library and what tools may want to hear of (MPI 5.0, 15.3.8).
// Rooms tell, world/tool hears. Where nobody listens, telling costs one load.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vicinity::base {

// The numbers and elements are what tools see: world/tool/entry_event.cc has the table that describes them.
enum class Event : uint8_t { kChannelChanged, kProcessLost, kMessageUnexpected };

struct ChannelChanged {
  static constexpr Event kEvent = Event::kChannelChanged;
  int32_t process, channel;  // 2: ring, 3: network
};
struct ProcessLost {
  static constexpr Event kEvent = Event::kProcessLost;
  int32_t process;
};
struct MessageUnexpected {
  static constexpr Event kEvent = Event::kMessageUnexpected;
  int32_t source, tag;
  int64_t bytes;
};

inline uint32_t events_heard = 0;  // a bit for each event that somebody listens to
inline void (*event_hearer)(Event event, const void* elements) = nullptr;

template <class Elements>
inline void tell(const Elements& elements) {
  if (events_heard >> static_cast<unsigned>(Elements::kEvent) & 1) [[unlikely]]
    event_hearer(Elements::kEvent, &elements);
}

}  // namespace vicinity::base
