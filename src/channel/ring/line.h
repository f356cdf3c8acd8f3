// SPDX-License-Identifier: BSD-3-Clause
// The line: what travels through a ring, and how it is published (docs/formats/region.md, "Lines").
//
// A line is one cache line. Its control word is written last; a line has arrived when the sequence in
// it is the one expected. The first line of a message:
//
//    0..47  payload (or what Form says)
//   48..51  context      52..55  tag
//   56      kind         57      flags
//   58..59  length, 12 bits; form, 4 bits
//   60..63  sequence
//
// and the following lines of a frame: 0..55 payload, 56..63 as above with kind = flags = 0.
//
// Sequences: the line at position p (counted from 0 over all laps) has sequence first_sequence(g) + p,
// modulo 2^32. It differs from what the slot held a lap ago, from 0 in the first lap, and from
// what another generation of the region wrote there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "channel/channel.h"
#include "region/layout.h"

#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
#define VICINITY_LINE_SSE 1
#include <emmintrin.h>
#endif

namespace vicinity::channel::ring {

struct alignas(64) Line {
  std::byte payload[48];
  uint64_t address;  // context, tag
  uint64_t control;
};
static_assert(sizeof(Line) == region::kLineBytes);
static_assert(offsetof(Line, address) == 48 && offsetof(Line, control) == 56);

inline constexpr size_t kFirstPayload = 48;     // of a first line
inline constexpr size_t kFirstWithWord = 44;    // the same, when Envelope::word is in 44..47
inline constexpr size_t kMorePayload = 56;      // of a following line
inline constexpr size_t kMostFrameBytes = 256;  // longer messages travel through bulk buffers

enum class Form : uint8_t {
  kNone = 0,
  kShort = 1,          // the whole message; length = its bytes
  kShortWithWord = 2,  // the same, bytes 44..47 are Envelope::word
  kFrame = 3,          // first of several lines; length = bytes of the message
  kFrameWithWord = 4,
  kBulk = 5,      // the payload is in bulk buffers: BulkFirst; length = pieces in which a buffer is filled
  kMore = 6,      // a following line of a frame; length = bytes in this line
  kMoreBulk = 7,  // a further piece of a bulk message: bytes 0..3 the index of its buffer
};

// Payload of a kBulk line.
struct BulkFirst {
  uint32_t bytes;   // of the whole message
  uint32_t word;    // of the envelope
  uint32_t buffer;  // index of the first buffer in the sender's section
  uint32_t offset;  // in that buffer, where the message begins; it goes on at the start of the next
};
static_assert(sizeof(BulkFirst) == 16);

inline constexpr uint32_t kMostPieces = 64;  // of one buffer

// The generation makes lines of an earlier life of this memory stale. Its low bits are 0, so that
// (sequence - 1) & mask is the slot.
inline constexpr uint32_t first_sequence(uint32_t generation) { return (generation << 16) + 1; }

inline constexpr uint64_t make_control(uint32_t kind_and_flags, Form form, uint32_t length,
                                       uint32_t sequence) {
  return kind_and_flags | uint64_t{length} << 16 | uint64_t{static_cast<uint8_t>(form)} << 28 |
         uint64_t{sequence} << 32;
}
inline constexpr uint64_t kFormAndKind = 0xf000ffff;  // what of a control word tells form, kind and flags
inline constexpr uint32_t sequence_of(uint64_t control) { return static_cast<uint32_t>(control >> 32); }
inline constexpr Form form_of(uint64_t control) { return static_cast<Form>(control >> 28 & 15); }
inline constexpr uint32_t length_of(uint64_t control) { return static_cast<uint32_t>(control >> 16 & 0xfff); }

// SYNC POINT LINE (acquire): pairs with publish(); afterwards the payload of the line may be read.
inline uint64_t read_control(const Line* line) { return __atomic_load_n(&line->control, __ATOMIC_ACQUIRE); }

// SYNC POINT LINE (release): everything written to the line (and, for bulk, to the buffer) before is
// visible to whoever sees the sequence.
inline void publish(Line* line, uint64_t address, uint64_t control) {
#if VICINITY_LINE_SSE
  // x86 keeps stores in order, and an aligned 16-byte store to one line is one access on every CPU
  // with AVX: the line leaves us once. The barrier keeps the compiler from moving payload stores down.
  asm volatile("" ::: "memory");
  _mm_store_si128(reinterpret_cast<__m128i*>(&line->address),
                  _mm_set_epi64x(static_cast<long long>(control), static_cast<long long>(address)));
  asm volatile("" ::: "memory");
#else
  __atomic_store_n(&line->address, address, __ATOMIC_RELAXED);
  __atomic_store_n(&line->control, control, __ATOMIC_RELEASE);
#endif
}

// Orders earlier stores before later loads, in all processes.
inline void full_fence() {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  asm volatile("lock; orq $0, (%%rsp)" ::: "memory", "cc");  // cheaper than mfence
#elif defined(__SANITIZE_THREAD__)
  uint32_t own = 0;  // TSan does not know fences
  __atomic_fetch_add(&own, 1, __ATOMIC_SEQ_CST);
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

// publish() for a following line, whose bytes 48..55 are payload.
inline void publish_more(Line* line, uint64_t control) {
  __atomic_store_n(&line->control, control, __ATOMIC_RELEASE);
}

// Whom to wake, and how: words in the other process's section.
struct Bell {
  uint32_t* state = nullptr;  // StatusLine::state
  uint32_t* word = nullptr;   // WakeLine::word
  bool fence = false;         // no membarrier: we must order store and load ourselves

  // SYNC POINT PARK: something has been published, then the state of whom it concerns is read; the sleeper
  // writes the state, runs a barrier in all of us (membarrier), then looks at everything once more. Either
  // it sees what was published, or we see that it is parked. Without membarrier the fence is ours.
  uint32_t look() const {
    if (fence) [[unlikely]]
      full_fence();
    asm volatile("" ::: "memory");
    return __atomic_load_n(state, __ATOMIC_RELAXED);
  }
  // Wakes the owner if its state is still `seen`.
  void ring(uint32_t seen) const;
};

}  // namespace vicinity::channel::ring
