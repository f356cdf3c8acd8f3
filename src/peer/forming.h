// SPDX-License-Identifier: BSD-3-Clause
// Forming a region: processes that might be of one kernel agree on memory that they can map.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "peer/card.h"
#include "region/layout.h"
#include "region/mapping.h"

namespace vicinity::peer {

// One process's part in it. The first of the group is the creator.
//
//   try_first()  before the second fence: the memfd or the file, as proposed
//   settle()     after it: the creator looks who has attached. If somebody could not map the memfd, all go to
//                the file. Then it writes down who is in (DirectoryEntry::admitted), so that all agree.
//
// Not to be in is no failure: the proposal was wrong, and another region or the network may do.
class Forming {
 public:
  enum class Way : uint8_t { kMemfd, kFile };

  // `group`: ranks, ascending; `self`: our index in it.
  Forming(const std::vector<Card>& cards, std::vector<uint32_t> group, uint32_t self, Way first);

  void try_first();
  void settle();

  // After settle(): is this process in; and which others?
  bool in() const { return !admitted_.empty() && admitted_[self_]; }
  const std::vector<uint8_t>& admitted() const { return admitted_; }
  // Why this process is not in; "" if it is.
  std::string trouble() const;

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
  base::Status create_memfd();
  base::Status create_file();
  base::Status open(bool file, int64_t patience);
  base::Status open_once(bool file);
  base::Status adopt(region::Mapping mapping);
  base::Status format(region::Mapping mapping, const region::Geometry& geometry);
  base::Status take(region::Mapping mapping);
  bool settle_memfd();
  bool replace_memfd();
  void settle_file();
  void attach();
  bool attached(uint32_t index) const;
  bool all_attached() const;
  void admit();
  void read_admitted();
  bool decided();

  const std::vector<Card>& cards_;
  const std::vector<uint32_t> group_;
  const uint32_t self_;
  const Way first_;
  region::Offer file_;
  region::Mapping mapping_;
  region::Geometry geometry_;
  uint32_t* phase_ = nullptr;  // in the header of mapping_
  uint32_t generation_ = 0;
  std::vector<uint8_t> admitted_;
  std::string memfd_trouble_, file_trouble_;
};

}  // namespace vicinity::peer
