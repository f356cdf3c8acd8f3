// SPDX-License-Identifier: BSD-3-Clause
// A host region: memory that outlives jobs and that processes of several guests, containers and users map. It
// holds a directory of jobs, and hands each an extent in which a region (layout.h) lies unchanged.
// docs/formats/host-region.md says the same in words.
//
//   0        HostHeader
//   4096     JobEntry[kHostEntries]
//   12288    owners: one word for each chunk of the data area, the claim of the job that holds it
//   data     chunks
//
// Everything is claimed by one compare-and-swap and given back by one, so that there is no lock that a dead
// process could hold. A chunk belongs to a job only while the job's claim stands in the directory: freeing
// the entry frees the chunks. Formatting writes what every process derives alike, so that any number may do
// it at once, and any may die.
//
// What is read here may be a lie: a word is loaded once and checked, an entry is copied and then checked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "region/layout.h"
#include "region/mapping.h"

namespace vicinity::region {

inline constexpr uint64_t kHostMagic = 0x31475254534f4856;  // "VHOSTRG1"
inline constexpr uint32_t kHostVersion = 1;
inline constexpr uint32_t kHostEntries = 64;
inline constexpr uint64_t kHostEntriesAt = 4096;
inline constexpr uint64_t kHostOwnersAt = 12288;
inline constexpr uint32_t kMostChunks = 2048;
inline constexpr uint64_t kLeastHostBytes = 1 << 20;

struct HostHeader {
  uint64_t magic;  // kHostMagic, stored last with release
  uint32_t version;
  uint32_t header_bytes;  // sizeof(HostHeader)
  uint64_t identity[2];   // random, each word by the first who swaps it from 0
  uint64_t region_bytes;  // all else follows from this
  uint32_t chunk_bytes;
  uint32_t chunks;
  uint32_t entries;      // kHostEntries
  uint32_t epoch;        // how often it has been set up, from 1
  uint32_t generations;  // counted up by every job; part of every line's sequence
  uint8_t reserved[68];
};
static_assert(sizeof(HostHeader) == 128);
static_assert(offsetof(HostHeader, version) == 8 && offsetof(HostHeader, header_bytes) == 12);
static_assert(offsetof(HostHeader, identity) == 16 && offsetof(HostHeader, region_bytes) == 32);
static_assert(offsetof(HostHeader, chunk_bytes) == 40 && offsetof(HostHeader, chunks) == 44);
static_assert(offsetof(HostHeader, entries) == 48 && offsetof(HostHeader, epoch) == 52);
static_assert(offsetof(HostHeader, generations) == 56);

enum JobState : uint32_t { kBuilding = 0, kReady = 1 };

struct JobEntry {
  uint64_t claim;  // 0: free; else random, swapped in by the creator
  uint32_t state;  // JobState, by the creator
  uint32_t generation;
  uint8_t job[16];  // nonce of the creator's card
  uint64_t offset;  // of the extent, from the start of the host region
  uint64_t bytes;
  uint32_t processes;  // of the whole job: bytes of the VM list at the start of the extent
  uint32_t members;    // sections of the region behind the list
  uint8_t reserved[8];
  uint64_t beat;  // changed by any member at least once a second
  uint8_t reserved2[56];
};
static_assert(sizeof(JobEntry) == 128);
static_assert(offsetof(JobEntry, state) == 8 && offsetof(JobEntry, generation) == 12);
static_assert(offsetof(JobEntry, job) == 16 && offsetof(JobEntry, offset) == 32);
static_assert(offsetof(JobEntry, bytes) == 40 && offsetof(JobEntry, processes) == 48);
static_assert(offsetof(JobEntry, members) == 52 && offsetof(JobEntry, beat) == 64);
static_assert(kHostEntriesAt + kHostEntries * sizeof(JobEntry) == kHostOwnersAt);

// Where things are in a host region of so many bytes.
struct HostLayout {
  uint64_t region_bytes = 0, data = 0;
  uint32_t chunk_bytes = 0, chunks = 0;
  static base::Result<HostLayout> of(uint64_t region_bytes);
};

// A job's hold on a part of the region.
struct HostClaim {
  uint32_t entry = 0;
  uint64_t token = 0;
  uint64_t offset = 0, bytes = 0;
  uint32_t processes = 0, members = 0, generation = 0;

  uint64_t list_bytes() const { return (uint64_t{processes} + kPageBytes - 1) / kPageBytes * kPageBytes; }
};

class HostRegion {
 public:
  HostRegion() = default;
  // Takes memory over: checks it if it is a host region, makes it one if it is all zero at the start.
  static base::Result<HostRegion> adopt(Mapping whole);
  // Whatever was there is lost, and jobs that run in it too.
  static base::Status erase(Mapping& whole);

  explicit operator bool() const { return bool(whole_); }
  const Mapping& whole() const { return whole_; }
  const HostLayout& layout() const { return layout_; }
  std::array<uint8_t, 16> identity() const;
  uint32_t epoch() const;

  // An entry and an extent of at least `bytes`; kNoMemory when there is none free.
  base::Result<HostClaim> claim(const Job& job, uint32_t processes, uint32_t members, uint64_t bytes);
  void publish(const HostClaim& claim);
  base::Result<HostClaim> find(const Job& job) const;
  bool holds(const HostClaim& claim) const;
  // Says that the job lives; false if its place has been taken away.
  bool beat(const HostClaim& claim);
  void release(const HostClaim& claim);
  // Watches all jobs for so long and frees the places of those that gave no sign of life. Returns how many.
  uint32_t reclaim(int64_t watch_ns);

  struct Use {
    uint32_t jobs = 0, free_chunks = 0;
    uint64_t largest_free = 0;  // bytes
  };
  Use use() const;

  // The part of the memory that the claim names.
  std::byte* extent(const HostClaim& claim) const { return whole_.base() + claim.offset; }

 private:
  JobEntry* entry(uint32_t index) const { return whole_.at<JobEntry>(kHostEntriesAt) + index; }
  uint64_t* owners() const { return whole_.at<uint64_t>(kHostOwnersAt); }
  HostHeader* header() const { return whole_.at<HostHeader>(0); }
  std::vector<uint64_t> free_map() const;
  base::Result<uint64_t> take_chunks(uint64_t token, uint32_t count);
  bool take_run(const std::vector<uint64_t>& seen, uint32_t first, uint32_t count, uint64_t token);

  Mapping whole_;
  HostLayout layout_;
};

}  // namespace vicinity::region
