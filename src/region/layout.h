// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a region: what processes of different builds, containers or guests must agree on.
// docs/formats/region.md says the same in words; whoever changes one changes both and kLayoutVersion.
//
//   0              RegionHeader            written by the creator, `magic` last
//   kHeaderBytes   Directory[sections]     written by the creator
//   ...            section 0, 1, ...       each written by its owner alone
//
// A section: SectionHeader, StatusLine, WakeLine, HintLine, opened[n], Credit[n], rings[n][lines], buffers,
// boards (board.h).
//
// Owner-writes rule: every word has one writing process. Exceptions, where nothing but time can be
// lost by a wrong value: StatusLine::state (a waker turns it into kWaking), WakeLine, HintLine.
// There are no pointers, descriptors, pids, paths or names in a region; only fixed-width integers, and
// offsets from its start.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "region/board.h"

namespace vicinity::region {

static_assert(std::endian::native == std::endian::little, "the region's integers are little-endian");

inline constexpr uint64_t kRegionMagic = 0x314e4f4947455256;   // "VREGION1"
inline constexpr uint64_t kSectionMagic = 0x314e544345535256;  // "VRSECTN1"
inline constexpr uint32_t kLayoutVersion = 6;
inline constexpr size_t kLineBytes = 64;
inline constexpr size_t kPageBytes = 4096;
inline constexpr size_t kHeaderBytes = 128;
inline constexpr uint32_t kMostSections = 512;

struct RegionHeader {
  uint64_t magic;           // kRegionMagic, stored last with release
  uint32_t layout_version;  // kLayoutVersion
  uint32_t header_bytes;    // kHeaderBytes
  uint8_t job[16];          // random, from the creator's card: proves that this is the region meant
  uint32_t generation;      // how often this memory was set up; part of every line's sequence
  uint32_t sections;        // processes
  uint64_t region_bytes;
  uint64_t section_bytes;
  uint64_t directory;   // offset of Directory[sections]
  uint32_t ring_lines;  // lines of one directed pair's ring, a power of two
  uint32_t buffers;     // bulk buffers of one section
  uint32_t buffer_bytes;
  uint32_t phase;   // Phase, the creator's word to the others during start
  uint32_t boards;  // of one section
  uint8_t reserved[44];
};
static_assert(sizeof(RegionHeader) == kHeaderBytes);
static_assert(offsetof(RegionHeader, layout_version) == 8);
static_assert(offsetof(RegionHeader, header_bytes) == 12);
static_assert(offsetof(RegionHeader, job) == 16);
static_assert(offsetof(RegionHeader, generation) == 32);
static_assert(offsetof(RegionHeader, sections) == 36);
static_assert(offsetof(RegionHeader, region_bytes) == 40);
static_assert(offsetof(RegionHeader, section_bytes) == 48);
static_assert(offsetof(RegionHeader, directory) == 56);
static_assert(offsetof(RegionHeader, ring_lines) == 64);
static_assert(offsetof(RegionHeader, buffers) == 68);
static_assert(offsetof(RegionHeader, buffer_bytes) == 72);
static_assert(offsetof(RegionHeader, phase) == 76);
static_assert(offsetof(RegionHeader, boards) == 80);

enum Phase : uint32_t {
  kForming = 0,     // waiting for everybody to attach
  kComplete = 1,    // decided who is in; messages may flow between those
  kSuperseded = 2,  // somebody could not attach: use the other backing
};

struct DirectoryEntry {
  uint64_t offset;  // of the section
  uint64_t bytes;
  uint32_t proc;      // rank in the job
  uint32_t admitted;  // the creator's word, before `phase` becomes kComplete: 1 if it saw the owner attached
};
static_assert(sizeof(DirectoryEntry) == 24);
static_assert(offsetof(DirectoryEntry, offset) == 0 && offsetof(DirectoryEntry, bytes) == 8);
static_assert(offsetof(DirectoryEntry, proc) == 16 && offsetof(DirectoryEntry, admitted) == 20);

struct SectionHeader {
  uint64_t magic;       // kSectionMagic, stored last with release: the owner has attached
  uint32_t proc;        // rank in the job
  uint32_t generation;  // of the region
  uint32_t departed;    // 1 once the owner has left in good order
  uint8_t reserved[44];
};
static_assert(sizeof(SectionHeader) == kLineBytes);
static_assert(offsetof(SectionHeader, proc) == 8 && offsetof(SectionHeader, generation) == 12);
static_assert(offsetof(SectionHeader, departed) == 16);

// kHungry: parked while it has something to send for which there is no room; credit wakes it too.
enum SleepState : uint32_t { kAwake = 0, kParked = 1, kWaking = 2, kHungry = 3 };

struct StatusLine {
  uint32_t state;  // SleepState
  uint8_t reserved[60];
};
struct WakeLine {
  uint32_t word;  // futex; counted up by whoever wakes the owner
  uint32_t away;  // 1: the owner has given its core away; advice
  uint8_t reserved[56];
};
struct HintLine {
  uint64_t bits[8];  // bit s: section s has opened its ring towards the owner, or has refused it
};
static_assert(sizeof(StatusLine) == kLineBytes && offsetof(StatusLine, state) == 0);
static_assert(sizeof(WakeLine) == kLineBytes && offsetof(WakeLine, word) == 0);
static_assert(offsetof(WakeLine, away) == 4);
static_assert(sizeof(HintLine) == kLineBytes && kMostSections == 8 * 64);

// The owner's byte for each other section (opened[n]). kRefused: it neither writes to nor reads from that one
// any more, because it got something invalid, or takes it for dead.
enum Opened : uint8_t { kNotOpened = 0, kOpened = 1, kRefused = 2 };

// How far the owner of the section has read one other section's ring towards it.
struct Credit {
  uint64_t lines;   // consumed since the start
  uint64_t pieces;  // of bulk messages, consumed since the start
  uint8_t reserved[48];
};
static_assert(sizeof(Credit) == kLineBytes && offsetof(Credit, lines) == 0 && offsetof(Credit, pieces) == 8);

// Offsets inside a section, derived from these five numbers; every process derives them itself and believes
// no offset that it reads.
struct Geometry {
  uint32_t sections = 0;
  uint32_t ring_lines = 0;
  uint32_t buffers = 0;
  uint32_t buffer_bytes = 0;
  uint32_t boards = 0;

