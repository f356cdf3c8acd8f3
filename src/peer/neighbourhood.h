// SPDX-License-Identifier: BSD-3-Clause
// A neighbourhood: the processes that share one region with us, and our port into it.
//
// A process may live in several: one of its kernel, one of its container's file system, one that the host
// offers to all its guests. For each peer the first that holds both is used, in that order; the order is the
// same on both sides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "channel/ring/port.h"
#include "peer/peer.h"
#include "region/layout.h"
#include "region/mapping.h"

namespace vicinity::peer {

class Neighbourhood {
 public:
  // The process that we number `group[i]` owns section i; `admitted[i]`: it is really there. `self`: our
  // index.
  Neighbourhood(region::Mapping mapping, const region::Geometry& geometry, uint32_t generation,
                std::vector<uint32_t> group, std::vector<uint8_t> admitted, uint32_t self)
      : mapping_(std::move(mapping)),
        geometry_(geometry),
        generation_(generation),
        group_(std::move(group)),
        admitted_(std::move(admitted)),
        self_(self) {
    sections_.reserve(group_.size());
    for (uint32_t i = 0; i < group_.size(); ++i) sections_.emplace_back(group_[i], i);
    std::sort(sections_.begin(), sections_.end());
  }
  Neighbourhood(const Neighbourhood&) = delete;
  Neighbourhood& operator=(const Neighbourhood&) = delete;

  void open_port(uint32_t largest, bool membarrier, channel::Sink& sink) {
    channel::ring::PortOptions options;
    options.self = self_;
    options.procs = group_.data();
    options.generation = generation_;
    options.largest = largest;
    options.membarrier = membarrier_ = membarrier;
    port_ = std::make_unique<channel::ring::Port>(mapping_, geometry_, options, sink);
  }

  const region::Mapping& mapping() const { return mapping_; }
  const region::Geometry& geometry() const { return geometry_; }
  bool membarrier() const { return membarrier_; }
  const std::vector<uint32_t>& group() const { return group_; }
  channel::ring::Port& port() { return *port_; }
  uint32_t self() const { return self_; }
  // Where `rank` is in the region; kNoSection if it is not there.
  uint32_t section(uint32_t rank) const {
    const auto any = [&] {
      return std::lower_bound(sections_.begin(), sections_.end(), std::pair(rank, 0u));
    };
    const bool there =
        rank < sections_.size() && sections_[rank].first == rank;  // all ranks are in one region
    const auto at = there ? sections_.begin() + rank : any();
    if (at == sections_.end() || at->first != rank) return kNoSection;
    return admitted_[at->second] ? at->second : kNoSection;
  }
  channel::ring::Sender sender(uint32_t rank) { return port_->sender(section(rank)); }
  const channel::ring::Receiver& receiver(uint32_t rank) const { return port_->receiver(section(rank)); }
  void close(uint32_t rank) { port_->close(section(rank)); }
  // Reads no more from it, and does not tell.
  void forsake(uint32_t rank) { port_->forsake(section(rank)); }
  bool departed(uint32_t rank) const { return port_->departed(section(rank)); }

 private:
  region::Mapping mapping_;
  const region::Geometry geometry_;
  const uint32_t generation_;
  const std::vector<uint32_t> group_;
  const std::vector<uint8_t> admitted_;
  std::vector<std::pair<uint32_t, uint32_t>> sections_;  // (process, section), sorted
  const uint32_t self_;
  bool membarrier_ = false;
  std::unique_ptr<channel::ring::Port> port_;
};

}  // namespace vicinity::peer
