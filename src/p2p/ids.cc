// SPDX-License-Identifier: BSD-3-Clause
// The table of ids.
#include "p2p/ids.h"

namespace vicinity::p2p {

uint32_t Ids::add(object::Request* request, Role role) {
  uint32_t index = first_free_;
  if (index != UINT32_MAX) {
    first_free_ = slots_[index].next_free;
  } else {
    index = static_cast<uint32_t>(slots_.size());
    if (index >= (1u << kIndexBits)) return 0;
    slots_.emplace_back();
  }
  Slot& slot = slots_[index];
  slot.request = request;
  slot.role = role;
  return uint32_t{slot.generation} << kIndexBits | index;
}

void Ids::remove(uint32_t id) {
  const uint32_t index = id & ((1u << kIndexBits) - 1);
  Slot& slot = slots_[index];
  slot.role = Role::kNone;
  slot.generation = static_cast<uint16_t>(slot.generation == 4095 ? 1 : slot.generation + 1);
  slot.next_free = first_free_;
  first_free_ = index;
}

object::Request* Ids::find(uint32_t id, Role role) const {
  const uint32_t index = id & ((1u << kIndexBits) - 1);
  if (index >= slots_.size()) return nullptr;
  const Slot& slot = slots_[index];
  return slot.role == role && slot.generation == id >> kIndexBits ? slot.request : nullptr;
}

}  // namespace vicinity::p2p
