#include "gpu/nvml/passed_through_gpus.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

namespace berth::edges {
namespace {

constexpr std::size_t kDevicesMax = 65'536;

/// A file that contains one number, "0x10de".
std::optional<std::uint32_t> read_number(const std::filesystem::path& path) {
  constexpr std::string_view kPrefix = "0x";
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) || !line.starts_with(kPrefix)) return std::nullopt;
  std::uint32_t number = 0;
  const char* const begin = line.data() + kPrefix.size();
  const char* const end = line.data() + line.size();
  const auto [stop, error] = std::from_chars(begin, end, number, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

bool is_passed_through_gpu(const std::filesystem::path& device) {
  constexpr std::uint32_t kNvidia = 0x10DE;
  constexpr std::uint32_t kDisplayController = 0x03;  // the first byte of three
  if (read_number(device / "vendor") != kNvidia) return false;
  const std::optional<std::uint32_t> kind = read_number(device / "class");
  if (!kind || *kind >> 16U != kDisplayController) return false;
  std::error_code error;
  return std::filesystem::read_symlink(device / "driver", error).filename() == "vfio-pci";
}

}  // namespace

std::vector<PassedThroughGpu> find_passed_through_gpus(const std::filesystem::path& sysfs_root) {
  std::vector<PassedThroughGpu> gpus;
  std::error_code error;
  std::filesystem::directory_iterator device(sysfs_root / "bus/pci/devices", error);
  for (std::size_t count = 0; !error && device != std::filesystem::directory_iterator() && count < kDevicesMax;
       ++count, device.increment(error)) {
    const std::filesystem::path& folder = device->path();
    if (!is_passed_through_gpu(folder)) continue;
    const std::uint32_t id = read_number(folder / "device").value_or(0);
    gpus.push_back({folder.filename().string(), static_cast<std::uint16_t>(id)});
  }
  std::ranges::sort(gpus, {}, &PassedThroughGpu::pci_bus_id);
  return gpus;
}

}  // namespace berth::edges
