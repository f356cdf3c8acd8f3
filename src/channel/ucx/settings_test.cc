// SPDX-License-Identifier: BSD-3-Clause
// What UCX is told on machines that we do not have: their /sys, made of files.
#include "channel/ucx/settings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace vicinity::channel::ucx {
namespace {

namespace fs = std::filesystem;

class SettingsTest : public testing::Test {
 protected:
  void SetUp() override { sys_ = fs::path(testing::TempDir()) / ("sys-" + std::to_string(getpid())); }
  void TearDown() override { fs::remove_all(sys_); }
  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((sys_ / path).parent_path());
    std::ofstream(sys_ / path) << text << "\n";
  }
  void add_device(const std::string& name, const std::string& layer, const std::string& pci_device,
                  const std::string& state = "4: ACTIVE") {
    const fs::path device = fs::path("class/infiniband") / name;
    write(device / "ports/1/link_layer", layer);
    write(device / "ports/1/state", state);
    if (pci_device.empty()) return write(device / "parent", "eth0");
    write(device / "device/vendor", "0x15b3");
    write(device / "device/device", pci_device);
  }
  std::string value(const std::string& transport, const std::string& name) {
    for (const auto& [key, text] : choose_settings(transport, find_ports(sys_)))
      if (key == name) return text;
    return "";
  }
  fs::path sys_;
};

TEST_F(SettingsTest, WithoutDevicesOnlyTcpIsThoughtOf) {
  EXPECT_TRUE(find_ports(sys_).empty());
  EXPECT_TRUE(choose_settings("rc", {}).size() == 1);
  EXPECT_EQ(value("auto", "ZCOPY_THRESH"), "inf");  // it will be TCP
  EXPECT_EQ(value("tcp", "TLS"), "tcp");
}

// As on Azure: which of the two is mlx5_0 changes from boot to boot.
TEST_F(SettingsTest, InfiniBandIsTakenByLinkLayer) {
  add_device("mlx5_0", "Ethernet", "0x1016");
  add_device("mlx5_1", "InfiniBand", "0x101e");
  EXPECT_EQ(value("auto", "NET_DEVICES"), "mlx5_1:1");
  EXPECT_EQ(value("rc", "NET_DEVICES"), "mlx5_1:1");
  EXPECT_EQ(value("tcp", "NET_DEVICES"), "");
}

TEST_F(SettingsTest, APortThatIsDownDoesNotCount) {
  add_device("mlx5_0", "Ethernet", "0x1017");
  add_device("mlx5_1", "InfiniBand", "0x101e", "1: DOWN");
  EXPECT_EQ(value("auto", "NET_DEVICES"), "");
  EXPECT_EQ(value("auto", "RC_MLX5_IS_GLOBAL"), "");
}

TEST_F(SettingsTest, AVirtualFunctionOfInfiniBandNeedsGidsAndGivesNoInline) {
  add_device("mlx5_0", "InfiniBand", "0x101e");
  EXPECT_EQ(value("auto", "RC_MLX5_IS_GLOBAL"), "y");
  EXPECT_EQ(value("auto", "UD_VERBS_TX_MIN_INLINE"), "0");
  EXPECT_EQ(value("auto", "NET_DEVICES"), "");  // there is no other
}

TEST_F(SettingsTest, APhysicalFunctionIsLeftAlone) {
  add_device("mlx5_0", "InfiniBand", "0x101b");
  EXPECT_EQ(value("auto", "ZCOPY_THRESH"), "");
  EXPECT_EQ(value("auto", "RC_MLX5_IS_GLOBAL"), "");
  fs::create_directories(sys_ / "class/infiniband/mlx5_0/device/physfn");  // a VF, seen on its host
  EXPECT_EQ(value("auto", "RC_MLX5_IS_GLOBAL"), "y");
}

TEST_F(SettingsTest, SoftRoceMustNotCheckGids) {
  add_device("rxe0", "Ethernet", "");
  EXPECT_EQ(value("auto", "UD_VERBS_ETH_DGID_CHECK"), "n");
  EXPECT_EQ(value("rc", "TLS"), "rc");
}

}  // namespace
}  // namespace vicinity::channel::ucx
