// SPDX-License-Identifier: BSD-3-Clause
// Extents as memfds and as files. The way that the region itself was made is what parameters allow.
#include "peer/extent.h"

#include <sys/random.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "base/clock.h"
#include "peer/card.h"
#include "peer/table.h"
#include "region/backing.h"

namespace vicinity::peer {
namespace {

using base::fail;
using base::Result;
using base::Status;

Status take(Result<region::Mapping> made, region::Mapping* mapping) {
  if (!made.ok()) return made.status();
  *mapping = std::move(*made);
  return base::kOk;
}

Status create_memfd(uint64_t bytes, region::Mapping* mapping, ExtentOffer* offer) {
  Result<int> fd = region::Memfd::reserve();
  if (!fd.ok()) return fd.status();
  offer->pid = getpid();
  offer->fd = *fd;
  return take(region::Memfd::create(bytes, {.fd = *fd}), mapping);
}

// The name begins as that of the region does, so that what a killed job leaves is swept in the same way.
Status create_file(uint64_t bytes, region::Mapping* mapping, ExtentOffer* offer) {
  static uint32_t number = 0;
  const int length =
      std::snprintf(offer->path, sizeof offer->path, "%s/vicinity-region-%u-extent-%d-%u",
                    region::File::directory().c_str(), getuid(), static_cast<int>(getpid()), ++number);
  if (length < 0 || static_cast<size_t>(length) >= sizeof offer->path)
    return fail(base::kOther, "the name of a file in VICINITY_REGION_DIR (%s) is too long",
                region::File::directory().c_str());
  return take(region::File::create(bytes, {.path = offer->path}), mapping);
}

}  // namespace

Status create_extent(int way, uint64_t bytes, region::Mapping* mapping, ExtentOffer* offer) {
  *offer = ExtentOffer{.bytes = bytes};
  const std::string& wish = detail::region_wish();
  const char* needed = way == 0 ? "memfd" : "file";
  if (wish != "auto" && wish != needed)
    return fail(base::kUnsupported, "VICINITY_REGION=%s rules out a %s", wish.c_str(), needed);
  VICINITY_TRY(way == 0 ? create_memfd(bytes, mapping, offer) : create_file(bytes, mapping, offer));
  if (getrandom(offer->nonce, sizeof offer->nonce, GRND_NONBLOCK) != sizeof offer->nonce)
    offer->nonce[0] = static_cast<uint64_t>(base::now_ns());
  std::memcpy(mapping->base(), offer->nonce, sizeof offer->nonce);
  return base::kOk;
}

Status open_extent(const ExtentOffer& offer, region::Mapping* mapping) {
  ExtentOffer copy = offer;
  copy.path[sizeof copy.path - 1] = '\0';
  Status status = copy.pid != 0 ? take(region::Memfd::open({.pid = copy.pid, .fd = copy.fd}), mapping)
                                : take(region::File::open({.path = copy.path}), mapping);
  VICINITY_TRY(status);
  const size_t bytes = mapping->bytes();
  if (bytes >= copy.bytes && bytes >= sizeof copy.nonce &&
      std::memcmp(mapping->base(), copy.nonce, sizeof copy.nonce) == 0)
    return base::kOk;
  *mapping = region::Mapping();
  return fail(base::kOther,
              "the memory of %zu bytes found in place of an extent of %" PRIu64 " is another one", bytes,
              copy.bytes);
}

void seal_extent(const ExtentOffer& offer, region::Mapping* mapping) {
  if (offer.pid == 0 && offer.path[0]) region::File::unlink({.path = offer.path});
  std::memset(mapping->base(), 0, sizeof offer.nonce);
  mapping->close_descriptor();
}

}  // namespace vicinity::peer
