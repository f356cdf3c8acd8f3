// SPDX-License-Identifier: BSD-3-Clause
// Finding the memory that a host shares, in a sysfs of files.
#include "region/host_backing.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/param.h"
#include "region/host_region.h"

namespace vicinity::region {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kBytes = 4 << 20;

class HostBacking : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/sysfs-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    sysfs = name;
    fs::create_directories(devices());
    ASSERT_TRUE(base::params_load(base::Unknown::kIgnore).ok());
  }
  void TearDown() override { fs::remove_all(sysfs); }
  std::string devices() const { return sysfs + "/bus/pci/devices"; }
  static void write(const std::string& path, const std::string& text) { std::ofstream(path) << text << "\n"; }

  void add_device(const std::string& address, const char* vendor = "0x1af4", const char* device = "0x1110",
                  uint64_t bytes = kBytes) {
    const std::string folder = devices() + "/" + address;
    fs::create_directories(folder);
    write(folder + "/vendor", vendor);
    write(folder + "/device", device);
    if (bytes == 0) return;
    std::ofstream(folder + "/resource2").flush();
    fs::resize_file(folder + "/resource2", bytes);
  }
  // The first bytes of the memory of a device.
  void fill(const std::string& address, const char* text) {
    std::fstream file(devices() + "/" + address + "/resource2", std::ios::in | std::ios::out);
    file.write(text, static_cast<std::streamsize>(std::strlen(text)));
  }
  std::string refusal(const std::string& setting) {
    auto memory = open_host_memory(setting, sysfs);
    return memory.ok() ? "" : base::failure_text(memory.status().code());
  }
  std::string sysfs;
};

TEST_F(HostBacking, DevicesAreFoundByVendorAndDeviceInTheOrderOfTheirAddresses) {
  add_device("0000:00:05.0");
  add_device("0000:00:02.0", "0x8086", "0x1110");
  add_device("0000:00:03.0", "0x1af4", "0x1000");
  add_device("0000:00:04.0", "0x1af4", "0x1110", 1 << 20);
  fs::create_directories(devices() + "/0000:00:06.0");  // tells nothing of itself
  const std::vector<IvshmemDevice> found = find_ivshmem(sysfs);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].address, "0000:00:04.0");
  EXPECT_EQ(found[0].bytes, 1u << 20);
  EXPECT_EQ(found[1].address, "0000:00:05.0");
  EXPECT_EQ(found[1].bytes, kBytes);
}

TEST_F(HostBacking, WithoutADeviceThereIsNoneAndOnlyADemandFails) {
  EXPECT_TRUE(find_ivshmem(sysfs + "/nowhere").empty());
  auto memory = open_host_memory("auto", sysfs);
  ASSERT_TRUE(memory.ok());
  EXPECT_FALSE(memory->mapping);
  EXPECT_NE(refusal("ivshmem").find("1af4:1110"), std::string::npos);
  EXPECT_NE(refusal("0000:00:09.0").find("0000:00:09.0"), std::string::npos);
  memory = open_host_memory("no", sysfs);
  ASSERT_TRUE(memory.ok());
  EXPECT_FALSE(memory->mapping);
}

TEST_F(HostBacking, TheFirstThatIsEmptyOrARegionIsTaken) {
  add_device("0000:00:04.0");
  add_device("0000:00:05.0");
  fill("0000:00:04.0", "somebody else's memory");
  auto memory = open_host_memory("auto", sysfs);
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(memory->source, "ivshmem 0000:00:05.0 (resource2)");
  EXPECT_EQ(memory->mapping.bytes(), kBytes);
  ASSERT_TRUE(HostRegion::adopt(std::move(memory->mapping)).ok());
  memory = open_host_memory("ivshmem", sysfs);  // what we have formatted is ours now
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(memory->source, "ivshmem 0000:00:05.0 (resource2)");
  const Properties& properties = memory->mapping.properties();
  EXPECT_FALSE(properties.same_kernel || properties.wakeable);
}

TEST_F(HostBacking, MemoryOfSomebodyElseIsLeftAlone) {
  add_device("0000:00:04.0");
  fill("0000:00:04.0", "somebody else's memory");
  EXPECT_NE(refusal("auto").find("something else"), std::string::npos);
  std::ifstream file(devices() + "/0000:00:04.0/resource2");
  std::string text(8, ' ');
  file.read(text.data(), 8);
  EXPECT_EQ(text, "somebody");
}

TEST_F(HostBacking, ADeviceIsTakenByItsAddress) {
  add_device("0000:00:04.0");
  add_device("0000:00:05.0");
  auto memory = open_host_memory("0000:00:05.0", sysfs);
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(memory->source, "ivshmem 0000:00:05.0 (resource2)");
}

TEST_F(HostBacking, ADeviceThatCannotBeMappedIsNamed) {
  add_device("0000:00:04.0", "0x1af4", "0x1110", 0);
  EXPECT_NE(refusal("ivshmem").find("resource2"), std::string::npos);
}

TEST_F(HostBacking, TwoThatMapADeviceSeeTheSameRegion) {
  add_device("0000:00:04.0");
  auto one = open_host_memory("auto", sysfs), two = open_host_memory("auto", sysfs);
  ASSERT_TRUE(one.ok() && two.ok());
  auto first = HostRegion::adopt(std::move(one->mapping));
  auto second = HostRegion::adopt(std::move(two->mapping));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(std::memcmp(first->identity().data(), second->identity().data(), 16), 0);
}

}  // namespace
}  // namespace vicinity::region
