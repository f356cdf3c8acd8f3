// SPDX-License-Identifier: BSD-3-Clause
// memfd first, file second; the creator decides who is in.
#include "peer/forming.h"

#include <unistd.h>

#include <cinttypes>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/param.h"
#include "base/progress.h"
#include "region/backing.h"

namespace vicinity::peer {
namespace {

using base::fail;
using base::Status;

base::Param<int64_t> coll_boards{
    "VICINITY_COLL_BOARDS",
    "peer",
    0,
    0,
    region::kMostBoards,
    "How many communicators at a time may use the direct path of collectives, about 200 KB of address space "
    "per process each; 0: by the number of local processes."};

// In a memfd only what is used costs memory; a file is reserved in full.
uint32_t boards_for(size_t processes, bool reserved, int squeeze) {
  if (squeeze > 0) return squeeze == 1 ? 1 : 0;
  if (coll_boards.get() != 0) return static_cast<uint32_t>(coll_boards.get());
  const uint32_t many = processes <= 16 ? 16 : processes <= 64 ? 8 : 4;
  return reserved ? many / 4 : many;
}

constexpr int64_t kPatience = 15'000'000'000;  // ns: a loaded machine may be slow, a broken one must not hang
// For what may never come, because the other runs under another kernel after all.
constexpr int64_t kDoubtful = 5'000'000'000;

template <class Condition>
bool wait_for(Condition&& condition, int64_t patience) {
  base::Patience left(patience);
  bool good = false;
  base::wait_until([&] { return (good = condition()) || left.over(); });
  return good;
}

std::string words(Status status) { return base::failure_text(status.code()); }

}  // namespace

bool Forming::refuse_memfd = false;

Forming::Forming(const std::vector<Card>& cards, std::vector<uint32_t> group, uint32_t self, Way first)
    : cards_(cards), group_(std::move(group)), self_(self), first_(first) {
  const Card& card = creator_card();
  // The same directory may have another path in our mount namespace.
  file_.path = cards[group_[self]].directory + "/vicinity-region-" + std::to_string(card.uid) + "-";
  for (uint8_t byte : card.nonce.bytes) {
    file_.path += "0123456789abcdef"[byte >> 4];
    file_.path += "0123456789abcdef"[byte & 15];
  }
}

Status Forming::format(region::Mapping mapping, const region::Geometry& geometry) {
  VICINITY_TRY(region::format_region(mapping, geometry, creator_card().nonce, 1, group_.data()));
  generation_ = 1;
  geometry_ = geometry;
  return take(std::move(mapping));
}

Status Forming::take(region::Mapping mapping) {
  auto* header = mapping.at<region::RegionHeader>(0);
  if (!header) return fail(base::kInternal, "a region without a header");
  mapping_ = std::move(mapping);
  phase_ = &header->phase;
  return base::kOk;
}

Status Forming::create_memfd() {
  const Card& card = creator_card();
  auto geometry =
      region::Geometry::advised(static_cast<uint32_t>(group_.size()), card.ring_lines, card.buffers,
                                card.buffer_bytes, 0, boards_for(group_.size(), false, 0));
  VICINITY_TRY(geometry.status());
  region::Offer offer;
  offer.fd = card.memfd;
  auto mapping = region::Memfd::create(geometry->region_bytes, offer);
  VICINITY_TRY(mapping.status());  // the descriptor is closed now, so that nobody waits for it
  return format(std::move(*mapping), *geometry);
}

// A file is reserved in full, so it may have to be smaller than we like.
Status Forming::create_file() {
  const Card& card = creator_card();
  region::File::sweep(card.directory);
  Status status = base::kOk;
  for (int squeeze = 0; squeeze <= 2; ++squeeze) {
    auto geometry =
        region::Geometry::advised(static_cast<uint32_t>(group_.size()), card.ring_lines, card.buffers,
                                  card.buffer_bytes, squeeze, boards_for(group_.size(), true, squeeze));
    VICINITY_TRY(geometry.status());
    auto mapping = region::File::create(geometry->region_bytes, file_);
    if (mapping.ok()) return format(std::move(*mapping), *geometry);
    status = mapping.status();
    if (status.code() != base::kNoMemory) return status;
    VICINITY_LOG(kInfo, "%s", words(status).c_str());
  }
  return status;
}

Status Forming::adopt(region::Mapping mapping) {
  VICINITY_TRY(region::check_region(mapping, static_cast<uint32_t>(group_.size()), creator_card().nonce,
                                    group_.data(), &geometry_, &generation_));
  return take(std::move(mapping));
}

Status Forming::open_once(bool file) {
  region::Offer offer = file_;
  offer.pid = creator_card().pid;
  offer.fd = creator_card().memfd;
  auto mapping = file ? region::File::open(offer) : region::Memfd::open(offer);
  VICINITY_TRY(mapping.status());
  return adopt(std::move(*mapping));
}

// The creator may be slower than we are. A memfd has been there since before the first fence, so only its
// content is waited for; whoever cannot open it will not be able to later.
Status Forming::open(bool file, int64_t patience) {
  if (!file && refuse_memfd) return fail(base::kOther, "a test refuses the memfd");
  Status status = base::kOk;
  const bool good = wait_for(
      [&] {
        status = open_once(file);
        if (status.ok() || file) return status.ok();
        const std::string why = words(status);
        return why.find("empty") == std::string::npos && why.find("magic") == std::string::npos;
      },
      patience);
  if (!good && status.ok()) return fail(base::kOther, "rank %u did not create the region in time", group_[0]);
  return status;
}

void Forming::attach() {
  auto* header = mapping_.at<region::SectionHeader>(geometry_.section(self_));
  header->proc = group_[self_];
  header->generation = generation_;
  // SYNC POINT ATTACH (release): pairs with attached().
  __atomic_store_n(&header->magic, region::kSectionMagic, __ATOMIC_RELEASE);
}

bool Forming::attached(uint32_t index) const {
  const auto* header = mapping_.at<region::SectionHeader>(geometry_.section(index));
  return __atomic_load_n(&header->magic, __ATOMIC_ACQUIRE) == region::kSectionMagic;
}

bool Forming::all_attached() const {
  for (uint32_t i = 0; i < group_.size(); ++i)
    if (!attached(i)) return false;
  return true;
}

// SYNC POINT PHASE (release): who is in, then the word that it is decided.
void Forming::admit() {
  auto* directory = mapping_.at<region::DirectoryEntry>(region::kHeaderBytes, group_.size());
  for (uint32_t i = 0; i < group_.size(); ++i)
    __atomic_store_n(&directory[i].admitted, attached(i) ? 1u : 0u, __ATOMIC_RELAXED);
  __atomic_store_n(phase_, uint32_t{region::kComplete}, __ATOMIC_RELEASE);
  read_admitted();
}

void Forming::read_admitted() {
  const auto* directory = mapping_.at<region::DirectoryEntry>(region::kHeaderBytes, group_.size());
  admitted_.resize(group_.size());
  for (uint32_t i = 0; i < group_.size(); ++i)
    admitted_[i] = __atomic_load_n(&directory[i].admitted, __ATOMIC_RELAXED) == 1;
}

// SYNC POINT PHASE (acquire). Waits for the creator's word; true if it was kComplete.
bool Forming::decided() {
  uint32_t phase = region::kForming;
  (void)wait_for([&] { return (phase = __atomic_load_n(phase_, __ATOMIC_ACQUIRE)) != region::kForming; },
                 kPatience);
  if (phase == region::kComplete) read_admitted();
  return phase == region::kComplete;
}

std::string Forming::trouble() const {
  if (in()) return "";
  std::string text = memfd_trouble_;
  if (!file_trouble_.empty()) text += (text.empty() ? "" : "; ") + file_trouble_;
  if (text.empty()) text = "rank " + std::to_string(group_[0]) + " did not take it into the shared region";
  return text;
}

void Forming::try_first() {
  const bool memfd = first_ == Way::kMemfd;
  const Status status = memfd ? (creator() ? create_memfd() : open(false, kPatience))
                              : (creator() ? create_file() : open(true, kPatience));
  if (status.ok()) return attach();
  (memfd ? memfd_trouble_ : file_trouble_) = words(status);
  VICINITY_LOG(kInfo, "region as a %s: %s", memfd ? "memfd" : "file", words(status).c_str());
}

void Forming::settle() {
  if (first_ == Way::kMemfd && settle_memfd()) return;
  settle_file();
}

// True if it stays with the memfd, or with nothing; else a file is there or about to be.
bool Forming::settle_memfd() {
  const bool only = creator_card().backing == "memfd";
  if (creator() && mapping_) {
    if (!only && !all_attached() && replace_memfd()) return false;
    admit();
    return true;
  }
  if (!creator() && mapping_ && decided()) return true;
  mapping_ = region::Mapping();
  if (only) return true;
  const Status status = creator() ? create_file() : open(true, kDoubtful);
  if (status.ok()) {
    attach();
  } else {
    file_trouble_ = words(status);
  }
  return !status.ok();
}

// The creator's way from a memfd, which some could not open, to a file for all.
bool Forming::replace_memfd() {
  region::Mapping memfd = std::move(mapping_);
  uint32_t* const phase = phase_;
  const region::Geometry geometry = geometry_;
  const Status status = create_file();
  if (status.ok()) {
    attach();
    __atomic_store_n(phase, uint32_t{region::kSuperseded}, __ATOMIC_RELEASE);
    return true;
  }
  VICINITY_LOG(kInfo, "some cannot open the memfd, and there can be no file: %s", words(status).c_str());
  mapping_ = std::move(memfd);
  phase_ = phase;
  geometry_ = geometry;
  return false;
}

// Where the file came first, all have tried before the second fence; otherwise they are just about to.
void Forming::settle_file() {
  if (!mapping_) return;
  if (!creator()) {
    if (!decided()) mapping_ = region::Mapping();
    return;
  }
  if (first_ == Way::kMemfd) (void)wait_for([&] { return all_attached(); }, kDoubtful);
  region::File::unlink(file_);  // from here on nothing is left behind, whoever dies
  admit();
}

}  // namespace vicinity::peer
