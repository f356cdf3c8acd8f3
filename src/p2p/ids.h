// SPDX-License-Identifier: BSD-3-Clause
// Ids: names of our requests that travel to a peer and come back. 20 bits index, 12 bits generation, so
// a stale or invented id is noticed. Never 0.
#pragma once

#include <cstdint>
#include <vector>

#include "object/request.h"

namespace vicinity::p2p {

enum class Role : uint8_t { kNone, kSend, kReceive, kPartSend, kPartReceive };

class Ids {
 public:
  // 0 when all 2^20 are in use.
  uint32_t add(object::Request* request, Role role);
  void remove(uint32_t id);
  // nullptr unless `id` is in use for that role now.
  object::Request* find(uint32_t id, Role role) const;

  // Calls visit(request, role) for each id in use; `visit` may remove ids.
  template <class Visit>
  void each(Visit&& visit) {
    for (size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].role != Role::kNone) visit(slots_[i].request, slots_[i].role);
  }

 private:
  static constexpr uint32_t kIndexBits = 20;
  struct Slot {
    object::Request* request = nullptr;  // or, when free, unused
    uint32_t next_free = 0;
    uint16_t generation = 1;  // 1..4095
    Role role = Role::kNone;
  };
  std::vector<Slot> slots_;
  uint32_t first_free_ = UINT32_MAX;
};

}  // namespace vicinity::p2p
