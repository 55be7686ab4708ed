#include "gpu/nvml_abi/names.h"

#include <algorithm>
#include <array>

#include "gpu/nvml_abi/constants.h"

namespace berth::nvml_abi {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kGpuInstanceProfiles = {
    "1_SLICE"sv,     "2_SLICE"sv,       "3_SLICE"sv,       "4_SLICE"sv,        "7_SLICE"sv,        "8_SLICE"sv,
    "6_SLICE"sv,     "1_SLICE_REV1"sv,  "2_SLICE_REV1"sv,  "1_SLICE_REV2"sv,   "1_SLICE_GFX"sv,    "2_SLICE_GFX"sv,
    "4_SLICE_GFX"sv, "1_SLICE_NO_ME"sv, "2_SLICE_NO_ME"sv, "1_SLICE_ALL_ME"sv, "2_SLICE_ALL_ME"sv, "3_SLICE_GFX"sv,
};
static_assert(kGpuInstanceProfiles.size() == kGpuInstanceProfileCount);

constexpr std::array kComputeInstanceProfiles = {
    "1_SLICE"sv, "2_SLICE"sv, "3_SLICE"sv,      "4_SLICE"sv,     "7_SLICE"sv,
    "8_SLICE"sv, "6_SLICE"sv, "1_SLICE_REV1"sv, "7_SLICE_NVL"sv,
};
static_assert(kComputeInstanceProfiles.size() == kComputeInstanceProfileCount);

constexpr std::array kRecoveryActions = {
    "NONE"sv,      "GPU_RESET"sv,     "NODE_REBOOT"sv, "DRAIN_P2P"sv, "DRAIN_AND_RESET"sv, "RECOVER_IMEX_DOMAIN"sv,
    "BUS_RESET"sv, "SYSTEM_REBOOT"sv,
};
static_assert(kRecoveryActions.size() == kRecoveryActionCount);

}  // namespace

NameTable gpu_instance_profiles() { return kGpuInstanceProfiles; }

NameTable compute_instance_profiles() { return kComputeInstanceProfiles; }

NameTable recovery_actions() { return kRecoveryActions; }

std::optional<std::uint32_t> find_number(NameTable table, std::string_view name) {
  const auto found = std::ranges::find(table, name);
  if (found == table.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - table.begin());
}

std::string_view find_name(NameTable table, std::uint32_t number) {
  return number < table.size() ? table[number] : std::string_view{};
}

}  // namespace berth::nvml_abi
