#include "live/folder/local_fleet.h"

#include <gtest/gtest.h>

#include "domain/mig/catalogue.h"

namespace berth::live {
namespace {

TEST(LocalFleet, IsReadAsItWasWritten) {
  std::vector<device::LocalGpu> gpus;
  for (GpuModel model : mig::gpu_models()) {
    for (MigProfile& profile : model.profiles) profile.unverified.clear();
    model.has_full = model.profiles.empty();
    gpus.push_back({.uuid = "GPU-" + model.name,
                    .name = "NVIDIA " + model.name,
                    .pci_bus_id = "00000000:07:00.0",
                    .model = model,
                    .differences = {}});
  }
  const auto read = read_fleet_json(fleet_json(gpus));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, gpus);
}

TEST(LocalFleet, OneOfAnEarlierVersionMayUseWholeGpus) {
  std::string text = fleet_json({{.uuid = "GPU-1", .name = "", .pci_bus_id = "", .model = {}, .differences = {}}});
  const std::string added = ",\"has_full\":true";
  ASSERT_NE(text.find(added), std::string::npos);
  text.erase(text.find(added), added.size());
  const auto read = read_fleet_json(text);
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->front().model.has_full);
}

TEST(LocalFleet, AnythingElseIsRefused) {
  for (const char* text : {"", "{}", "{\"gpus\":[{}]}", "[1]"}) EXPECT_FALSE(read_fleet_json(text).has_value()) << text;
}

}  // namespace
}  // namespace berth::live
