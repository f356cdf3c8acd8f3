// SPDX-License-Identifier: BSD-3-Clause
// Finding and mapping memory that a host shares between guests or containers.
#include "region/host_backing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/log.h"
#include "base/param.h"
#include "region/host_region.h"

namespace vicinity::region {
namespace {

using base::fail;
using base::Result;
using base::Status;

base::Param<std::string> host_region{
    "VICINITY_HOST_REGION", "region", "auto", nullptr,
    "Memory that the host shares between guests or containers: auto (an ivshmem device, if there is one), "
    "ivshmem, the address of a PCI device (0000:00:04.0), a DAX device, a file, or no."};
base::Param<int64_t> host_region_bytes{
    "VICINITY_HOST_REGION_SIZE",
    "region",
    64 << 20,
    kLeastHostBytes,
    int64_t{1} << 40,
    "Size of the file that VICINITY_HOST_REGION names, if it does not exist yet."};

std::string read_text(const std::string& path) {
  char text[64] = "";
  if (FILE* file = std::fopen(path.c_str(), "re")) {
    if (!std::fgets(text, sizeof text, file)) text[0] = '\0';
    std::fclose(file);
  }
  text[strcspn(text, "\n")] = '\0';
  return text;
}

uint64_t size_of_file(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
}

// One small file lists all devices, so that a machine without one loses no time on hundreds of folders.
bool worth_a_search(const std::string& sysfs) {
  if (sysfs != "/sys") return true;
  FILE* file = std::fopen("/proc/bus/pci/devices", "re");
  if (!file) return true;
  char line[512];
  bool found = false;
  while (!found && std::fgets(line, sizeof line, file)) found = std::strstr(line, "\t1af41110\t") != nullptr;
  std::fclose(file);
  return found;
}

Result<Mapping> map_path(const std::string& path, uint64_t bytes, Properties properties,
                         const char* backing) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return fail(base::kOther, "cannot open %s: %s", path.c_str(), strerror(errno));
  if (bytes == 0) {
    struct stat info;
    if (fstat(fd, &info) == 0) bytes = static_cast<uint64_t>(info.st_size);
  }
  void* base = bytes ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  const int error = errno;
  close(fd);
  if (base == MAP_FAILED)
    return fail(base::kOther, "cannot map %" PRIu64 " bytes of %s: %s", bytes, path.c_str(),
                bytes ? strerror(error) : "it is empty");
  return Mapping(base, bytes, -1, properties, backing);
}

// resource2 is right under all circumstances. resource2_wc would be faster where it is write-combining, but
// then stores overtake each other, which the ring cannot bear; so it is taken only if it proves to be cached.
Result<HostMemory> open_ivshmem(const IvshmemDevice& device) {
  const Properties properties{true, false, true, false, false};
  HostMemory best;
  Status status = base::kOk;
  for (const char* name : {"resource2", "resource2_wc"}) {
    auto mapping = map_path(device.folder + "/" + name, device.bytes, properties, "ivshmem");
    if (!mapping.ok()) {
      if (status.ok()) status = mapping.status();
      continue;
    }
    const double load_ns = probe_load_ns(*mapping);
    const bool first = std::strcmp(name, "resource2") == 0;
    if (first || load_ns <= kCachedLoadNs) {
      best.mapping = std::move(*mapping);
      best.source = "ivshmem " + device.address + " (" + name + ")";
      best.load_ns = load_ns;
    }
    if (load_ns <= kCachedLoadNs) break;
  }
  if (!best.mapping) return status;
  return best;
}

// Zero, or ours already?
bool usable(const Mapping& mapping) {
  const auto* magic = mapping.at<uint64_t>(0);
  const uint64_t found = magic ? __atomic_load_n(magic, __ATOMIC_ACQUIRE) : 1;
  return found == 0 || found == kHostMagic;
}

Result<HostMemory> open_any_ivshmem(const std::string& sysfs, bool demanded) {
  Status status = base::kOk;
  const std::vector<IvshmemDevice> devices = find_ivshmem(sysfs);
  for (const IvshmemDevice& device : devices) {
    auto memory = open_ivshmem(device);
    if (memory.ok() && usable(memory->mapping)) return memory;
    if (!memory.ok() && status.ok()) status = memory.status();
  }
  if (!status.ok()) return status;
  if (!devices.empty())
    return fail(base::kOther, "the memory of the ivshmem device %s is used for something else",
                devices[0].address.c_str());
  if (demanded)
    return fail(base::kOther,
                "there is no ivshmem device (PCI 1af4:1110) in this system; see vicinity doctor");
  return HostMemory{};
}

Result<HostMemory> open_dax(const std::string& path, const struct stat& info) {
  char size[96];
  std::snprintf(size, sizeof size, "/sys/dev/char/%u:%u/size", major(info.st_rdev), minor(info.st_rdev));
  const uint64_t bytes = std::strtoull(read_text(size).c_str(), nullptr, 0);
  if (bytes == 0) return fail(base::kOther, "%s is no DAX device: %s tells no size", path.c_str(), size);
  HostMemory memory;
  auto mapping = map_path(path, bytes, {true, true, false, false, false}, "dax");
  VICINITY_TRY(mapping.status());
  memory.mapping = std::move(*mapping);
  memory.source = "DAX device " + path;
  return memory;
}

// A file that is there but empty is ours to fill; the pages are reserved, so that none is missing later.
Status make_file(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && errno == ENOENT) fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return fail(base::kOther, "cannot open the host region %s: %s", path.c_str(), strerror(errno));
  struct stat info;
  int error = fstat(fd, &info) == 0 ? 0 : errno;
  if (error == 0 && S_ISREG(info.st_mode) && info.st_size == 0)
    error = posix_fallocate(fd, 0, host_region_bytes.get());
  close(fd);
  if (error != 0)
    return fail(base::kNoMemory, "%s: no room for a host region of %" PRId64 " KiB: %s", path.c_str(),
                host_region_bytes.get() >> 10, strerror(error));
  return base::kOk;
}