  uint64_t first_section = 0;
  uint64_t section_bytes = 0;
  uint64_t region_bytes = 0;
  // within a section
  uint64_t status = 0, wake = 0, hints = 0, opened = 0, credits = 0, rings = 0, bulk = 0, first_board = 0;

  // What `sections` processes need; checks the ranges of all numbers.
  static base::Result<Geometry> make(uint32_t sections, uint32_t ring_lines, uint32_t buffers,
                                     uint32_t buffer_bytes, uint32_t boards = 0);
  // The sizes for so many local processes: long rings for few, short ones for many. `squeeze` 1 and 2 give
  // smaller ones, for where memory is scarce.
  static base::Result<Geometry> advised(uint32_t sections, uint32_t ring_lines_wish, uint32_t buffers_wish,
                                        uint32_t buffer_bytes, int squeeze = 0, uint32_t boards = 0);

  uint64_t section(uint32_t index) const { return first_section + index * section_bytes; }
  uint64_t ring(uint32_t owner, uint32_t receiver) const {
    return section(owner) + rings + uint64_t{receiver} * ring_lines * kLineBytes;
  }
  uint64_t credit(uint32_t owner, uint32_t sender) const {
    return section(owner) + credits + uint64_t{sender} * sizeof(Credit);
  }
  uint64_t board(uint32_t owner, uint32_t number) const {
    return section(owner) + first_board + number * kBoardBytes;
  }
};

struct Job {
  uint8_t bytes[16] = {};
};

class Mapping;
// Writes header and directory into zeroed memory; procs[i] is the rank that owns section i.
base::Status format_region(Mapping& mapping, const Geometry& geometry, const Job& job, uint32_t generation,
                           const uint32_t* procs);
// Takes the free numbers of the geometry from the header, checks everything else against what this
// process knows. kOk, or says what differs.
base::Status check_region(const Mapping& mapping, uint32_t sections, const Job& job, const uint32_t* procs,
                          Geometry* geometry, uint32_t* generation);

}  // namespace vicinity::region
