// SPDX-License-Identifier: BSD-3-Clause
// Where a host region comes from: an ivshmem device of this guest, a DAX device, or a file that several
// containers (or, on the host, processes beside the guests) see.
//
//   no           none
//   auto         the first ivshmem device that is a host region or empty, if there is one
//   ivshmem      the same, and a complaint if there is none
//   0000:00:04.0 that PCI device
//   /path        a file (made if it is missing), or a DAX device (/dev/dax0.0)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "region/mapping.h"

namespace vicinity::region {

struct IvshmemDevice {
  std::string address;  // 0000:00:04.0
  std::string folder;   // in sysfs
  uint64_t bytes = 0;   // of its memory, BAR 2
};
// PCI 1af4:1110 below `sysfs` (/sys but in tests).
std::vector<IvshmemDevice> find_ivshmem(const std::string& sysfs);

struct HostMemory {
  Mapping mapping;     // empty: there is none, and none was demanded
  std::string source;  // for people: "ivshmem 0000:00:04.0 (resource2)", "file /shm/x"
  double load_ns = 0;  // time of one load from it
};
// The memory of `setting`, best mapping first. Fails when what is named cannot be had.
base::Result<HostMemory> open_host_memory(const std::string& setting, const std::string& sysfs = "/sys");

// Time of a load from a line that was loaded just before. Some ns if the mapping is cached; 100 and more if
// not.
double probe_load_ns(const Mapping& mapping);
inline constexpr double kCachedLoadNs = 60;

// VICINITY_HOST_REGION.
const std::string& host_region_setting();

}  // namespace vicinity::region