Result<HostMemory> open_path(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && S_ISCHR(info.st_mode)) return open_dax(path, info);
  VICINITY_TRY(make_file(path));
  auto mapping = map_path(path, 0, {true, true, false, true, true}, "host file");
  VICINITY_TRY(mapping.status());
  HostMemory memory;
  memory.mapping = std::move(*mapping);
  memory.source = "file " + path;
  return memory;
}

}  // namespace

const std::string& host_region_setting() { return host_region.get(); }

std::vector<IvshmemDevice> find_ivshmem(const std::string& sysfs) {
  std::vector<IvshmemDevice> found;
  if (!worth_a_search(sysfs)) return found;
  const std::string folder = sysfs + "/bus/pci/devices";
  DIR* dir = opendir(folder.c_str());
  if (!dir) return found;
  while (const dirent* entry = readdir(dir)) {
    if (entry->d_name[0] == '.') continue;
    const std::string device = folder + "/" + entry->d_name;
    if (read_text(device + "/vendor") != "0x1af4" || read_text(device + "/device") != "0x1110") continue;
    found.push_back({entry->d_name, device, size_of_file(device + "/resource2")});
  }
  closedir(dir);
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  return found;
}

double probe_load_ns(const Mapping& mapping) {
  constexpr uint64_t kLines = 256;
  if (mapping.bytes() < kLines * kLineBytes) return 0;
  double best = 1e9;
  for (int pass = 0; pass < 4; ++pass) {
    const int64_t begin = base::now_ns();
    for (uint64_t i = 0; i < kLines; ++i)
      (void)__atomic_load_n(mapping.at<uint64_t>(i * kLineBytes), __ATOMIC_RELAXED);
    if (pass != 0) best = std::min(best, static_cast<double>(base::now_ns() - begin) / kLines);
  }
  return best;
}

Result<HostMemory> open_host_memory(const std::string& setting, const std::string& sysfs) {
  if (setting == "no") return HostMemory{};
  if (setting.empty() || setting == "auto" || setting == "ivshmem")
    return open_any_ivshmem(sysfs, setting == "ivshmem");
  Result<HostMemory> memory = HostMemory{};
  if (setting[0] == '/') {
    memory = open_path(setting);
    if (memory.ok()) memory->load_ns = probe_load_ns(memory->mapping);
    return memory;
  }
  for (const IvshmemDevice& device : find_ivshmem(sysfs))
    if (device.address == setting) return open_ivshmem(device);
  return fail(base::kOther, "VICINITY_HOST_REGION=%s: no ivshmem device has this address", setting.c_str());
}

}  // namespace vicinity::region
