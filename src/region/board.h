// SPDX-License-Identifier: BSD-3-Clause
// A board: what one process of a communicator shows to the others for small collectives.
//
// Each section has `boards` of them. A communicator whose members share the region claims one number; its
// board is then that number in the section of every member, written by its owner and read by all
// members. docs/formats/region.md says the same in words.
//
//      0  Presence             which call the owner is in
//     64  Flow                 how far a long transfer of the owner is
//    128  lines[kBoardLines]   64 bytes: payload 48, signature 8, sequence 8
//  12288  small slots, then large slots: payloads that do not fit into a line
#pragma once

#include <cstddef>
#include <cstdint>

namespace vicinity::region {

inline constexpr uint32_t kMostBoards = 64;
// So many because a root may be that many calls ahead: where ranks share cores, that saves changes of
// processes.
inline constexpr uint32_t kBoardLines = 128;  // the line of call q is number q mod 128
inline constexpr uint32_t kSmallSlots = 16;   // the small slot of call q is number q mod 16
inline constexpr uint32_t kSmallSlotBytes = 4096;
// Together they are longer than the private cache of a core: to write where the readers' caches still hold
// what an earlier call wrote takes longer than to write where it has left them.
inline constexpr uint32_t kLargeSlots = 8;
inline constexpr uint32_t kLargeSlotBytes = 65536;

// A sequence is the life of the board (bits 32..63), how often the board was claimed and never 0, and the
// number of the call on the communicator (bits 0..31).
struct Presence {
  uint64_t begun;    // sequence of the newest call; all calls before it are over for the owner
  uint64_t doing;    // bits 0..31 tag of that call, bit 32 set: it takes this way, not messages
  uint64_t gave_up;  // sequence of the newest call that failed
  uint64_t left;     // life of the newest communicator that the owner has left
  uint32_t cpu;      // where the owner ran when it began its newest call, while ranks outnumber cores
  uint8_t reserved[28];
};
struct Flow {
  uint64_t units;  // bits 32..63: number of the call, 0..31: how many pieces of it the owner is through with
  uint8_t reserved[56];
};
static_assert(sizeof(Presence) == 64 && offsetof(Presence, doing) == 8);
static_assert(offsetof(Presence, gave_up) == 16 && offsetof(Presence, left) == 24);
static_assert(offsetof(Presence, cpu) == 32);
static_assert(sizeof(Flow) == 64 && offsetof(Flow, units) == 0);

inline constexpr uint64_t kBoardFlow = 64;
inline constexpr uint64_t kBoardFirstLine = 128;
inline constexpr uint64_t kBoardSmall = 12288;
inline constexpr uint64_t kBoardLarge = kBoardSmall + uint64_t{kSmallSlots} * kSmallSlotBytes;
inline constexpr uint64_t kBoardBytes = kBoardLarge + uint64_t{kLargeSlots} * kLargeSlotBytes;
static_assert(kBoardFirstLine + kBoardLines * 64 <= kBoardSmall);
static_assert(kBoardLarge == 77824 && kBoardBytes == 602112 && kBoardBytes % 4096 == 0);

}  // namespace vicinity::region
