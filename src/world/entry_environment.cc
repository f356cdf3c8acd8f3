// SPDX-License-Identifier: BSD-3-Clause
// Environmental inquiry, time and memory (MPI 5.0, 9.1, 9.2, 9.6).
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "entry_world.h"
#include "object/info.h"
#include "world/environment.h"
#include "world/hardware.h"
#include "world/instance.h"

#ifndef VICINITY_VERSION
#define VICINITY_VERSION "0"
#endif

namespace vicinity::world::entry {

Status get_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return kOk;
}

Status get_library_version(char* version, int* resultlen) {
  *resultlen =
      std::snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "Vicinity MPI %s, MPI %d.%d, ABI %d.%d",
                    VICINITY_VERSION, MPI_VERSION, MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
  return kOk;
}

Status get_processor_name(char* name, int* resultlen) {
  *resultlen = std::snprintf(name, MPI_MAX_PROCESSOR_NAME, "%s", this_host().c_str());
  return kOk;
}

double wtime() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double wtick() {
  timespec tick;
  clock_getres(CLOCK_MONOTONIC, &tick);
  return static_cast<double>(tick.tv_sec) + 1e-9 * static_cast<double>(tick.tv_nsec);
}

Status pcontrol(int) { return kOk; }

// The standard's key for alignment (9.2) is honoured; everything else about the memory is the system's.
Status alloc_mem(MPI_Aint size, Info* info, void* baseptr) {
  if (size < 0) return fail(MPI_ERR_ARG, "argument `size` is %lld", static_cast<long long>(size));
  size_t alignment = 64;
  if (const std::string* text = info ? info->find("mpi_minimum_memory_alignment") : nullptr) {
    const unsigned long long wish = std::strtoull(text->c_str(), nullptr, 10);
    if (wish == 0 || (wish & (wish - 1)) != 0 || wish > (1ull << 30))
      return fail(MPI_ERR_INFO_VALUE, "mpi_minimum_memory_alignment is %s; a power of two is needed",
                  text->c_str());
    if (wish > alignment) alignment = static_cast<size_t>(wish);
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, size > 0 ? static_cast<size_t>(size) : 1) != 0)
    return fail(MPI_ERR_NO_MEM, "no memory for %lld bytes", static_cast<long long>(size));
  *static_cast<void**>(baseptr) = memory;
  return kOk;
}

Status free_mem(void* base) {
  std::free(base);
  return kOk;
}

Status get_hw_resource_info(Info** hw_info) {
  Info* info = object::copy_info(nullptr);
  if (!info) return fail(MPI_ERR_NO_MEM, "no memory for an info object");
  describe_hardware(*info);
  *hw_info = info;
  return kOk;
}

}  // namespace vicinity::world::entry
