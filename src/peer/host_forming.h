// SPDX-License-Identifier: BSD-3-Clause
// The locality detector's second half: processes that map one host region, perhaps in different guests, find
// each other in it.
//
// The lowest rank of the proposal claims a place in the region's directory; its extent begins with the VM
// list, one byte for each rank of the whole job. Whoever finds the entry by the creator's nonce and may write
// sets its own byte, without any lock. After the second fence the list is the truth: set bytes are the
// members, their order is the local order. From then on a member changes its byte twice a second, by a thread
// of its own, as a sign of life for those who cannot see its process.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "peer/card.h"
#include "region/host_region.h"

namespace vicinity::peer {

// One byte for each rank; 0: not here. Memory of others: every byte is loaded once.
class VmList {
 public:
  VmList() = default;
  VmList(std::byte* bytes, uint32_t ranks) : bytes_(reinterpret_cast<uint8_t*>(bytes)), ranks_(ranks) {}
  uint8_t look(uint32_t rank) const { return __atomic_load_n(bytes_ + rank, __ATOMIC_ACQUIRE); }
  bool has(uint32_t rank) const { return rank < ranks_ && look(rank) != 0; }
  // Sets our byte, or changes it; never to 0.
  void beat(uint32_t rank) {
    const uint8_t next = static_cast<uint8_t>(look(rank) + 1);
    __atomic_store_n(bytes_ + rank, next ? next : uint8_t{1}, __ATOMIC_RELEASE);
  }
  void leave(uint32_t rank) { __atomic_store_n(bytes_ + rank, uint8_t{0}, __ATOMIC_SEQ_CST); }
  // The ranks that are here, ascending: place in this list = local rank.
  std::vector<uint32_t> members() const;
  bool empty() const;

 private:
  uint8_t* bytes_ = nullptr;
  uint32_t ranks_ = 0;
};

// How long a peer's byte in the VM list has stood still. Only time in which we look again and again counts:
// while we compute, the byte may go all the way round unseen; and where a whole host has been stopped, who
// runs again first would find all the others silent for as long as itself.
class SignOfLife {
 public:
  SignOfLife(uint8_t sign, int64_t now) : seen_(sign), looked_(now) {}
  int64_t silence(uint8_t sign, int64_t now);  // ns

 private:
  uint8_t seen_;
  int64_t looked_, silence_ = 0;
};

// Our place in a host region, for as long as the job lives.
class HostMembership {
 public:
  HostMembership(region::HostRegion& region, const region::HostClaim& claim, uint32_t rank);
  HostMembership(const HostMembership&) = delete;
  HostMembership& operator=(const HostMembership&) = delete;
  ~HostMembership();  // leaves; the last one gives the place back

  VmList& list() { return list_; }
  // Watches the sign of life of `rank`. silent() tells, once each, those that have given none for too long;
  // all of them if somebody took our place away, because it thought us dead.
  struct Silence {
    uint32_t rank;
    const char* why;
  };
  void watch(uint32_t rank);
  std::vector<Silence> silent();

 private:
  void run();

  region::HostRegion& region_;
  const region::HostClaim claim_;
  const uint32_t rank_;
  const int pid_;  // a forked child is not a member
  VmList list_;
  struct Watched {
    uint32_t rank;
    SignOfLife sign;
  };
  std::vector<Watched> watched_;
  std::atomic<bool> evicted_{false};
  std::atomic<uint32_t> end_{0};  // futex
  std::thread thread_;
};

// The same interface as Forming.
class HostForming {
 public:
  HostForming(const std::vector<Card>& cards, std::vector<uint32_t> group, uint32_t self,
              region::HostRegion& region);

  void try_first();  // before the second fence
  void settle();     // after it

  bool in() const { return !admitted_.empty() && admitted_[self_]; }
  const std::vector<uint8_t>& admitted() const { return admitted_; }
  std::string trouble() const { return in() ? "" : trouble_; }
  region::Mapping& mapping() { return mapping_; }
  const region::Geometry& geometry() const { return geometry_; }
  uint32_t generation() const { return claim_.generation; }
  const std::vector<uint32_t>& group() const { return group_; }
  uint32_t self() const { return self_; }
  std::unique_ptr<HostMembership>& membership() { return membership_; }

 private:
  base::Status create();
  base::Status claim(region::Geometry* geometry);
  base::Status open();
  region::Mapping window() const;
  void be_member();
  void attach();

  const std::vector<Card>& cards_;
  const std::vector<uint32_t> group_;
  const uint32_t self_;
  region::HostRegion& region_;
  region::HostClaim claim_;
  region::Mapping mapping_;
  region::Geometry geometry_;
  std::unique_ptr<HostMembership> membership_;
  std::vector<uint8_t> admitted_;
  std::string trouble_ = "it has no place in the host region";
};

// The host region of this process as its settings want it. What goes wrong is told and is a reason to use
// something else, no failure of the job.
base::Result<region::HostRegion> open_host_region();

}  // namespace vicinity::peer
