// SPDX-License-Identifier: BSD-3-Clause
// memfd first, file second, a clear message third.
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

template <class Condition>
bool wait_for(Condition&& condition) {
  const int64_t end = base::now_ns() + kPatience;
  bool good = false;
  base::wait_until([&] { return (good = condition()) || base::now_ns() > end; });
  return good;
}

std::string words(Status status) { return base::failure_text(status.code()); }

}  // namespace

bool Forming::refuse_memfd = false;

Forming::Forming(const std::vector<Card>& cards, std::vector<uint32_t> group, uint32_t self)
    : cards_(cards), group_(std::move(group)), self_(self) {
  const Card& card = creator_card();
  file_.path = card.directory + "/vicinity-region-" + std::to_string(card.uid) + "-";
  for (uint8_t byte : card.nonce.bytes) {
    file_.path += "0123456789abcdef"[byte >> 4];
    file_.path += "0123456789abcdef"[byte & 15];
  }
  with_memfd_ = memfd_makes_sense();
}

// All ranks decide the same from the cards: a memfd is found through the creator's pid.
bool Forming::memfd_makes_sense() const {
  const Card& card = creator_card();
  if (card.memfd < 0) return false;
  if (card.backing == "memfd") return true;
  for (uint32_t rank : group_)
    if (cards_[rank].pid_namespace != card.pid_namespace || cards_[rank].uid != card.uid) return false;
  return card.backing != "file";
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
  auto geometry = region::Geometry::advised(static_cast<uint32_t>(group_.size()), card.ring_lines,
                                            card.buffers, card.buffer_bytes, 0,
                                            boards_for(group_.size(), false, 0));
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
    auto geometry = region::Geometry::advised(static_cast<uint32_t>(group_.size()), card.ring_lines,
                                              card.buffers, card.buffer_bytes, squeeze,
                                              boards_for(group_.size(), true, squeeze));
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
Status Forming::open(bool file) {
  if (!file && refuse_memfd) return fail(base::kOther, "a test refuses the memfd");
  Status status = base::kOk;
  const bool good = wait_for([&] {
    status = open_once(file);
    if (status.ok() || file) return status.ok();
    const std::string why = words(status);
    return why.find("empty") == std::string::npos && why.find("magic") == std::string::npos;
  });
  if (!good && status.ok()) return fail(base::kOther, "rank %u did not create the region in time", group_[0]);
  return status;
}

void Forming::attach() {
  auto* header = mapping_.at<region::SectionHeader>(geometry_.section(self_));
  header->proc = group_[self_];
  header->generation = generation_;
  // SYNC POINT ATTACH (release): pairs with all_attached().
  __atomic_store_n(&header->magic, region::kSectionMagic, __ATOMIC_RELEASE);
}

bool Forming::all_attached() const {
  for (uint32_t i = 0; i < group_.size(); ++i) {
    const auto* header = mapping_.at<region::SectionHeader>(geometry_.section(i));
    if (__atomic_load_n(&header->magic, __ATOMIC_ACQUIRE) != region::kSectionMagic) return false;
  }
  return true;
}

uint32_t Forming::phase() const { return __atomic_load_n(phase_, __ATOMIC_ACQUIRE); }
void Forming::set_phase(uint32_t phase) { __atomic_store_n(phase_, phase, __ATOMIC_RELEASE); }

Status Forming::missing() const {
  for (uint32_t i = 0; i < group_.size(); ++i) {
    const auto* header = mapping_.at<region::SectionHeader>(geometry_.section(i));
    if (__atomic_load_n(&header->magic, __ATOMIC_ACQUIRE) == region::kSectionMagic) continue;
    const Card& card = cards_[group_[i]];
    return fail(base::kOther, "rank %u (host %s, pid %d) has not attached to the shared region of rank %u",
                group_[i], card.host.c_str(), card.pid, group_[0]);
  }
  return base::kOk;
}

Status Forming::cannot_attach(const std::string& why) const {
  const Card& own = cards_[group_[self_]];
  const Card& card = creator_card();
  return fail(base::kOther,
              "rank %u (host %s) cannot share memory with rank %u (host %s, pid %d) although both run "
              "under one kernel: %s. Containers need a common /dev/shm (--ipc=host) or a common "
              "VICINITY_REGION_DIR; there is no network channel yet",
              group_[self_], own.host.c_str(), group_[0], card.host.c_str(), card.pid, why.c_str());
}

void Forming::try_first() {
  const Status status =
      with_memfd_ ? (creator() ? create_memfd() : open(false)) : (creator() ? create_file() : open(true));
  if (status.ok()) return attach();
  (with_memfd_ ? memfd_trouble_ : file_trouble_) = words(status);
  VICINITY_LOG(kInfo, "region as a %s: %s", with_memfd_ ? "memfd" : "file", words(status).c_str());
}

Status Forming::settle() {
  if (with_memfd_) {
    VICINITY_TRY(settle_memfd());
    if (mapping_ && phase() == region::kComplete) return base::kOk;
    // Somebody could not map it: the file.
    const Status status = creator() ? create_file() : open(true);
    if (status.ok()) {
      attach();
    } else {
      file_trouble_ = words(status);
    }
  }
  return settle_file();
}

Status Forming::settle_memfd() {
  const bool alone_allowed = creator_card().backing == "memfd";
  if (creator() && mapping_) {
    if (all_attached()) {
      set_phase(region::kComplete);
    } else if (alone_allowed) {
      set_phase(region::kAbandoned);
      return missing();
    } else {
      set_phase(region::kSuperseded);
    }
    return base::kOk;
  }
  if (alone_allowed && !mapping_) return cannot_attach(memfd_trouble_);
  if (!mapping_) return base::kOk;
  if (!wait_for([&] { return phase() != region::kForming; }))
    return fail(base::kOther, "rank %u did not finish the shared region in time", group_[0]);
  return phase() == region::kAbandoned ? missing() : base::kOk;
}

Status Forming::settle_file() {
  if (!file_trouble_.empty())
    return cannot_attach(file_trouble_ + (memfd_trouble_.empty() ? "" : "; " + memfd_trouble_));
  if (creator()) {
    const bool good = wait_for([&] { return all_attached(); });
    region::File::unlink(file_);  // from here on nothing is left behind, whoever dies
    set_phase(good ? region::kComplete : region::kAbandoned);
    return good ? base::kOk : missing();
  }
  if (!wait_for([&] { return phase() != region::kForming; }))
    return fail(base::kOther, "rank %u did not finish the shared region in time", group_[0]);
  return phase() == region::kComplete ? base::kOk : missing();
}

}  // namespace vicinity::peer
