// SPDX-License-Identifier: BSD-3-Clause
// Setting a host region up, claiming and reclaiming places in it.
#include "region/host_region.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstring>

namespace vicinity::region {
namespace {

using base::fail;
using base::Result;
using base::Status;

constexpr uint64_t kTaken = UINT64_MAX;  // in a map of free chunks: somebody lives there

template <class T>
T load(const T* word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
template <class T>
void store(T* word, T value) {
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
}
bool swap(uint64_t* word, uint64_t from, uint64_t to) {
  return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

uint64_t random_word() {
  uint64_t word = 0;
  while (word == 0 || word == kTaken)
    if (getrandom(&word, sizeof word, 0) != sizeof word) word = 0;
  return word;
}

bool all_zero(const Mapping& whole, uint64_t from, uint64_t to) {
  const auto* words = whole.at<uint64_t>(0, to / 8);
  for (uint64_t i = from / 8; i < to / 8; ++i)
    if (__atomic_load_n(words + i, __ATOMIC_RELAXED) != 0) return false;
  return true;
}

// SYNC POINT HOST (release): every process that comes first writes the same, and the magic at last.
void format(HostHeader* header, const HostLayout& layout) {
  store(&header->version, kHostVersion);
  store(&header->header_bytes, static_cast<uint32_t>(sizeof *header));
  for (uint64_t& word : header->identity) swap(&word, 0, random_word());
  store(&header->region_bytes, layout.region_bytes);
  store(&header->chunk_bytes, layout.chunk_bytes);
  store(&header->chunks, layout.chunks);
  store(&header->entries, kHostEntries);
  uint32_t none = 0;
  __atomic_compare_exchange_n(&header->epoch, &none, 1u, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  __atomic_store_n(&header->magic, kHostMagic, __ATOMIC_RELEASE);
}

Status check(const HostHeader& header, uint64_t mapped, HostLayout* layout) {
  if (header.version != kHostVersion || header.header_bytes != sizeof header)
    return fail(base::kOther,
                "the host region has version %u, this library speaks %u; erase it with `vicinity doctor "
                "--erase` when no job uses it",
                header.version, kHostVersion);
  Result<HostLayout> derived = HostLayout::of(header.region_bytes);
  VICINITY_TRY(derived.status());
  if (header.region_bytes > mapped || header.chunk_bytes != derived->chunk_bytes ||
      header.chunks != derived->chunks || header.entries != kHostEntries)
    return fail(base::kOther,
                "the header of the host region is damaged (it claims %" PRIu64 " bytes, %" PRIu64
                " are mapped); erase it with `vicinity doctor --erase` when no job uses it",
                header.region_bytes, mapped);
  *layout = *derived;
  return base::kOk;
}

}  // namespace

Result<HostLayout> HostLayout::of(uint64_t region_bytes) {
  if (region_bytes < kLeastHostBytes || region_bytes > uint64_t{1} << 46)
    return fail(base::kOther, "a host region has 1 MiB to 64 TiB, not %" PRIu64 " bytes", region_bytes);
  HostLayout l;
  l.region_bytes = region_bytes;
  const uint64_t chunk =
      std::max<uint64_t>(std::bit_ceil((region_bytes + kMostChunks - 1) / kMostChunks), 16384);
  const uint64_t tables = kHostOwnersAt + kMostChunks * sizeof(uint64_t);
  l.chunk_bytes = static_cast<uint32_t>(std::min<uint64_t>(chunk, 1u << 31));
  l.data = (tables + l.chunk_bytes - 1) / l.chunk_bytes * l.chunk_bytes;
  l.chunks = static_cast<uint32_t>(std::min<uint64_t>((region_bytes - l.data) / l.chunk_bytes, kMostChunks));
  return l;
}

Result<HostRegion> HostRegion::adopt(Mapping whole) {
  Result<HostLayout> layout = HostLayout::of(whole.bytes());
  VICINITY_TRY(layout.status());
  auto* shared = whole.at<HostHeader>(0);
  if (load(&shared->magic) != kHostMagic) {
    // Others may be setting it up just now: what they write is in the header only, until the magic is there.
    const bool fresh = all_zero(whole, sizeof(HostHeader), layout->data);
    const uint64_t magic = load(&shared->magic);
    if (magic != kHostMagic && (magic != 0 || !fresh))
      return fail(base::kOther,
                  "it holds something that is no host region; if nobody needs that, erase it with `vicinity "
                  "doctor --erase`");
    if (magic == 0) format(shared, *layout);
  }
  HostHeader header;
  std::memcpy(&header, shared, sizeof header);
  HostRegion region;
  VICINITY_TRY(check(header, whole.bytes(), &region.layout_));
  region.whole_ = std::move(whole);
  return region;
}

Status HostRegion::erase(Mapping& whole) {
  Result<HostLayout> layout = HostLayout::of(whole.bytes());
  VICINITY_TRY(layout.status());
  auto* header = whole.at<HostHeader>(0);
  const uint32_t epoch = load(&header->magic) == kHostMagic ? load(&header->epoch) : 0;
  __atomic_store_n(&header->magic, uint64_t{0}, __ATOMIC_SEQ_CST);
  std::memset(whole.base(), 0, layout->data);
  store(&header->epoch, epoch + 1);
  format(header, *layout);
  return base::kOk;
}

std::array<uint8_t, 16> HostRegion::identity() const {
  const uint64_t words[2] = {load(&header()->identity[0]), load(&header()->identity[1])};
  std::array<uint8_t, 16> bytes;
  std::memcpy(bytes.data(), words, sizeof words);
  return bytes;
}

uint32_t HostRegion::epoch() const { return load(&header()->epoch); }

// For each chunk the word that was read, or kTaken. The claims are read after the owners, which load() sees
// to: a job's claim is there before any chunk of it, so an owner that is not among them now never will be.
std::vector<uint64_t> HostRegion::free_map() const {
  std::vector<uint64_t> seen(layout_.chunks);
  for (uint32_t i = 0; i < layout_.chunks; ++i) seen[i] = load(owners() + i);
  std::array<uint64_t, kHostEntries> claims;
  for (uint32_t i = 0; i < kHostEntries; ++i) claims[i] = load(&entry(i)->claim);
  for (uint64_t& owner : seen)
    if (owner != 0 && std::find(claims.begin(), claims.end(), owner) != claims.end()) owner = kTaken;
  return seen;
}

bool HostRegion::take_run(const std::vector<uint64_t>& seen, uint32_t first, uint32_t count, uint64_t token) {
  for (uint32_t i = 0; i < count; ++i) {
    if (swap(owners() + first + i, seen[first + i], token)) continue;
    while (i-- > 0) swap(owners() + first + i, token, 0);
    return false;
  }
  return true;
}

// First fit. Another may be faster with some chunk; then everything is looked at anew.
Result<uint64_t> HostRegion::take_chunks(uint64_t token, uint32_t count) {
  for (int attempt = 0; attempt < 64; ++attempt) {
    const std::vector<uint64_t> seen = free_map();
    uint32_t run = 0, at = 0;
    for (; at < layout_.chunks && run < count; ++at) run = seen[at] == kTaken ? 0 : run + 1;
    if (run < count)
      return fail(
          base::kNoMemory,
          "the host region of %" PRIu64 " KiB has no room for %" PRIu64
          " KiB: make it larger, or the job's part smaller (VICINITY_RING_LINES, VICINITY_RING_BUFFERS)",
          layout_.region_bytes >> 10, uint64_t{count} * layout_.chunk_bytes >> 10);
    if (take_run(seen, at - count, count, token))
      return layout_.data + uint64_t{at - count} * layout_.chunk_bytes;
  }
  return fail(base::kNoMemory, "the host region changes too fast to find room in it");
}

Result<HostClaim> HostRegion::claim(const Job& job, uint32_t processes, uint32_t members, uint64_t bytes) {
  HostClaim c;
  c.token = random_word();
  c.processes = processes;
  c.members = members;
  c.bytes = (bytes + layout_.chunk_bytes - 1) / layout_.chunk_bytes * layout_.chunk_bytes;
  if (c.bytes / layout_.chunk_bytes > layout_.chunks)
    return fail(base::kNoMemory, "the host region has %" PRIu64 " KiB, the job needs %" PRIu64 " KiB",
                layout_.region_bytes >> 10, c.bytes >> 10);
  while (c.entry < kHostEntries && !swap(&entry(c.entry)->claim, 0, c.token)) ++c.entry;
  if (c.entry == kHostEntries)
    return fail(base::kNoMemory, "the host region holds %u jobs already, as many as it can", kHostEntries);
  JobEntry* e = entry(c.entry);
  store(&e->state, uint32_t{kBuilding});
  Result<uint64_t> offset = take_chunks(c.token, static_cast<uint32_t>(c.bytes / layout_.chunk_bytes));
  if (!offset.ok() || !holds(c)) {
    release(c);
    if (!offset.ok()) return offset.status();
    return fail(base::kNoMemory, "another job took our place in the host region for dead");
  }
  c.offset = *offset;
  c.generation = __atomic_add_fetch(&header()->generations, 1, __ATOMIC_SEQ_CST);
  store(&e->generation, c.generation);
  std::memcpy(e->job, job.bytes, sizeof e->job);
  store(&e->offset, c.offset);
  store(&e->bytes, c.bytes);
  store(&e->processes, processes);
  store(&e->members, members);
  return c;
}

// SYNC POINT JOB (release): entry and extent are written.
void HostRegion::publish(const HostClaim& claim) {
  __atomic_store_n(&entry(claim.entry)->state, uint32_t{kReady}, __ATOMIC_RELEASE);
}

Result<HostClaim> HostRegion::find(const Job& job) const {
  for (uint32_t i = 0; i < kHostEntries; ++i) {
    // SYNC POINT JOB (acquire).
    if (load(&entry(i)->state) != kReady) continue;
    JobEntry e;
    std::memcpy(&e, entry(i), sizeof e);
    if (e.claim == 0 || std::memcmp(e.job, job.bytes, sizeof e.job) != 0) continue;
    if (e.bytes == 0 || e.bytes % layout_.chunk_bytes != 0 || e.offset % layout_.chunk_bytes != 0 ||
        e.offset < layout_.data || e.offset > layout_.region_bytes ||
        e.bytes > layout_.region_bytes - e.offset || e.processes > e.bytes)
      return fail(base::kOther, "the host region's entry of this job is damaged");
    return HostClaim{i, e.claim, e.offset, e.bytes, e.processes, e.members, e.generation};
  }
  return fail(base::kOther, "the host region has no entry of this job");
}

bool HostRegion::holds(const HostClaim& claim) const {
  return load(&entry(claim.entry)->claim) == claim.token;
}

bool HostRegion::beat(const HostClaim& claim) {
  JobEntry* e = entry(claim.entry);
  store(&e->beat, load(&e->beat) + 1);  // several may: any change will do
  return holds(claim);
}

void HostRegion::release(const HostClaim& claim) { swap(&entry(claim.entry)->claim, claim.token, 0); }

uint32_t HostRegion::reclaim(int64_t watch_ns) {
  uint64_t claims[kHostEntries], beats[kHostEntries];
  for (uint32_t i = 0; i < kHostEntries; ++i) {
    claims[i] = load(&entry(i)->claim);
    beats[i] = load(&entry(i)->beat);
  }
  timespec rest{watch_ns / 1'000'000'000, watch_ns % 1'000'000'000};
  while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
  }
  uint32_t freed = 0;
  for (uint32_t i = 0; i < kHostEntries; ++i)
    if (claims[i] != 0 && load(&entry(i)->beat) == beats[i]) freed += swap(&entry(i)->claim, claims[i], 0);
  return freed;
}

HostRegion::Use HostRegion::use() const {
  Use use;
  for (uint32_t i = 0; i < kHostEntries; ++i) use.jobs += load(&entry(i)->claim) != 0;
  uint64_t run = 0;
  for (uint64_t owner : free_map()) {
    run = owner == kTaken ? 0 : run + 1;
    use.free_chunks += owner != kTaken;
    use.largest_free = std::max(use.largest_free, run * layout_.chunk_bytes);
  }
  return use;
}

}  // namespace vicinity::region
