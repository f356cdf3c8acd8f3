// SPDX-License-Identifier: BSD-3-Clause
// The card: what a process tells all others about itself at wire-up, one string under one key.
//
// Text, one "name value" per line, so that people can read it in a launcher's log. Everything in a card
// comes from another process: parse_card() checks every field and names the one that is wrong.
// pid and fd are meant only for processes of the same pid namespace (pid_namespace says which).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "channel/cma/cma.h"
#include "peer/cpus.h"
#include "region/backing.h"
#include "region/layout.h"

namespace vicinity::peer {

inline constexpr int kCardVersion = 4;

struct Card {
  std::string host;     // for people
  std::string host_id;  // same text: same kernel (until proven otherwise)
  uint64_t pid_namespace = 0, user_namespace = 0;
  uint32_t uid = 0;
  int32_t pid = 0;
  int32_t memfd = -1;  // reserved descriptor, should this process become the creator of a region
  region::Job nonce;   // of a region created by this process
  uint64_t token_address = 0;
  channel::cma::Token token{};
  bool membarrier = false;
  uint32_t channels = 0;                               // what its user allows: channels.h
  std::string backing;                                 // VICINITY_REGION: auto, memfd, file, no
  std::string directory;                               // for a file
  uint64_t directory_device = 0, directory_inode = 0;  // 0: there is none
  std::string host_region = "none";                    // its identity, hexadecimal
  uint32_t ring_lines = 0, buffers = 0, buffer_bytes = 0, largest = 0;  // wishes of the creator
  CpuSet cpus;                                                          // where it may run
};

std::string format_card(const Card& card);
base::Status parse_card(std::string_view text, int rank, Card* out);

// The card of this process. `reserve_memfd`: it might create a region. The host region is the caller's to
// fill.
base::Status make_card(bool reserve_memfd, Card* out);
std::string hex(const uint8_t* bytes, size_t count);

}  // namespace vicinity::peer
