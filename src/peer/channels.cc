// SPDX-License-Identifier: BSD-3-Clause
// Reads VICINITY_CHANNELS.
#include "peer/channels.h"

#include <string>
#include <string_view>

#include "base/param.h"

namespace vicinity::peer {
namespace {

base::Param<std::string> channels_param{
    "VICINITY_CHANNELS", "peer", "self,ring,cma,ucx", nullptr,
    "Channels that may be used, separated by commas: ring (shared memory), cma (single copy by the kernel), "
    "ucx (network). `ucx` alone forces the network, also on one host; self is always allowed."};

base::Param<bool> standby_param{"VICINITY_STANDBY", "peer", false,
                                "Open the network even where shared memory reaches all ranks, so that a pair "
                                "can change over to it: before "
                                "a virtual machine moves (VICINITY_SUSPEND), or when shared memory fails. "
                                "One rank that wants it is enough."};

base::Param<bool> suspend_param{
    "VICINITY_SUSPEND", "peer", false,
    "Messages of this process go through the network, not through shared memory, until this is taken back. "
    "May "
    "be written while the job runs (MPI_T). Needs a network: ranks on several hosts, or VICINITY_STANDBY."};

[[maybe_unused]] const bool may_change = (suspend_param.changed = suspended_changed) != nullptr;

uint32_t bit_of(std::string_view name) {
  if (name == "self") return kAllowSelf;
  if (name == "ring") return kAllowRing;
  if (name == "cma") return kAllowCma;
  if (name == "ucx") return kAllowUcx;
  return 0;
}

}  // namespace

base::Status allowed_channels(uint32_t* out) {
  uint32_t allowed = kAllowSelf | (standby_param.get() ? kStandby : 0);
  for (std::string_view rest = channels_param.get(); !rest.empty();) {
    const size_t comma = rest.find(',');
    const std::string_view name = rest.substr(0, comma);
    const uint32_t bit = bit_of(name);
    if (!bit)
      return base::fail(base::kArgument,
                        "VICINITY_CHANNELS=%s: `%.*s` is no channel; there are self, ring, cma, ucx",
                        channels_param.get().c_str(), static_cast<int>(name.size()), name.data());
    allowed |= bit;
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
  }
  *out = allowed;
  return base::kOk;
}

bool suspended() { return suspend_param.get(); }

}  // namespace vicinity::peer
