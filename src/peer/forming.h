// SPDX-License-Identifier: BSD-3-Clause
// Forming a region: the processes of one kernel agree on memory that all of them can map.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "peer/card.h"
#include "region/layout.h"
#include "region/mapping.h"

namespace vicinity::peer {

// One process's part in it. The first of the group is the creator.
//
//   try_first()  before the second fence: memfd where all could open it, else the file
//   settle()     after it: the creator looks who has attached; if somebody could not map the memfd, all go
//                to the file. Ends when everybody is attached, or fails in everybody within `kPatience`.
class Forming {
 public:
  // `group`: ranks, ascending; `self`: our index in it.
  Forming(const std::vector<Card>& cards, std::vector<uint32_t> group, uint32_t self);

  void try_first();
  base::Status settle();

  region::Mapping& mapping() { return mapping_; }
  const region::Geometry& geometry() const { return geometry_; }
  uint32_t generation() const { return generation_; }
  const std::vector<uint32_t>& group() const { return group_; }
  uint32_t self() const { return self_; }

  // For tests: pretend that this process cannot open the memfd.
  static bool refuse_memfd;

 private:
  bool creator() const { return self_ == 0; }
  const Card& creator_card() const { return cards_[group_[0]]; }
  bool memfd_makes_sense() const;
  base::Status create_memfd();
  base::Status create_file();
  base::Status open(bool file);
  base::Status open_once(bool file);
  base::Status adopt(region::Mapping mapping);
  base::Status format(region::Mapping mapping, const region::Geometry& geometry);
  base::Status take(region::Mapping mapping);
  base::Status settle_memfd();
  base::Status settle_file();
  void attach();
  bool all_attached() const;
  uint32_t phase() const;
  void set_phase(uint32_t phase);
  base::Status missing() const;
  base::Status cannot_attach(const std::string& why) const;

  const std::vector<Card>& cards_;
  const std::vector<uint32_t> group_;
  const uint32_t self_;
  region::Offer file_;
  region::Mapping mapping_;
  region::Geometry geometry_;
  uint32_t* phase_ = nullptr;  // in the header of mapping_
  uint32_t generation_ = 0;
  bool with_memfd_ = false;  // the group tries a memfd first
  std::string memfd_trouble_, file_trouble_;
};

}  // namespace vicinity::peer
