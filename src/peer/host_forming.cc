// SPDX-License-Identifier: BSD-3-Clause
// Creating and finding a job's place in a host region; the VM list; the sign of life.
#include "peer/host_forming.h"

#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/param.h"
#include "region/host_backing.h"

namespace vicinity::peer {
namespace {

using base::fail;
using base::Status;

base::Param<int64_t> dead_ms{"VICINITY_HOST_REGION_DEAD_MS",
                             "peer",
                             10000,
                             1000,
                             3600000,
                             "A job that gives no sign of life in the host region for so long may lose its "
                             "place there to another that "
                             "needs it. Signs are given every 250 ms."};

constexpr int64_t kBeat = 250'000'000;         // ns
constexpr int64_t kRarest = 1'000'000'000;     // between two looks at a peer, for the time to count
constexpr int64_t kPatience = 15'000'000'000;  // for the creator's entry, besides what reclaiming takes

int64_t host_patience_ns() { return dead_ms.get() * 1'000'000; }

std::string words(Status status) { return base::failure_text(status.code()); }

// All that a new region must find zero; bulk buffers are written before they are read.
void clear(std::byte* sections, const region::Geometry& g) {
  std::memset(sections, 0, g.first_section);
  for (uint32_t i = 0; i < g.sections; ++i) {
    std::memset(sections + g.section(i), 0, g.bulk);
    std::memset(sections + g.section(i) + g.first_board, 0, g.section_bytes - g.first_board);
  }
}

}  // namespace

std::vector<uint32_t> VmList::members() const {
  std::vector<uint32_t> members;
  // Most bytes of a large job are 0: eight at a time.
  uint32_t rank = 0;
  for (; rank + 8 <= ranks_; rank += 8) {
    const uint64_t eight =
        __atomic_load_n(reinterpret_cast<const uint64_t*>(bytes_ + rank), __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; eight != 0 && i < 8; ++i)
      if (eight >> 8 * i & 0xff) members.push_back(rank + i);
  }
  for (; rank < ranks_; ++rank)
    if (look(rank)) members.push_back(rank);
  return members;
}

bool VmList::empty() const {
  for (uint32_t rank = 0; rank < ranks_; ++rank)
    if (look(rank)) return false;
  return true;
}

HostMembership::HostMembership(region::HostRegion& region, const region::HostClaim& claim, uint32_t rank)
    : region_(region),
      claim_(claim),
      rank_(rank),
      pid_(getpid()),
      list_(region.extent(claim), claim.processes) {
  list_.beat(rank_);
  region_.beat(claim_);
  sigset_t all, before;  // signals are for the program's own threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

HostMembership::~HostMembership() {
  if (getpid() != pid_) {
    thread_.detach();
    return;
  }
  end_.store(1);
  syscall(SYS_futex, &end_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  thread_.join();
  if (!region_.holds(claim_)) return;  // what lies there now is not ours
  list_.leave(rank_);
  if (list_.empty()) region_.release(claim_);
}

int64_t SignOfLife::silence(uint8_t sign, int64_t now) {
  if (sign != seen_) silence_ = 0;
  silence_ += std::min(now - looked_, kRarest);
  seen_ = sign;
  looked_ = now;
  return silence_;
}

void HostMembership::watch(uint32_t rank) {
  watched_.push_back({rank, SignOfLife(list_.look(rank), base::now_ns())});
}

// Six times the patience that others have with our place: a guest may be stopped for a while.
std::vector<HostMembership::Silence> HostMembership::silent() {
  std::vector<Silence> silent;
  const bool evicted = evicted_.load(std::memory_order_relaxed);
  const int64_t now = base::now_ns();
  std::erase_if(watched_, [&](Watched& watched) {
    const bool over =
        evicted || watched.sign.silence(list_.look(watched.rank), now) >= 6 * host_patience_ns();
    if (!over) return false;
    silent.push_back({watched.rank, evicted ? "its place in the host region was taken from this job"
                                            : "it gives no sign of life in the host region"});
    return true;
  });
  return silent;
}

void HostMembership::run() {
  const timespec pause{0, kBeat};
  while (end_.load() == 0) {
    syscall(SYS_futex, &end_, FUTEX_WAIT_PRIVATE, 0, &pause, nullptr, 0);
    if (!region_.beat(claim_)) {
      evicted_.store(true, std::memory_order_relaxed);
      return;
    }
    list_.beat(rank_);
  }
}

HostForming::HostForming(const std::vector<Card>& cards, std::vector<uint32_t> group, uint32_t self,
                         region::HostRegion& region)
    : cards_(cards), group_(std::move(group)), self_(self), region_(region) {}

// Futexes and the barrier of membarrier(2) work only where all run under one kernel.
region::Mapping HostForming::window() const {
  const auto processes = static_cast<uint32_t>(cards_.size());
  region::HostClaim claim = claim_;
  claim.processes = processes;
  region::Properties properties = region_.whole().properties();
  const Card& own = cards_[group_[self_]];
  for (uint32_t rank : group_)
    if (cards_[rank].host_id != own.host_id) properties.wakeable = properties.same_kernel = false;
  return region_.whole().window(claim.offset + claim.list_bytes(), claim.bytes - claim.list_bytes(),
                                properties);
}

// As much as we like, or less; if there is not even that, whoever is dead makes room. That another job was
// faster with burying them does not matter: then too there may be room now.
Status HostForming::claim(region::Geometry* geometry) {
  const Card& card = cards_[group_[0]];
  const auto members = static_cast<uint32_t>(group_.size());
  const auto processes = static_cast<uint32_t>(cards_.size());
  const uint64_t list = region::HostClaim{.processes = processes}.list_bytes();
  Status status = base::kOk;
  for (int round = 0; round < 2; ++round) {
    for (int squeeze = 0; squeeze <= 2; ++squeeze) {
      auto advised = region::Geometry::advised(members, card.ring_lines, card.buffers,
                                               squeeze == 2 ? 2048 : card.buffer_bytes, squeeze);
      VICINITY_TRY(advised.status());
      auto claim = region_.claim(card.nonce, processes, members, list + advised->region_bytes);
      if (claim.ok()) {
        claim_ = *claim;
        *geometry = *advised;
        return base::kOk;
      }
      status = claim.status();
    }
    if (round == 0) region_.reclaim(host_patience_ns());
  }
  return status;
}

Status HostForming::create() {
  region::Geometry geometry;
  VICINITY_TRY(claim(&geometry));
  std::memset(region_.extent(claim_), 0, claim_.list_bytes());
  be_member();  // from here on we give signs of life: the rest may take long on a loaded machine
  mapping_ = window();
  clear(mapping_.base(), geometry);
  geometry_ = geometry;
  VICINITY_TRY(
      region::format_region(mapping_, geometry_, cards_[group_[0]].nonce, claim_.generation, group_.data()));
  attach();
  region_.publish(claim_);
  return base::kOk;
}

Status HostForming::open() {
  base::Patience patience(kPatience + host_patience_ns());
  for (int64_t nap_ns = 20'000; !patience.over(); nap_ns = std::min<int64_t>(2 * nap_ns, 2'000'000)) {
    auto found = region_.find(cards_[group_[0]].nonce);
    if (found.ok()) {
      if (found->processes != cards_.size() || found->list_bytes() >= found->bytes)
        return fail(base::kOther, "the host region's entry of this job is damaged");
      claim_ = *found;
      mapping_ = window();
      uint32_t generation = 0;
      const auto members = static_cast<uint32_t>(group_.size());
      VICINITY_TRY(region::check_region(mapping_, members, cards_[group_[0]].nonce, group_.data(), &geometry_,
                                        &generation));
      if (generation != claim_.generation)
        return fail(base::kOther, "the host region's entry and the region of this job differ in generation");
      be_member();
      attach();
      return base::kOk;
    }
    const timespec nap{0, nap_ns};
    nanosleep(&nap, nullptr);
  }
  return fail(base::kOther, "rank %u did not make a place in the host region in time", group_[0]);
}

void HostForming::attach() {
  auto* header = mapping_.at<region::SectionHeader>(geometry_.section(self_));
  header->proc = group_[self_];
  header->generation = claim_.generation;
  // SYNC POINT ATTACH (release): pairs with settle().
  __atomic_store_n(&header->magic, region::kSectionMagic, __ATOMIC_RELEASE);
}

void HostForming::be_member() {
  membership_ = std::make_unique<HostMembership>(region_, claim_, group_[self_]);
}

void HostForming::try_first() {
  const Status status = self_ == 0 ? create() : open();
  if (status.ok()) return;
  trouble_ = words(status);
  mapping_ = region::Mapping();
  membership_.reset();
  VICINITY_LOG(kInfo, "host region: %s", trouble_.c_str());
}

void HostForming::settle() {
  if (!membership_) return;
  const std::vector<uint32_t> members = membership_->list().members();
  admitted_.assign(group_.size(), 0);
  for (uint32_t i = 0; i < group_.size(); ++i) {
    const auto* header = mapping_.at<region::SectionHeader>(geometry_.section(i));
    admitted_[i] = std::binary_search(members.begin(), members.end(), group_[i]) &&
                   __atomic_load_n(&header->magic, __ATOMIC_ACQUIRE) == region::kSectionMagic;
  }
}

base::Result<region::HostRegion> open_host_region() {
  const std::string& setting = region::host_region_setting();
  auto memory = region::open_host_memory(setting);
  Status status = memory.status();
  if (status.ok() && !memory->mapping) return fail(base::kUnsupported, "there is none");
  if (status.ok()) {
    auto region = region::HostRegion::adopt(std::move(memory->mapping));
    if (region.ok() && memory->load_ns > region::kCachedLoadNs)
      VICINITY_LOG(kWarn, "the host region, %s, is not cached (%.0f ns a load); see vicinity doctor",
                   memory->source.c_str(), memory->load_ns);
    if (region.ok()) return region;
    status = region.status();
  }
  if (setting == "auto") {
    VICINITY_LOG(kInfo, "no host region: %s", words(status).c_str());
  } else {
    VICINITY_LOG(kWarn, "VICINITY_HOST_REGION=%s is not used: %s", setting.c_str(), words(status).c_str());
  }
  return status;
}

}  // namespace vicinity::peer
