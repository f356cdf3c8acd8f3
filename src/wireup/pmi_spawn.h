// SPDX-License-Identifier: BSD-3-Clause
// The one request of PMI-1 that takes several lines, to text and back. For each command a block:
//
//   mcmd=spawn
//   nprocs=2
//   execname=./child
//   totspawns=1
//   spawnssofar=1
//   arg1=...            then argcnt=1
//   preput_num=1        then preput_key_0=..., preput_val_0=...: put for the new job
//   info_num=1          then info_key_0=..., info_val_0=...
//   endcmd
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "wireup/spawn.h"

namespace vicinity::wireup {

// Fails for text that a line cannot hold.
base::Result<std::string> format_spawn(const SpawnCommand& command, size_t index, size_t count,
                                       const Pairs& preput);

// Takes the lines of one rank; whatever they are, no more than so much is kept.
class SpawnReader {
 public:
  static constexpr size_t kMostBytes = 1 << 20;
  static constexpr int kMostProcesses = 1 << 16;

  bool inside() const { return inside_; }
  void begin();
  // A line after `mcmd=spawn`. True: the request is complete.
  base::Result<bool> line(std::string_view text);
  std::vector<SpawnCommand> take_commands();
  const Pairs& preput() const { return preput_; }

 private:
  base::Status field(std::string_view key, std::string_view value);

  bool inside_ = false;
  size_t bytes_ = 0;
  int total_ = 1;
  std::vector<SpawnCommand> commands_;
  Pairs preput_;
};

}  // namespace vicinity::wireup
