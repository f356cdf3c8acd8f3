// SPDX-License-Identifier: BSD-3-Clause
// The outside: the network, to processes that no region of ours reaches, and beside regions that may fail.
#pragma once

#include <memory>
#include <string>

#include "channel/ucx/network.h"
#include "peer/card.h"
#include "peer/note.h"
#include "peer/virtual_connection.h"

namespace vicinity::peer {

// Why two processes have no memory in common, as far as their cards tell; empty: it should work.
std::string apart(const Card& own, const Card& other);

class Outside {
 public:
  static constexpr const char* kKey = "vicinity-net";  // put only where the network is opened at the start

  using GetAddress = base::Result<std::string> (*)(Proc proc);
  // `needed`: for the words of a failure.
  base::Status open(bool needed, Proc self, uint32_t count, channel::Sink& sink, GetAddress get);
  bool opened() const { return network_ != nullptr; }
  channel::ucx::Network& network() { return *network_; }
  std::string description() const;
  void add_received(Proc proc, Counters& counters);
  void farewell();
  void push_out();

  // Set before open().
  void (*on_lost)(Proc proc, const char* why) = nullptr;
  void (*on_note)(Proc from, const ChangeNote& note) = nullptr;

 private:
  std::unique_ptr<NoteSink> sink_;
  std::unique_ptr<channel::ucx::Network> network_;
};

struct World;
namespace detail {

// At the start, or when processes are met that no memory reaches. kOk if it is open already.
base::Status open_outside(World& w, bool needed);

}  // namespace detail
}  // namespace vicinity::peer
