#include "gpu/device/local_gpu.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/mig/board.h"
#include "domain/mig/catalogue.h"
#include "gpu/device/standing.h"

namespace berth::device {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A device whose figures equal our table's.
GpuFacts facts_of(std::string_view name) {
  const GpuModel model = mig::find_gpu_model(name).value();
  GpuFacts facts{
      .uuid = "GPU-1", .name = "NVIDIA Test", .pci_bus_id = "00000000:07:00.0", .memory_mib = 1000, .profiles = {}};
  facts.pci_device_id = mig::board_of(mig::find_gpu_model(name).value()).pci_device_id;
  facts.is_mig_capable = model.is_mig_capable();
  for (const MigProfile& profile : model.profiles) {
    facts.profiles.push_back({.id = static_cast<std::uint32_t>(profile.device_profile_id),
                              .name = profile.name,
                              .compute_slices = profile.compute_slices,
                              .instances_max = profile.instances_max,
                              .sms = profile.sms.value_or(11),
                              .memory_mib = profile.memory_mib.value_or(2222),
                              .length = profile.length,
                              .starts = profile.starts});
  }
  return facts;
}

TEST(LocalGpu, IsTheModelOfTheCatalogueWithTheDevicesMemory) {
  const LocalGpu gpu = local_gpu_of(facts_of("A100-80GB"));
  EXPECT_EQ(gpu.model.name, "A100-80GB");
  EXPECT_EQ(gpu.model.memory_mib, 1000);
  EXPECT_THAT(gpu.differences, IsEmpty());
  EXPECT_EQ(gpu.model.profiles.size(), mig::find_gpu_model("A100-80GB")->profiles.size());
}

TEST(LocalGpu, TheDeviceIsRightAndTheDifferenceIsTold) {
  GpuFacts facts = facts_of("H100-80GB-SXM5");
  facts.profiles[2].memory_mib = 20096;  // 1g.20gb, as measured
  facts.profiles[3].starts = {0, 2};
  facts.profiles.erase(facts.profiles.begin());
  facts.profiles.push_back({.id = 99,
                            .name = "5g.50gb",
                            .compute_slices = 5,
                            .instances_max = 1,
                            .sms = 80,
                            .memory_mib = 50000,
                            .length = 8,
                            .starts = {0}});
  const LocalGpu gpu = local_gpu_of(facts);
  EXPECT_THAT(gpu.differences,
              ElementsAre("1g.10gb: the device does not have it", "1g.20gb: memory in MiB 20096, our table has 20091",
                          "2g.20gb: starts [0, 2], our table has [0, 2, 4]", "5g.50gb: our table does not have it"));
  EXPECT_EQ(gpu.model.profiles.front().name, "1g.10gb+me");
  EXPECT_EQ(gpu.model.profiles.back().compute_slices, 5);
  EXPECT_EQ(gpu.model.profiles[2].starts, (std::vector<int>{0, 2}));
}

TEST(LocalGpu, FiguresThatNoSourceStatesAreNoDifference) {
  const LocalGpu gpu = local_gpu_of(facts_of("GH200-96GB"));  // its 1g has no memory in our table
  EXPECT_THAT(gpu.differences, IsEmpty());
  EXPECT_EQ(gpu.model.profiles[0].memory_mib, 2222);
  EXPECT_THAT(gpu.model.profiles[0].unverified, IsEmpty());
}

TEST(LocalGpu, ADeviceThatNobodyKnowsIsWhatItSays) {
  GpuFacts facts = facts_of("A30-24GB");
  facts.pci_device_id = 0x9999;
  facts.name = "NVIDIA X 100";
  const LocalGpu gpu = local_gpu_of(facts);
  EXPECT_EQ(gpu.model.name, "NVIDIA-X-100");
  EXPECT_EQ(gpu.model.units, 4);
  EXPECT_EQ(gpu.model.compute_slices, 4);
  EXPECT_THAT(gpu.differences, ElementsAre("NVIDIA X 100 (PCI device 0x9999): our tables do not have it"));
}

TEST(LocalGpu, AnotherDriverMayListItOtherwise) {
  const GpuModel then = local_gpu_of(facts_of("A30-24GB")).model;
  EXPECT_THAT(changes_since(then, then), IsEmpty());
  GpuModel now = then;
  now.memory_mib += 1;
  now.profiles[0].memory_mib = 1;
  now.profiles[0].sms = 2;
  now.profiles[1].starts = {0};
  now.profiles.back().device_profile_id = 99;
  const std::string last = then.profiles.back().name;
  const auto changes = changes_since(then, now);
  ASSERT_EQ(changes.size(), 6U);
  EXPECT_EQ(changes[0], fmt::format("1g.6gb: now 1 MiB, when this folder began {}", *then.profiles[0].memory_mib));
  EXPECT_EQ(changes[1], fmt::format("1g.6gb: now 2 SMs, when this folder began {}", *then.profiles[0].sms));
  EXPECT_THAT(changes[2], ::testing::HasSubstr("units at [0], at most"));
  EXPECT_EQ(changes[3], last + ": the device does not have it any more");
  EXPECT_EQ(changes[4], last + ": the device did not have it when this folder began");
  EXPECT_EQ(changes[5], "the GPU: now 1001 MiB, when this folder began 1000");
  EXPECT_FALSE(have_same_placements(then, now));
  GpuModel other_memory = then;
  other_memory.memory_mib = 1;
  other_memory.profiles[0].memory_mib = 1;
  other_memory.profiles[0].sms = 1;
  EXPECT_TRUE(have_same_placements(then, other_memory));
  other_memory.profiles.pop_back();
  EXPECT_FALSE(have_same_placements(then, other_memory));
  now.name = "A100-80GB";
  EXPECT_EQ(changes_since(then, now)[0], "now it is A100-80GB, when this folder began it was A30-24GB");
}

Scenario scenario_with(const std::vector<std::pair<std::string, int>>& fleet) {
  Scenario scenario;
  for (const auto& [name, count] : fleet) {
    scenario.fleet.push_back(
        {.model = mig::find_gpu_model(name).value(), .count = count, .usd_per_gpu_hour = Decimal(2)});
  }
  return scenario;
}

std::vector<LocalGpu> gpus_of(const std::vector<std::string>& names) {
  std::vector<LocalGpu> gpus;
  gpus.reserve(names.size());
  for (const std::string& name : names) gpus.push_back(local_gpu_of(facts_of(name)));
  for (std::size_t index = 0; index < gpus.size(); ++index) gpus[index].uuid = "GPU-" + std::to_string(index);
  return gpus;
}

TEST(LocalFleet, AnEmptyOneIsWhatTheMachineHas) {
  Scenario scenario;
  ASSERT_TRUE(put_fleet(scenario, gpus_of({"A30-24GB", "A30-24GB", "T4-16GB"})).has_value());
  ASSERT_EQ(scenario.fleet.size(), 2U);
  EXPECT_EQ(scenario.fleet[0].count, 2);
  EXPECT_EQ(scenario.gpu_count(), 3U);
}

TEST(LocalFleet, OneThatIsWrittenMustBeIt) {
  Scenario scenario = scenario_with({{"A30-24GB", 1}, {"T4-16GB", 1}});
  ASSERT_TRUE(put_fleet(scenario, gpus_of({"A30-24GB", "T4-16GB"})).has_value());
  EXPECT_EQ(scenario.fleet[0].model.memory_mib, 1000);
  EXPECT_EQ(scenario.fleet[0].usd_per_gpu_hour, Decimal(2));
  EXPECT_EQ(put_fleet(scenario, gpus_of({"A30-24GB", "L4-24GB"})).error().message,
            "fleet: gpu-1: wanted L4-24GB, which this machine has there (GPU-1), found T4-16GB");
  EXPECT_EQ(put_fleet(scenario, gpus_of({"A30-24GB"})).error().message,
            "fleet: wanted the 1 GPUs of this machine, found 2");
}

TEST(LocalFleet, ALayoutKeepsItsProfiles) {
  Scenario scenario = scenario_with({{"A30-24GB", 1}});
  scenario.layout = {{.slice = {.gpu = {0}, .start = 2, .profile = {2}}, .services = {}}};
  GpuFacts facts = facts_of("A30-24GB");
  facts.profiles.erase(facts.profiles.begin());
  ASSERT_TRUE(put_fleet(scenario, {local_gpu_of(facts)}).has_value());
  EXPECT_EQ(scenario.layout->front().slice.profile, ProfileId{1});
  facts.profiles.erase(facts.profiles.begin() + 1);
  Scenario other = scenario_with({{"A30-24GB", 1}});
  other.layout = {{.slice = {.gpu = {0}, .start = 2, .profile = {2}}, .services = {}}};
  EXPECT_EQ(put_fleet(other, {local_gpu_of(facts)}).error().message,
            "layout: gpu-0: wanted a profile of NVIDIA Test, found 2g.12gb, which the device does not have");
}

TEST(LocalFleet, PinsKeepTheirProfiles) {
  const auto with_pin = [](ProfileId profile) {
    Scenario scenario = scenario_with({{"A30-24GB", 1}});
    ServiceSpec service;
    service.name = "a";
    service.pins = {{.slice = {.gpu = {0}, .start = 2, .profile = profile}}};
    scenario.services.push_back(service);
    return scenario;
  };
  GpuFacts facts = facts_of("A30-24GB");
  facts.profiles.erase(facts.profiles.begin());
  Scenario scenario = with_pin({2});
  ASSERT_TRUE(put_fleet(scenario, {local_gpu_of(facts)}).has_value());
  EXPECT_EQ(scenario.services[0].pins.front().slice.profile, ProfileId{1});
  Scenario other = with_pin({0});
  EXPECT_EQ(put_fleet(other, {local_gpu_of(facts)}).error().message,
            "a.pins: gpu-0: wanted a profile of NVIDIA Test, found 1g.6gb, which the device does not have");
}

TEST(LocalFleet, AWholeGpuIsForThoseWithoutMig) {
  EXPECT_TRUE(local_gpu_of(facts_of("T4-16GB")).model.has_full);
  EXPECT_FALSE(local_gpu_of(facts_of("A30-24GB")).model.has_full);
  const Holding whole{.slice = {.gpu = {0}, .start = 0, .profile = ProfileId::full()}, .services = {}};
  Scenario plain = scenario_with({{"T4-16GB", 1}});
  plain.layout = {whole};
  EXPECT_TRUE(put_fleet(plain, gpus_of({"T4-16GB"})).has_value());
  Scenario scenario = scenario_with({{"A30-24GB", 1}});
  scenario.layout = {whole};
  EXPECT_EQ(put_fleet(scenario, gpus_of({"A30-24GB"})).error().message,
            "layout: gpu-0: wanted a profile of NVIDIA Test, found full, which is not used where MIG partitions a GPU");
}

TEST(Standing, IsTheInstancesByTheirPlaces) {
  const GpuModel model = mig::find_gpu_model("A100-80GB").value();
  GpuReading reading;
  reading.is_mig_on = true;
  reading.instances = {{.id = 2, .profile_id = 9, .start = 4, .length = 4, .compute_instances = {}},
                       {.id = 7, .profile_id = 19, .start = 0, .length = 1, .compute_instances = {}},
                       {.id = 1, .profile_id = 77, .start = 1, .length = 2, .compute_instances = {}}};
  const Standing standing = standing_on({3}, model, reading);
  EXPECT_THAT(standing.slices, ElementsAre(Slice{.gpu = {3}, .start = 0, .profile = {0}},
                                           Slice{.gpu = {3}, .start = 4, .profile = {4}}));
  EXPECT_THAT(standing.unknown, ElementsAre("GPU instance 1 of profile id 77 at 1, length 2"));
}

TEST(WholeDevice, IsTheOneComputeInstanceOfASlice) {
  const GpuModel model = mig::find_gpu_model("A100-80GB").value();
  const ComputeInstanceSeen whole{.id = 0, .start = 0, .slices = 1, .uuid = "MIG-1", .is_whole = true};
  const ComputeInstanceSeen part{.id = 0, .start = 0, .slices = 1, .uuid = "MIG-2", .is_whole = false};
  GpuReading reading;
  reading.is_mig_on = true;
  reading.instances = {{.id = 7, .profile_id = 19, .start = 0, .length = 1, .compute_instances = {whole}},
                       {.id = 8, .profile_id = 19, .start = 1, .length = 1, .compute_instances = {}},
                       {.id = 2, .profile_id = 9, .start = 4, .length = 4, .compute_instances = {part}}};
  const auto device_at = [&](int start, ProfileId profile) {
    return whole_device_of({.gpu = {3}, .start = start, .profile = profile}, model, reading);
  };
  EXPECT_EQ(device_at(0, {0}), &reading.instances[0].compute_instances[0]);
  EXPECT_EQ(device_at(0, {4}), nullptr) << "another profile stands there";
  EXPECT_EQ(device_at(1, {0}), nullptr) << "not made yet";
  EXPECT_EQ(device_at(2, {0}), nullptr);
  EXPECT_EQ(device_at(4, {4}), nullptr) << "somebody has divided it";
  EXPECT_EQ(device_at(0, ProfileId::full()), nullptr);
}

TEST(Standing, AWholeGpuStandsWhileSomebodyUsesIt) {
  const GpuModel model = mig::find_gpu_model("T4-16GB").value();
  GpuReading reading;
  EXPECT_THAT(standing_on({0}, model, reading).slices, IsEmpty());
  reading.processes.emplace_back().pid = 7;
  EXPECT_THAT(standing_on({0}, model, reading).slices,
              ElementsAre(Slice{.gpu = {0}, .start = 0, .profile = ProfileId::full()}));
}

}  // namespace
}  // namespace berth::device
