// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite of channels, for each of them; the ring over each backing.
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "channel/fake/fake.h"
#include "channel/ring/port.h"
#include "channel/self/self.h"
#include "channel_conformance.h"
#include "region/backing.h"
#include "region/host_backing.h"

namespace vicinity::test {
namespace {

const uint32_t procs[2] = {0, 1};

region::Offer offer_of(region::Heap) { return {}; }
region::Offer offer_of(region::Memfd) {
  region::Offer offer;
  offer.pid = getpid();
  offer.fd = *region::Memfd::reserve();
  return offer;
}
region::Offer offer_of(region::File) {
  region::Offer offer;
  offer.path = "/dev/shm/vicinity-test-" + std::to_string(getpid());
  return offer;
}

// An ivshmem device as a guest sees it, in a sysfs of files.
struct Ivshmem {
  static base::Result<region::Mapping> create(uint64_t bytes, const region::Offer& offer) {
    const std::string device = offer.path + "/bus/pci/devices/0000:00:04.0";
    std::filesystem::create_directories(device);
    std::ofstream(device + "/vendor") << "0x1af4\n";
    std::ofstream(device + "/device") << "0x1110\n";
    std::ofstream(device + "/resource2").flush();
    std::filesystem::resize_file(device + "/resource2", bytes);
    return open(offer);
  }
  static base::Result<region::Mapping> open(const region::Offer& offer) {
    auto memory = region::open_host_memory("ivshmem", offer.path);
    VICINITY_TRY(memory.status());
    return std::move(memory->mapping);
  }
};
region::Offer offer_of(Ivshmem) {
  char folder[] = "/dev/shm/sysfs-XXXXXX";
  region::Offer offer;
  offer.path = mkdtemp(folder);
  return offer;
}
// A file on the host that several containers see; one process has made it, the others find it.
struct HostFile {
  static base::Result<region::Mapping> create(uint64_t bytes, const region::Offer& offer) {
    std::ofstream(offer.path).flush();
    std::filesystem::resize_file(offer.path, bytes);
    return open(offer);
  }
  static base::Result<region::Mapping> open(const region::Offer& offer) {
    auto memory = region::open_host_memory(offer.path);
    VICINITY_TRY(memory.status());
    return std::move(memory->mapping);
  }
};
region::Offer offer_of(HostFile) {
  region::Offer offer;
  offer.path = "/dev/shm/host-file-" + std::to_string(getpid());
  return offer;
}

// Two ports in one process. Where the backing can be opened a second time, the other end has a mapping of
// its own at another address, as another process would.
template <class B, uint32_t kLines>
struct RingHarness {
  static constexpr bool kLoops = false;

  RingHarness() {
    region::Offer offer = offer_of(B());
    geometry = *region::Geometry::make(2, kLines, 8, 4096);
    mappings[0] = std::move(*B::create(geometry.region_bytes, offer));
    auto second = B::open(offer);
    if (second.ok()) mappings[1] = std::move(*second);
    if (!offer.path.empty()) std::filesystem::remove_all(offer.path);
    for (uint32_t end = 0; end < 2; ++end) {
      channel::ring::PortOptions options;
      options.self = end, options.procs = procs, options.generation = 3, options.largest = 16384;
      region::Mapping& mapping = mappings[mappings[1] ? end : 0];
      ports[end] = std::make_unique<channel::ring::Port>(mapping, geometry, options, sinks[end]);
      senders[end] = ports[end]->sender(1 - end);
    }
  }
  Answer send(int from, const Envelope& envelope, const void* data, size_t bytes) {
    return senders[from].send(envelope, data, bytes);
  }
  int poll(int at) { return ports[at]->poll(); }
  CollectingSink& sink(int at) { return sinks[at]; }
  size_t largest() { return senders[0].largest(); }

  region::Geometry geometry;
  region::Mapping mappings[2];
  CollectingSink sinks[2];
  std::unique_ptr<channel::ring::Port> ports[2];
  channel::ring::Sender senders[2];
};

struct SelfHarness {
  static constexpr bool kLoops = true;
  SelfHarness() : self(0, only) {}
  Answer send(int, const Envelope& envelope, const void* data, size_t bytes) {
    return self.send(envelope, data, bytes);
  }
  int poll(int) { return self.poll(); }
  CollectingSink& sink(int) { return only; }
  size_t largest() { return self.largest(); }
  CollectingSink only;
  channel::self::SelfChannel self;
};

struct FakeHarness {
  static constexpr bool kLoops = false;
  FakeHarness() {
    for (int end = 0; end < 2; ++end) {
      pair.end(end).attach(1 - end, &sinks[end]);
      pair.end(end).script() = {.largest = 16384, .capacity = 30, .retry_every = 7, .delay_polls = 3};
    }
  }
  Answer send(int from, const Envelope& envelope, const void* data, size_t bytes) {
    return pair.end(from).send(envelope, data, bytes);
  }
  int poll(int at) { return pair.end(at).poll(); }
  CollectingSink& sink(int at) { return sinks[at]; }
  size_t largest() { return pair.end(0).largest(); }
  CollectingSink sinks[2];
  channel::fake::FakePair pair;
};

template <class T>
using Suite = ChannelConformance<T>;
using Rings = testing::Types<RingHarness<region::Heap, 256>, RingHarness<region::Heap, 16>,
                             RingHarness<region::Memfd, 64>, RingHarness<region::File, 32>,
                             RingHarness<Ivshmem, 64>, RingHarness<HostFile, 64>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Ring, ChannelConformance, Rings);
INSTANTIATE_TYPED_TEST_SUITE_P(Self, ChannelConformance, SelfHarness);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, ChannelConformance, FakeHarness);

}  // namespace
}  // namespace vicinity::test
