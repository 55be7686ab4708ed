#include "gpu/nvml/detail/functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace berth::edges::detail {
namespace {

/// All names that are looked up.
constexpr std::array kNames = {
#define BERTH_NVML_NEEDED(name) std::string_view(#name),
#define BERTH_NVML_NEEDED_OR(name, older) std::string_view(#name), std::string_view(#older),
#define BERTH_NVML_OPTIONAL(name) std::string_view(#name),
#include "gpu/nvml/detail/functions.inc"
};

TEST(Functions, OnlyAsk) {
  for (const std::string_view name : kNames) {
    const bool is_about_events = name.starts_with("nvmlEventSet") || name == "nvmlDeviceRegisterEvents";
    const bool is_about_itself = name == "nvmlInit_v2" || name == "nvmlShutdown";
    const bool asks = name.starts_with("nvmlDeviceGet") || name.starts_with("nvmlSystemGet") ||
                      name.starts_with("nvmlGpuInstanceGet") || name.starts_with("nvmlComputeInstanceGet");
    const bool is_about_samples =
        name.starts_with("nvmlGpm") && name.find("Set") == std::string_view::npos;  // in memory of this process
    EXPECT_TRUE(asks || is_about_events || is_about_itself || is_about_samples) << name;
  }
}

}  // namespace
}  // namespace berth::edges::detail
