#include "gpu/nvml_sim_program/fake_root.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "gpu/nvml_sim_program/files.h"
#include "gpu/nvml_sim_program/module_list.h"

namespace berth::nvml_sim_cli {
namespace {

using nvml_sim::GpuRecord;
using std::filesystem::path;

constexpr const char* kBootIdPath = "/proc/sys/kernel/random/boot_id";

template <class... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

// The files

/// "0000:07:00.0", as sysfs names a device.
std::string pci_name(const GpuRecord& gpu) { return formatted("%04x:%02x:00.0", gpu.pci_domain, gpu.pci_bus); }

/// The first 64 bytes of the configuration space: ids and the class, in the bytes that PCI gives them.
std::string pci_config(unsigned vendor, unsigned device, unsigned pci_class) {
  std::string config(64, '\0');
  const auto put = [&](std::size_t offset, unsigned value, int bytes) {
    for (int i = 0; i < bytes; ++i) config[offset + i] = static_cast<char>(value >> (8 * i) & 0xFF);
  };
  put(0x00, vendor, 2);
  put(0x02, device, 2);
  put(0x09, pci_class, 3);
  put(0x2C, vendor, 2);
  return config;
}

/// The class matters: mig-parted resets only 3D controllers, which data centre GPUs are.
Result<void> write_gpu(const path& devices, const path& driver, const GpuRecord& gpu) {
  constexpr unsigned k3dController = 0x030200;
  const unsigned vendor = gpu.pci_device_id & 0xFFFF;
  const unsigned device = gpu.pci_device_id >> 16;
  const std::string name = pci_name(gpu);
  const std::array<std::pair<const char*, std::string>, 9> files = {{
      {"vendor", formatted("0x%04x\n", vendor)},
      {"device", formatted("0x%04x\n", device)},
      {"subsystem_vendor", formatted("0x%04x\n", vendor)},
      {"subsystem_device", "0x0000\n"},
      {"class", formatted("0x%06x\n", k3dController)},
      {"numa_node", "-1\n"},
      {"config", pci_config(vendor, device, k3dController)},
      {"resource", "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"},
      {"uevent", formatted("DRIVER=nvidia\nPCI_CLASS=%X\nPCI_ID=%04X:%04X\nPCI_SLOT_NAME=%s\n", k3dController, vendor,
                           device, name.c_str())},
  }};
  const path folder = devices / name;
  if (const auto made = make_folder(folder); !made) return made;
  for (const auto& [file, text] : files) {
    if (const auto written = write_file(folder / file, text); !written) return written;
  }
  return make_link(driver, folder / "driver");
}

// The places

tl::unexpected<Error> not_allowed(const std::string& what) {
  return invalid("--fake-root: wanted a mount namespace of our own, found that this is not allowed here: " + what +
                 ": " + text_of_errno());
}

Result<void> write_map(const char* file, const std::string& text) {
  const int descriptor = ::open(file, O_WRONLY | O_CLOEXEC);
  const bool is_written =
      descriptor >= 0 && ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!is_written) return not_allowed(file);
  ::close(descriptor);
  return {};
}

/// Enters a mount namespace from which mounts do not propagate.
Result<void> unshare_mounts() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWNS) != 0) {
    if (errno != EPERM || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return not_allowed("unshare");
    const std::array<std::pair<const char*, std::string>, 3> maps = {{
        {"/proc/self/setgroups", "deny"},
        {"/proc/self/uid_map", "0 " + std::to_string(user) + " 1"},
        {"/proc/self/gid_map", "0 " + std::to_string(group) + " 1"},
    }};
    for (const auto& [file, text] : maps) {
      if (const auto written = write_map(file, text); !written) return written;
    }
  }
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return not_allowed("mount /");
  return {};
}

Result<void> put_over(const path& ours, const char* place) {
  if (::mount(ours.c_str(), place, nullptr, MS_BIND, nullptr) != 0) return not_allowed("mount " + std::string(place));
  return {};
}

/// Mounts over the PCI devices; on a machine that has none, over the folders above them, too.
Result<void> put_over_pci(const path& folder) {
  for (const char* const place : {"bus/pci/devices", "bus/pci", "bus"}) {
    const std::string theirs = std::string("/sys/") + place;
    if (::access(theirs.c_str(), F_OK) == 0) return put_over(folder / place, theirs.c_str());
  }
  return not_allowed("/sys/bus");
}

}  // namespace

std::string module_list_of(const FakeRoot& root) { return path(root.folder) / "modules"; }

Result<void> write_fake_root(const FakeRoot& root, const nvml_sim::MachineRecord& machine) {
  const path folder = root.folder;
  const path devices = folder / "bus/pci/devices";
  const path driver = folder / "drivers/nvidia";
  for (const path& each : {devices, driver}) {
    if (const auto made = make_folder(each); !made) return made;
  }
  for (std::uint32_t index = 0; index < machine.gpu_count; ++index) {
    if (const auto written = write_gpu(devices, driver, machine.gpus[index]); !written) return written;
  }
  const std::string others = read_if_there(kModuleListPath);
  return write_file(module_list_of(root), "nvidia 16384 0 - Live 0x0000000000000000\n" + others);
}

Result<std::optional<int>> enter_fake_root(const FakeRoot& root) {
  if (const auto unshared = unshare_mounts(); !unshared) return pass_on(unshared.error());
  if (const auto put = put_over(root.boot_id, kBootIdPath); !put) return pass_on(put.error());
  if (const auto put = put_over_pci(root.folder); !put) return pass_on(put.error());
  if (::access(kModuleListPath, F_OK) == 0) {
    if (const auto put = put_over(module_list_of(root), kModuleListPath); !put) return pass_on(put.error());
    return std::nullopt;
  }
  const auto descriptor = watch_openings();
  if (!descriptor) return pass_on(descriptor.error());
  return *descriptor;
}

}  // namespace berth::nvml_sim_cli
