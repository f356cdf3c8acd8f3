// SPDX-License-Identifier: BSD-3-Clause
// Which devices and transports UCX is to use, from what this machine has: the realities of virtual functions.
//
//   - two devices, one InfiniBand and one Ethernet, in an order that changes from boot to boot: the
//     InfiniBand ones are taken, by link layer and never by name;
//   - a VF of an InfiniBand adapter shares the LID of its host: addresses must carry GIDs (GRH);
//   - a VF may offer no inline data: none is asked for;
//   - Soft-RoCE fills no destination GID into what it delivers: UCX must not check it.
//
// Over TCP, UCX (1.13) ends the process when a peer dies in the middle of a transfer from the user's buffer,
// so UCX copies, in large pieces; the kernel copies anyway.
//
// The pkey is UCX's choice: the first full one of the port, a tenant's own where there is no default.
// Whatever the user has set (UCX_...) stands.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace vicinity::channel::ucx {

struct Port {  // of an RDMA device
  std::string device;
  int number = 0;
  bool active = false, infiniband = false;
  bool virtual_function = false, soft = false;
};

// `sys` is /sys, except in tests.
std::vector<Port> find_ports(const std::string& sys);

using Setting = std::pair<std::string, std::string>;  // a name of UCX without UCX_, and its value
std::vector<Setting> choose_settings(const std::string& transport, const std::vector<Port>& ports);

}  // namespace vicinity::channel::ucx
