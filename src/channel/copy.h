// SPDX-License-Identifier: BSD-3-Clause
// Copies of at most one line's payload, without a call: overlapping moves chosen by size class. And copies to
// memory that a distant core will read next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

// Copies to memory and leaves it in no cache of ours: a core that shares none with us reads it there sooner
// than it would get it from us. `to` begins a cache line. Done, for all who look, when this returns.
inline void copy_past_caches(std::byte* to, const std::byte* from, size_t bytes) {
#if defined(__SSE2__)
  size_t done = 0;
  for (; done + 64 <= bytes; done += 64) {
    __m128i part[4];
    std::memcpy(part, from + done, sizeof part);
    auto* line = reinterpret_cast<__m128i*>(to + done);
    for (int i = 0; i < 4; ++i) _mm_stream_si128(line + i, part[i]);
  }
  std::memcpy(to + done, from + done, bytes - done);
  _mm_sfence();  // these stores keep no order of their own
#else
  std::memcpy(to, from, bytes);
#endif
}

}  // namespace vicinity::channel
