// SPDX-License-Identifier: BSD-3-Clause
// A meeting: two groups of processes, perhaps of different jobs, get to know each other.
//
// The words travel by another way (world/encounter.h): each process tells all others a text about itself,
// three times, and every telling is a barrier. In between it is what the coordinator does at the start:
//
//   introduction -> read() -> try_first() -> address -> settle() -> numbers -> keep()
//
// Processes that know each other already keep what they have; for the others there is a new region, or the
// network. A process is known by the nonce of the card that it had at its start, whoever asks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "peer/peer.h"

namespace vicinity::peer {

class Meeting {
 public:
  Meeting();
  ~Meeting();  // what has not been kept goes
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  base::Result<std::string> introduction();
  // The introductions of all, in an order that all agree on; `self` is our place.
  base::Status read(const std::vector<std::string>& texts, uint32_t self);
  // Is there anybody to whom we have no connection?
  bool strangers() const;
  // If anybody has found strangers, all go on. The text is our address in the network, where it is needed.
  base::Result<std::string> try_first();
  // With the addresses that try_first() of all has given. The text: which numbers all have here.
  base::Result<std::string> settle(const std::vector<std::string>& addresses);
  // All have settled, with these numbers: the strangers are peers from now on.
  void keep(const std::vector<std::string>& numbers);
  // The numbers of all, in the order of the texts.
  const std::vector<Proc>& procs() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One of those that are met after the start, and not let go of?
bool is_guest(Proc proc);
size_t guest_count();
// There is no communicator left that we share: whatever it does from now on is no concern of ours.
void let_go(Proc proc);

}  // namespace vicinity::peer
