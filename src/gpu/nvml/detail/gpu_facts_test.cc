#include "gpu/nvml/detail/gpu_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "gpu/nvml/test_failures.h"

namespace berth::edges::detail {
namespace {

using nvml_abi::Code;
using nvml_abi::Device;
using nvml_abi::GpuInstancePlacement;
using nvml_abi::GpuInstanceProfileV1;
using nvml_abi::GpuInstanceProfileV2;
using ::testing::ElementsAre;

/// A driver newer than our header: it has profile number 19, and refuses numbers from 20 on.
Code describe_new(std::uint32_t number, auto* profile) {
  if (number >= 20) return Code::kInvalidArgument;
  if (number != 0 && number != 19) return Code::kNotSupported;
  profile->id = 40 + number;
  profile->slices = number + 1;
  profile->multiprocessors = 14;
  profile->memory_mib = 9'984;
  profile->instances_max = 7;
  return Code::kSuccess;
}

Functions new_driver() {
  Functions functions;
  functions.nvmlDeviceGetName = [](Device, char* name, std::uint32_t length) {
    std::fill_n(name, length, 'N');  // without a zero
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetPciInfo_v3 = [](Device, nvml_abi::PciPlaceV3* place) {
    place->device_id = 0x20B210DEU;
    std::ranges::copy("00000000:07:00.0", place->bus_id);
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetMemoryInfo = [](Device, nvml_abi::MemoryV1* memory) {
    memory->total_bytes = std::uint64_t{81'559} << 20U;
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetMigMode = [](Device, std::uint32_t* current, std::uint32_t* pending) {
    *current = *pending = 0;
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetGpuInstanceProfileInfoV = [](Device, std::uint32_t number, GpuInstanceProfileV2* profile) {
    if (profile->version != nvml_abi::version_of<GpuInstanceProfileV2>(2)) return Code::kInvalidArgument;
    profile->version = 0;  // as measured
    std::ranges::copy("MIG 1g.10gb", profile->name);
    return describe_new(number, profile);
  };
  functions.nvmlDeviceGetGpuInstanceProfileInfo = [](Device, std::uint32_t number, GpuInstanceProfileV1* profile) {
    return describe_new(number, profile);
  };
  functions.nvmlDeviceGetGpuInstancePossiblePlacements_v2 = [](Device, std::uint32_t, GpuInstancePlacement* places,
                                                               std::uint32_t* count) {
    *count = 2;
    if (places == nullptr) return Code::kSuccess;
    *places++ = {4, 1};
    *places = {0, 1};
    return Code::kSuccess;
  };
  return functions;
}

std::vector<std::uint32_t> ids_of(const GpuFacts& facts) {
  std::vector<std::uint32_t> ids;
  ids.reserve(facts.profiles.size());
  for (const GpuProfileFacts& profile : facts.profiles) ids.push_back(profile.id);
  return ids;
}

TEST(GpuFactsOfNvml, ContainProfilesThatNoHeaderOfOursNames) {
  const auto facts = read_facts(new_driver(), nullptr, "GPU-1");
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->name, std::string(96, 'N'));
  EXPECT_EQ(facts->pci_bus_id, "00000000:07:00.0");
  EXPECT_EQ(facts->pci_device_id, 0x20B2);
  EXPECT_EQ(facts->memory_mib, 81'559);
  EXPECT_TRUE(facts->is_mig_capable);
  EXPECT_THAT(ids_of(*facts), ElementsAre(40U, 59U));
  EXPECT_EQ(facts->profiles.front(), (GpuProfileFacts{40, "1g.10gb", 1, 7, 14, 9'984, 1, {0, 4}}));
}

TEST(GpuFactsOfNvml, ADriverWithoutTheNamedVersionHasProfilesWithoutNames) {
  Functions functions = new_driver();
  functions.nvmlDeviceGetGpuInstanceProfileInfoV = [](Device, std::uint32_t, GpuInstanceProfileV2*) {
    return Code::kInvalidArgument;
  };
  const auto facts = read_facts(functions, nullptr, "GPU-1");
  ASSERT_TRUE(facts.has_value());
  EXPECT_THAT(ids_of(*facts), ElementsAre(40U, 59U));
  EXPECT_EQ(facts->profiles.front().name, "");
}

TEST(GpuFactsOfNvml, ProfilesWhosePlacesTheDriverDoesNotSayHaveNone) {
  Functions functions = new_driver();
  functions.nvmlDeviceGetGpuInstancePossiblePlacements_v2 = [](Device, std::uint32_t, GpuInstancePlacement*,
                                                               std::uint32_t*) { return Code::kNotSupported; };
  const auto facts = read_facts(functions, nullptr, "GPU-1");
  ASSERT_TRUE(facts.has_value());
  EXPECT_THAT(facts->profiles.front().starts, ElementsAre());
  EXPECT_EQ(facts->profiles.front().length, 0);
}

TEST(GpuFactsOfNvml, OtherAnswersAreFailures) {
  Functions functions = new_driver();
  functions.nvmlDeviceGetGpuInstanceProfileInfoV = [](Device, std::uint32_t, GpuInstanceProfileV2*) {
    return Code::kGpuIsLost;
  };
  EXPECT_TRUE(failure_of(read_facts(functions, nullptr, "GPU-1")).is_gpu_lost);
  functions = new_driver();
  functions.nvmlDeviceGetMigMode = [](Device, std::uint32_t*, std::uint32_t*) { return Code::kNoPermission; };
  EXPECT_EQ(failure_of(read_facts(functions, nullptr, "GPU-1")).call, "nvmlDeviceGetMigMode");
  functions.nvmlDeviceGetMigMode = [](Device, std::uint32_t*, std::uint32_t*) { return Code::kNotSupported; };
  EXPECT_FALSE(read_facts(functions, nullptr, "GPU-1")->is_mig_capable);
}

}  // namespace
}  // namespace berth::edges::detail
