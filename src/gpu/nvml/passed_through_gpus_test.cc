#include "gpu/nvml/passed_through_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace berth::edges {
namespace {

using std::filesystem::path;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A tree like /sys, removed in the end.
class PassedThroughGpus : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = path(::testing::TempDir()) / "passed_through_gpus";
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ / "bus/pci/devices");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  struct Device {
    std::string bus_id;
    std::string vendor = "0x10de";
    std::string kind = "0x030200";
    std::string driver = "vfio-pci";
  };
  /// As in sysfs: the entry is a link to the device's folder, and so is its driver.
  void add(const Device& device) {
    const path folder = root_ / "devices/pci0000:00" / device.bus_id;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "vendor") << device.vendor << '\n';
    std::ofstream(folder / "class") << device.kind << '\n';
    std::ofstream(folder / "device") << "0x2330\n";
    if (!device.driver.empty()) {
      const path driver = root_ / "bus/pci/drivers" / device.driver;
      std::filesystem::create_directories(driver);
      std::filesystem::create_directory_symlink(driver, folder / "driver");
    }
    std::filesystem::create_directory_symlink(folder, root_ / "bus/pci/devices" / device.bus_id);
  }

  path root_;
};

TEST_F(PassedThroughGpus, AreThoseOfNvidiaThatAreBoundToVfio) {
  add({.bus_id = "0000:8a:00.0"});
  add({.bus_id = "0000:07:00.0", .kind = "0x030000"});
  add({.bus_id = "0000:07:00.1", .kind = "0x040300"});   // its sound device
  add({.bus_id = "0000:0b:00.0", .vendor = "0x8086"});   // another vendor's
  add({.bus_id = "0000:0c:00.0", .driver = "nvidia"});   // the driver's
  add({.bus_id = "0000:0d:00.0", .driver = ""});         // no driver
  add({.bus_id = "0000:0e:00.0", .vendor = "0x10dez"});  // not a number
  add({.bus_id = "0000:0f:00.0", .kind = "3d"});         // not a number
  EXPECT_THAT(find_passed_through_gpus(root_),
              ElementsAre(PassedThroughGpu{"0000:07:00.0", 0x2330}, PassedThroughGpu{"0000:8a:00.0", 0x2330}));
}

TEST_F(PassedThroughGpus, AreNoneWithoutATree) {
  EXPECT_THAT(find_passed_through_gpus(root_), IsEmpty());
  EXPECT_THAT(find_passed_through_gpus(root_ / "nowhere"), IsEmpty());
}

}  // namespace
}  // namespace berth::edges
