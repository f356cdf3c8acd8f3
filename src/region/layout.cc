// SPDX-License-Identifier: BSD-3-Clause
// Sizes and offsets of a region, and the check of a region that somebody else has formatted.
#include "region/layout.h"

#include <algorithm>
#include <cstring>

#include "region/mapping.h"

namespace vicinity::region {
namespace {

using base::fail;
using base::Result;
using base::Status;

constexpr uint32_t kSmallBuffer = 8192;  // smaller ones cost more to hand over than to copy

constexpr uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

Status check_numbers(uint32_t sections, uint32_t ring_lines, uint32_t buffers, uint32_t buffer_bytes,
                     uint32_t boards) {
  if (sections == 0 || sections > kMostSections)
    return fail(base::kUnsupported, "a region holds 1 to %u processes, not %u", kMostSections, sections);
  if (!std::has_single_bit(ring_lines) || ring_lines < 16 || ring_lines > 65536)
    return fail(base::kArgument, "a ring has 16 to 65536 lines, a power of two; not %u", ring_lines);
  if (buffers == 0 || buffers > 65536)
    return fail(base::kArgument, "a section has 1 to 65536 bulk buffers, not %u", buffers);
  if (buffer_bytes % kLineBytes != 0 || buffer_bytes < 1024 || buffer_bytes > (1u << 20))
    return fail(base::kArgument, "a bulk buffer has 1 KiB to 1 MiB, a multiple of 64 bytes; not %u",
                buffer_bytes);
  if (boards > kMostBoards)
    return fail(base::kArgument, "a section has at most %u boards, not %u", kMostBoards, boards);
  return base::kOk;
}

}  // namespace

Result<Geometry> Geometry::make(uint32_t sections, uint32_t ring_lines, uint32_t buffers,
                                uint32_t buffer_bytes, uint32_t boards) {
  VICINITY_TRY(check_numbers(sections, ring_lines, buffers, buffer_bytes, boards));
  Geometry g;
  g.sections = sections;
  g.ring_lines = ring_lines;
  g.buffers = buffers;
  g.buffer_bytes = buffer_bytes;
  g.boards = boards;
  g.status = sizeof(SectionHeader);
  g.wake = g.status + sizeof(StatusLine);
  g.hints = g.wake + sizeof(WakeLine);
  g.opened = g.hints + sizeof(HintLine);
  g.credits = g.opened + round_up(sections, kLineBytes);
  g.rings = round_up(g.credits + uint64_t{sections} * sizeof(Credit), kPageBytes);
  g.bulk = round_up(g.rings + uint64_t{sections} * ring_lines * kLineBytes, kPageBytes);
  g.first_board = round_up(g.bulk + uint64_t{buffers} * buffer_bytes, kPageBytes);
  g.section_bytes = g.first_board + boards * kBoardBytes;
  g.first_section = round_up(kHeaderBytes + uint64_t{sections} * sizeof(DirectoryEntry), kPageBytes);
  g.region_bytes = g.first_section + sections * g.section_bytes;
  return g;
}

Result<Geometry> Geometry::advised(uint32_t sections, uint32_t ring_lines_wish, uint32_t buffers_wish,
                                   uint32_t buffer_bytes, int squeeze, uint32_t boards) {
  // The whole of the rings grows with the square of the processes: 4 MiB at 16, 32 MiB at 64.
  uint32_t lines = sections <= 16 ? 256 : sections <= 64 ? 128 : 64;
  if (ring_lines_wish) lines = std::bit_ceil(ring_lines_wish);
  // Every pair has a share of its own, so that a receiver that never looks cannot starve the others.
  const uint32_t pairs = std::max(1u, sections - 1);
  // With many pairs buffers are smaller rather than memory larger.
  uint64_t wish = uint64_t{buffers_wish} * buffer_bytes;
  uint32_t least = 4 * pairs;
  if (squeeze >= 1) lines = std::max(32u, lines / 4), wish /= 4;
  if (squeeze >= 2) lines = 16, wish /= 4, least = std::max(4u, 2 * pairs);
  while (buffer_bytes >= 2 * kSmallBuffer && buffer_bytes % 128 == 0 && uint64_t{least} * buffer_bytes > wish)
    buffer_bytes /= 2;
  const uint32_t buffers = std::max(static_cast<uint32_t>(wish / buffer_bytes), least);
  return make(sections, lines, buffers, buffer_bytes, boards);
}

Status format_region(Mapping& mapping, const Geometry& geometry, const Job& job, uint32_t generation,
                     const uint32_t* procs) {
  auto* header = mapping.at<RegionHeader>(0);
  auto* directory = mapping.at<DirectoryEntry>(kHeaderBytes, geometry.sections);
  if (!header || !directory || mapping.bytes() < geometry.region_bytes)
    return fail(base::kInternal, "a region of %zu bytes is too small for %llu", mapping.bytes(),
                static_cast<unsigned long long>(geometry.region_bytes));
  header->layout_version = kLayoutVersion;
  header->header_bytes = kHeaderBytes;
  std::memcpy(header->job, job.bytes, sizeof job.bytes);
  header->generation = generation;
  header->sections = geometry.sections;
  header->region_bytes = geometry.region_bytes;
  header->section_bytes = geometry.section_bytes;
  header->directory = kHeaderBytes;
  header->ring_lines = geometry.ring_lines;
  header->buffers = geometry.buffers;
  header->buffer_bytes = geometry.buffer_bytes;
  header->boards = geometry.boards;
  for (uint32_t i = 0; i < geometry.sections; ++i)
    directory[i] = {geometry.section(i), geometry.section_bytes, procs[i], 0};
  // SYNC POINT FORMAT (release): whoever sees the magic sees header and directory.
  __atomic_store_n(&header->magic, kRegionMagic, __ATOMIC_RELEASE);
  return base::kOk;
}

Status check_region(const Mapping& mapping, uint32_t sections, const Job& job, const uint32_t* procs,
                    Geometry* geometry, uint32_t* generation) {
  const auto* shared = mapping.at<RegionHeader>(0);
  const auto* entries = mapping.at<DirectoryEntry>(kHeaderBytes, sections);
  if (!shared || !entries) return fail(base::kOther, "a region of %zu bytes is too small", mapping.bytes());
  // SYNC POINT FORMAT (acquire).
  if (__atomic_load_n(&shared->magic, __ATOMIC_ACQUIRE) != kRegionMagic)
    return fail(base::kOther, "the memory is not a region (yet): the magic number is missing");
  RegionHeader header;
  std::memcpy(&header, shared, sizeof header);
  if (header.layout_version != kLayoutVersion || header.header_bytes != kHeaderBytes)
    return fail(base::kOther,
                "the region has layout version %u, this library speaks %u; use one build of "
                "Vicinity MPI in the whole job",
                header.layout_version, kLayoutVersion);
  if (std::memcmp(header.job, job.bytes, sizeof job.bytes) != 0)
    return fail(base::kOther, "the region belongs to another job");
  if (header.sections != sections)
    return fail(base::kOther, "the region is laid out for %u processes, expected are %u", header.sections,
                sections);
  Result<Geometry> derived =
      Geometry::make(header.sections, header.ring_lines, header.buffers, header.buffer_bytes, header.boards);
  VICINITY_TRY(derived.status());
  if (header.region_bytes != derived->region_bytes || header.section_bytes != derived->section_bytes ||
      header.directory != kHeaderBytes || mapping.bytes() < derived->region_bytes)
    return fail(base::kOther, "the sizes in the region's header contradict each other (%zu bytes are mapped)",
                mapping.bytes());
  for (uint32_t i = 0; i < sections; ++i) {
    DirectoryEntry entry;
    std::memcpy(&entry, entries + i, sizeof entry);
    if (entry.proc != procs[i] || entry.offset != derived->section(i) ||
        entry.bytes != derived->section_bytes)
      return fail(base::kOther, "entry %u of the region's directory names rank %u, expected is rank %u", i,
                  entry.proc, procs[i]);
  }
  *geometry = *derived;
  *generation = header.generation;
  return base::kOk;
}

}  // namespace vicinity::region
