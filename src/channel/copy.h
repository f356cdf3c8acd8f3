// SPDX-License-Identifier: BSD-3-Clause
// Copies of at most one line's payload, without a call: overlapping moves chosen by size class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace vicinity::channel {

namespace detail {

template <size_t kWidth>
inline void move(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, kWidth);  // constant size: one or two instructions
}

}  // namespace detail

// Copies `bytes` <= 64. Nothing beyond them is read or written.
inline void copy_small(void* target, const void* source, size_t bytes) {
  auto* to = static_cast<std::byte*>(target);
  auto* from = static_cast<const std::byte*>(source);
  if (bytes >= 8) {
    if (bytes > 16) {
      detail::move<16>(to, from);
      if (bytes > 32) {
        detail::move<16>(to + 16, from + 16);
        if (bytes > 48) detail::move<16>(to + 32, from + 32);
      }
      detail::move<16>(to + bytes - 16, from + bytes - 16);
    } else {
      detail::move<8>(to, from);
      detail::move<8>(to + bytes - 8, from + bytes - 8);
    }
  } else if (bytes >= 4) {
    detail::move<4>(to, from);
    detail::move<4>(to + bytes - 4, from + bytes - 4);
  } else if (bytes != 0) {
    to[0] = from[0];
    to[bytes / 2] = from[bytes / 2];
    to[bytes - 1] = from[bytes - 1];
  }
}

}  // namespace vicinity::channel
