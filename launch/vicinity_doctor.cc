// SPDX-License-Identifier: BSD-3-Clause
// vicinity doctor: what could be fast here and is not, why, and what to do about it.
#include <errno.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/param.h"
#include "launch/vicinity.h"
#include "region/backing.h"
#include "region/host_backing.h"
#include "region/host_region.h"

namespace vicinity::launch {
namespace {

int troubles = 0;

void fine(const char* what, const std::string& text) { std::printf("ok    %-14s %s\n", what, text.c_str()); }
void note(const char* what, const std::string& text, const std::string& remedy) {
  std::printf("note  %-14s %s\n", what, text.c_str());
  if (!remedy.empty()) std::printf("      %-14s -> %s\n", "", remedy.c_str());
}
void bad(const char* what, const std::string& text, const std::string& remedy) {
  ++troubles;
  std::printf("BAD   %-14s %s\n", what, text.c_str());
  std::printf("      %-14s -> %s\n", "", remedy.c_str());
}

std::string words(base::Status status) { return base::failure_text(status.code()); }

bool in_a_guest() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("flags")) return line.find(" hypervisor") != line.npos;
  return false;
}

void look_at_memfd() {
  auto fd = region::Memfd::reserve();
  if (!fd.ok())
    return note("memfd", words(fd.status()),
                "a file in VICINITY_REGION_DIR will be used; allow memfd_create");
  region::Offer offer;
  offer.fd = *fd, offer.pid = getpid();
  auto mapping = region::Memfd::create(1 << 20, offer);
  if (!mapping.ok()) return bad("memfd", words(mapping.status()), "give this container or user more memory");
  fine("memfd", "processes of one pid namespace and one user share memory");
}

void look_at_directory() {
  const std::string& path = region::File::directory();
  struct statfs info;
  if (statfs(path.c_str(), &info) != 0)
    return bad("region dir", path + ": " + std::strerror(errno),
               "set VICINITY_REGION_DIR to a directory in memory (tmpfs)");
  if (access(path.c_str(), W_OK) != 0)
    return bad("region dir", path + " is not writable: " + std::strerror(errno),
               "chmod it, or set VICINITY_REGION_DIR to another one");
  const uint64_t free_mib = static_cast<uint64_t>(info.f_bavail) * static_cast<uint64_t>(info.f_bsize) >> 20;
  const std::string room = path + ", " + std::to_string(free_mib) + " MiB free";
  if (info.f_type != TMPFS_MAGIC && info.f_type != HUGETLBFS_MAGIC)
    return note("region dir", room + ", is not in memory: pages are written to a disk now and then",
                "set VICINITY_REGION_DIR to a tmpfs");
  if (free_mib < 16)
    return bad("region dir", room, "mount -o remount,size=256M " + path + ", or docker run --shm-size=256m");
  fine("region dir", room + "; containers that mount it share memory");
}

void look_at_single_copy() {
  const std::string answer = single_copy();
  if (answer == "permitted") return fine("single copy", "the kernel copies large messages once");
  note("single copy", answer,
       "allow process_vm_readv: docker run --cap-add SYS_PTRACE, or sysctl kernel.yama.ptrace_scope=0");
}

// resource2 and resource2_wc, each with what a load from it costs.
void look_at_device(const region::IvshmemDevice& device) {
  auto memory = region::open_host_memory(device.address);
  char text[160];
  std::snprintf(text, sizeof text, "%s, %" PRIu64 " MiB", device.address.c_str(), device.bytes >> 20);
  if (!memory.ok())
    return bad("ivshmem", std::string(text) + ": " + words(memory.status()),
               "chmod 666 " + device.folder + "/resource2*, for example by a udev rule");
  std::snprintf(text + std::strlen(text), sizeof text - std::strlen(text), ", %s: %.1f ns a load",
                memory->source.c_str(), memory->load_ns);
  if (memory->load_ns <= region::kCachedLoadNs) return fine("ivshmem", std::string(text) + ", cached");
  bad("ivshmem", std::string(text) + ", not cached: messages through it are slow",
      "the host honours the guest's memory types (AMD, or a device passed through with non-coherent DMA): "
      "use a "
      "virtio-pmem or nvdimm device in devdax mode instead, VICINITY_HOST_REGION=/dev/dax0.0");
}

void look_at_host_region() {
  const std::string& setting = region::host_region_setting();
  const auto devices = region::find_ivshmem("/sys");
  for (const auto& device : devices) look_at_device(device);
  if (setting == "no") return note("host region", "VICINITY_HOST_REGION=no", "unset it to use one");
  auto memory = region::open_host_memory(setting);
  if (!memory.ok())
    return bad("host region", "VICINITY_HOST_REGION=" + setting + ": " + words(memory.status()),
               "see VICINITY_HOST_REGION in vicinity params");
  if (!memory->mapping && in_a_guest())
    return note("host region", "this is a virtual machine without an ivshmem device",
                "qemu: -object memory-backend-file,id=hm,size=256M,share=on,mem-path=/dev/shm/NAME "
                "-device ivshmem-plain,memdev=hm; the same file for all guests of a host");
  if (!memory->mapping) return fine("host region", "none, and none is needed outside virtual machines");
  const std::string source = memory->source;
  auto region = region::HostRegion::adopt(std::move(memory->mapping));
  if (!region.ok())
    return bad("host region", source + ": " + words(region.status()), "vicinity doctor --erase " + setting);
  const auto use = region->use();
  char text[160];
  std::snprintf(text, sizeof text,
                ": %u jobs, %" PRIu64 " of %" PRIu64 " KiB free, %" PRIu64 " in one piece, epoch %u",
                use.jobs, uint64_t{use.free_chunks} * region->layout().chunk_bytes >> 10,
                region->layout().region_bytes >> 10, use.largest_free >> 10, region->epoch());
  fine("host region", source + text);
}

int erase(const std::string& what) {
  auto memory = region::open_host_memory(what);
  base::Status status = memory.status();
  if (status.ok() && !memory->mapping) status = base::fail(base::kArgument, "there is no such memory");
  if (status.ok()) status = region::HostRegion::erase(memory->mapping);
  if (!status.ok()) {
    std::fprintf(stderr, "vicinity doctor: %s: %s\n", what.c_str(), words(status).c_str());
    return 1;
  }
  std::printf("%s is an empty host region now\n", memory->source.c_str());
  return 0;
}

}  // namespace

int run_doctor(const Arguments& arguments) {
  if (base::Status status = base::params_load(); !status.ok()) {
    std::fprintf(stderr, "vicinity doctor: %s\n", words(status).c_str());
    return 2;
  }
  if (arguments.size() == 2 && arguments[0] == "--erase") return erase(arguments[1]);
  if (!arguments.empty()) {
    std::fprintf(stderr, "vicinity doctor takes no arguments but --erase PATH|ADDRESS|ivshmem\n");
    return 2;
  }
  look_at_memfd();
  look_at_directory();
  look_at_single_copy();
  look_at_host_region();
  return troubles != 0;
}

}  // namespace vicinity::launch
