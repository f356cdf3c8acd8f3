// SPDX-License-Identifier: BSD-3-Clause
// Backings: where the memory of a region comes from. One concept, several kinds.
//
//   heap    anonymous memory shared by fork; for tests
//   memfd   the creator's descriptor, opened by others through /proc/<pid>/fd/<fd>; nothing to clean up
//   file    a file in a directory, unlinked as soon as all have mapped it
//
// Both ends of a guest border (ivshmem, dax) will be further ones: what differs for those who use the
// memory is in Properties, what differs in finding it is in Offer.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "region/mapping.h"

namespace vicinity::region {

// How another process of the same host finds the memory. Sent by wire-up, never inside the region.
struct Offer {
  int32_t pid = 0;   // memfd: the creator, as seen by the one who opens
  int32_t fd = -1;   // memfd
  std::string path;  // file
};

template <class B>
concept Backing = requires(uint64_t bytes, const Offer& offer) {
  { B::name() } -> std::convertible_to<const char*>;
  { B::properties() } -> std::same_as<Properties>;
  // New zeroed memory of `bytes`; fills the offer for the others.
  { B::create(bytes, offer) } -> std::same_as<base::Result<Mapping>>;
  // Maps what another process has created, whatever its size is, if not 0.
  { B::open(offer) } -> std::same_as<base::Result<Mapping>>;
};

struct Heap {
  static const char* name() { return "heap"; }
  static Properties properties() { return {true, true, false, true, true}; }
  static base::Result<Mapping> create(uint64_t bytes, const Offer&);
  static base::Result<Mapping> open(const Offer&);  // fails: only fork shares it
};

struct Memfd {
  static const char* name() { return "memfd"; }
  static Properties properties() { return {true, true, false, true, true}; }
  // A descriptor without memory behind it, so that its number can be offered before the size is known.
  static base::Result<int> reserve();
  static base::Result<Mapping> create(uint64_t bytes, const Offer& offer);  // offer.fd from reserve()
  static base::Result<Mapping> open(const Offer& offer);
};

struct File {
  static const char* name() { return "file"; }
  static Properties properties() { return {true, true, false, true, true}; }
  static base::Result<Mapping> create(uint64_t bytes, const Offer& offer);
  static base::Result<Mapping> open(const Offer& offer);
  static void unlink(const Offer& offer);
  // VICINITY_REGION_DIR, by default /dev/shm.
  static const std::string& directory();
  // Removes files of this user whose creators have died between create() and unlink().
  static void sweep(const std::string& directory);
};

static_assert(Backing<Heap> && Backing<Memfd> && Backing<File>);

}  // namespace vicinity::region
