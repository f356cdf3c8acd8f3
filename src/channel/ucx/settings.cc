// SPDX-License-Identifier: BSD-3-Clause
// Reads sysfs; decides.
#include "channel/ucx/settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace vicinity::channel::ucx {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    found.push_back(at->path());
  std::sort(found.begin(), found.end());
  return found;
}

// Inside a guest only the number of the device tells a VF; on the host it has a `physfn`.
bool is_virtual_function(const fs::path& pci) {
  std::error_code error;
  if (fs::exists(pci / "physfn", error)) return true;
  if (first_line(pci / "vendor") != "0x15b3") return false;
  const std::string device = first_line(pci / "device");
  for (const char* vf : {"0x1002", "0x1004", "0x1012", "0x1014", "0x1016", "0x1018", "0x101a", "0x101c",
                         "0x101e"})
    if (device == vf) return true;
  return false;
}

bool has(const std::string& text, const char* word) { return text.find(word) != text.npos; }

}  // namespace

std::vector<Port> find_ports(const std::string& sys) {
  std::vector<Port> ports;
  std::error_code error;
  for (const fs::path& device : entries(sys + "/class/infiniband")) {
    const bool virtual_function = is_virtual_function(device / "device");
    // Soft-RoCE has no device behind it, but the network interface that it stands on.
    const bool soft = !fs::exists(device / "device", error) && fs::exists(device / "parent", error);
    for (const fs::path& path : entries(device / "ports")) {
      Port port;
      port.device = device.filename();
      const std::string number = path.filename();
      std::from_chars(number.data(), number.data() + number.size(), port.number);
      port.active = has(first_line(path / "state"), "ACTIVE");
      port.infiniband = first_line(path / "link_layer") == "InfiniBand";
      port.virtual_function = virtual_function;
      port.soft = soft;
      ports.push_back(port);
    }
  }
  return ports;
}

std::vector<Setting> choose_settings(const std::string& transport, const std::vector<Port>& ports) {
  std::vector<Setting> settings;
  if (transport != "auto") settings.emplace_back("TLS", transport);
  const bool any = std::any_of(ports.begin(), ports.end(), [](const Port& port) { return port.active; });
  if (transport == "tcp" || (transport == "auto" && !any)) {
    settings.emplace_back("TCP_PUT_ENABLE", "n");
    settings.emplace_back("ZCOPY_THRESH", "inf");
    settings.emplace_back("TCP_TX_SEG_SIZE", "64K");
  }
  if (transport == "tcp") return settings;
  std::string infiniband;
  bool other = false, virtual_function = false, soft = false;
  for (const Port& port : ports) {
    if (!port.active) continue;
    soft |= port.soft;
    virtual_function |= port.infiniband && port.virtual_function;
    if (port.infiniband)
      infiniband += (infiniband.empty() ? "" : ",") + port.device + ":" + std::to_string(port.number);
    else
      other = true;
  }
  if (!infiniband.empty() && other) settings.emplace_back("NET_DEVICES", infiniband);
  for (const char* iface : {"RC_VERBS_", "RC_MLX5_", "UD_VERBS_", "UD_MLX5_"}) {
    if (!virtual_function) break;
    settings.emplace_back(std::string(iface) + "IS_GLOBAL", "y");
    settings.emplace_back(std::string(iface) + "TX_MIN_INLINE", "0");
  }
  if (soft) settings.emplace_back("UD_VERBS_ETH_DGID_CHECK", "n");
  return settings;
}

}  // namespace vicinity::channel::ucx
