#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <string_view>
#include <vector>

namespace berth::nvml_abi {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

constexpr std::array kSimulated = std::to_array<std::string_view>({
#define BERTH_NVML_FUNCTION(name, parameters) #name,
#define BERTH_NVML_TEXT_FUNCTION(name, parameters) #name,
#include "gpu/nvml_abi/simulated.inc"
});

constexpr std::array kOthers = std::to_array<std::string_view>({
#define BERTH_NVML_STUB(name) #name,
#define BERTH_NVML_CHANGE(name) #name,
#define BERTH_NVML_CHANGE_OTHER(name) #name,
#include "gpu/nvml_abi/functions.inc"
});

constexpr std::array kChanges = std::to_array<std::string_view>({
#define BERTH_NVML_STUB(name)
#define BERTH_NVML_CHANGE(name) #name,
#define BERTH_NVML_CHANGE_OTHER(name) #name,
#include "gpu/nvml_abi/functions.inc"
});

TEST(Functions, EachListIsSortedWithoutDoubles) {
  EXPECT_TRUE(std::ranges::is_sorted(kSimulated, std::ranges::less_equal{}));
  EXPECT_TRUE(std::ranges::is_sorted(kOthers, std::ranges::less_equal{}));
}

TEST(Functions, NoneIsInBothLists) {
  std::vector<std::string_view> both;
  std::ranges::set_intersection(kSimulated, kOthers, std::back_inserter(both));
  EXPECT_THAT(both, IsEmpty());
}

/// Counting of changing calls relies on the kinds; for names of this form the kind is not in doubt.
TEST(Functions, WhatSetsSomethingOfADeviceIsAChange) {
  for (const std::string_view name : kOthers) {
    const bool is_of_thread = name.ends_with("CpuAffinity");
    if ((name.starts_with("nvmlDeviceSet") || name.starts_with("nvmlDeviceReset")) && !is_of_thread) {
      EXPECT_THAT(kChanges, Contains(name));
    } else if (name.starts_with("nvmlDeviceGet")) {
      EXPECT_THAT(kChanges, Not(Contains(name)));
    }
  }
  EXPECT_THAT(kChanges, Contains("nvmlDeviceRemoveGpu"));
}

}  // namespace
}  // namespace berth::nvml_abi
