#include "gpu/nvml/detail/gpu_facts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "gpu/nvml/detail/answers.h"

namespace berth::edges::detail {

using nvml_abi::Code;
using nvml_abi::Device;

namespace {

/// A driver may have more profiles than our header. It refuses numbers that it does not have.
constexpr std::uint32_t kProfileNumbersMax = 64;

/// Collects what `ask(number)` finds for each number of an enumeration with `known_count` known members.
///
/// A number without an answer is not a failure: the driver returns kNotSupported for one that this model does not have,
/// and kInvalidArgument for one that it does not know. So the first kInvalidArgument beyond the known ones ends the
/// search.
template <class Ask>
GpuAnswer<void> for_each_number(std::string_view call, std::uint32_t known_count, Ask ask) {
  for (std::uint32_t number = 0; number < kProfileNumbersMax; ++number) {
    const Code code = ask(number);
    if (code == Code::kInvalidArgument && number >= known_count) break;
    const bool is_answered = code == Code::kSuccess || code == Code::kNotSupported || code == Code::kInvalidArgument;
    if (!is_answered) return failed(call, code);
  }
  return {};
}

template <class Description>
GpuProfileFacts profile_of(const Description& description) {
  GpuProfileFacts profile;
  profile.id = description.id;
  profile.compute_slices = static_cast<int>(description.slices);
  profile.instances_max = static_cast<int>(description.instances_max);
  profile.sms = static_cast<int>(description.multiprocessors);
  profile.memory_mib = static_cast<std::int64_t>(description.memory_mib);
  return profile;
}

/// The profile with a number, without its places. Its name comes with version 2 of the description: version 3 has it at
/// a wrong byte (docs/reference/nvml.md).
Code describe_profile(const Functions& functions, Device device, std::uint32_t number, GpuProfileFacts& profile) {
  if (functions.nvmlDeviceGetGpuInstanceProfileInfoV != nullptr) {
    nvml_abi::GpuInstanceProfileV2 named;
    named.version = nvml_abi::version_of<nvml_abi::GpuInstanceProfileV2>(2);
    const Code code = functions.nvmlDeviceGetGpuInstanceProfileInfoV(device, number, &named);
    if (code == Code::kSuccess) {
      constexpr std::string_view kPrefix = "MIG ";
      profile = profile_of(named);
      profile.name = text_of(named.name);
      if (profile.name.starts_with(kPrefix)) profile.name.erase(0, kPrefix.size());
      return code;
    }
    // A driver that does not know this version may return kInvalidArgument, as for an unknown number.
    if (code == Code::kNotSupported || code == Code::kGpuIsLost) return code;
  }
  nvml_abi::GpuInstanceProfileV1 plain;
  const Code code = functions.nvmlDeviceGetGpuInstanceProfileInfo(device, number, &plain);
  if (code == Code::kSuccess) profile = profile_of(plain);
  return code;
}

GpuAnswer<std::vector<GpuProfileFacts>> describe_profiles(const Functions& functions, Device device) {
  std::vector<GpuProfileFacts> profiles;
  const GpuAnswer<void> asked = for_each_number(
      "nvmlDeviceGetGpuInstanceProfileInfo", nvml_abi::kGpuInstanceProfileCount, [&](std::uint32_t number) {
        GpuProfileFacts profile;
        const Code code = describe_profile(functions, device, number, profile);
        if (code == Code::kSuccess) profiles.push_back(std::move(profile));
        return code;
      });
  if (!asked) return tl::unexpected(asked.error());
  return profiles;
}

/// Adds the placements of a profile. The library ignores the capacity passed in, so the count is queried first.
GpuAnswer<void> read_places(const Functions& functions, Device device, GpuProfileFacts& profile) {
  constexpr std::string_view kCall = "nvmlDeviceGetGpuInstancePossiblePlacements_v2";
  constexpr std::uint32_t kPlacesMax = 1024;
  const auto ask = functions.nvmlDeviceGetGpuInstancePossiblePlacements_v2;
  std::uint32_t count = 0;
  Code code = ask(device, profile.id, nullptr, &count);
  if (is_not_offered(code)) return {};
  if (code != Code::kSuccess) return failed(kCall, code);
  if (count > kPlacesMax) return failed(kCall, Code::kInsufficientSize);

  std::vector<nvml_abi::GpuInstancePlacement> places(kPlacesMax);
  count = kPlacesMax;
  code = ask(device, profile.id, places.data(), &count);
  if (code != Code::kSuccess) return failed(kCall, code);
  places.resize(std::min(count, kPlacesMax));
  for (const nvml_abi::GpuInstancePlacement& place : places) {
    profile.starts.push_back(static_cast<int>(place.start));
    profile.length = static_cast<int>(place.size);
  }
  std::ranges::sort(profile.starts);
  return {};
}

/// Name, address and memory.
GpuAnswer<void> read_identity(const Functions& functions, Device device, GpuFacts& facts) {
  std::array<char, nvml_abi::kNameV2Bytes> name{};
  Code code = functions.nvmlDeviceGetName(device, name.data(), name.size());
  if (code != Code::kSuccess) return failed("nvmlDeviceGetName", code);
  facts.name = text_of(std::string_view(name.data(), name.size()));

  nvml_abi::PciPlaceV3 place;
  code = functions.nvmlDeviceGetPciInfo_v3(device, &place);
  if (code != Code::kSuccess) return failed("nvmlDeviceGetPciInfo_v3", code);
  facts.pci_bus_id = text_of(place.bus_id);
  facts.pci_device_id = static_cast<std::uint16_t>(place.device_id >> 16U);

  nvml_abi::MemoryV1 memory;
  code = functions.nvmlDeviceGetMemoryInfo(device, &memory);
  if (code != Code::kSuccess) return failed("nvmlDeviceGetMemoryInfo", code);
  facts.memory_mib = mib_of_bytes(memory.total_bytes);
  return {};
}

}  // namespace

GpuAnswer<GpuFacts> read_facts(const Functions& functions, Device device, std::string uuid) {
  GpuFacts facts;
  facts.uuid = std::move(uuid);
  if (const auto read = read_identity(functions, device, facts); !read) return tl::unexpected(read.error());

  std::uint32_t current = 0;
  std::uint32_t pending = 0;
  const Code code = functions.nvmlDeviceGetMigMode(device, &current, &pending);
  if (is_not_offered(code)) return facts;
  if (code != Code::kSuccess) return failed("nvmlDeviceGetMigMode", code);
  facts.is_mig_capable = true;

  GpuAnswer<std::vector<GpuProfileFacts>> profiles = describe_profiles(functions, device);
  if (!profiles) return tl::unexpected(profiles.error());
  for (GpuProfileFacts& profile : *profiles) {
    if (const auto read = read_places(functions, device, profile); !read) return tl::unexpected(read.error());
  }
  facts.profiles = std::move(*profiles);
  return facts;
}

GpuAnswer<std::string> read_uuid(const Functions& functions, Device device) {
  std::array<char, nvml_abi::kUuidV2Bytes> uuid{};
  const Code code = functions.nvmlDeviceGetUUID(device, uuid.data(), uuid.size());
  if (code != Code::kSuccess) return failed("nvmlDeviceGetUUID", code);
  return text_of(std::string_view(uuid.data(), uuid.size()));
}

GpuAnswer<std::vector<ProfileSize>> read_profile_sizes(const Functions& functions, Device device) {
  const GpuAnswer<std::vector<GpuProfileFacts>> profiles = describe_profiles(functions, device);
  if (!profiles) return tl::unexpected(profiles.error());
  std::vector<ProfileSize> sizes;
  for (const GpuProfileFacts& profile : *profiles) sizes.push_back({profile.id, profile.compute_slices});
  return sizes;
}

GpuAnswer<std::vector<ProfileSize>> read_compute_profile_sizes(const Functions& functions,
                                                               nvml_abi::GpuInstance instance) {
  constexpr std::string_view kCall = "nvmlGpuInstanceGetComputeInstanceProfileInfo";
  std::vector<ProfileSize> sizes;
  const GpuAnswer<void> asked =
      for_each_number(kCall, nvml_abi::kComputeInstanceProfileCount, [&](std::uint32_t number) {
        nvml_abi::ComputeInstanceProfileV1 profile;
        const Code code = functions.nvmlGpuInstanceGetComputeInstanceProfileInfo(
            instance, number, nvml_abi::kComputeInstanceEngineShared, &profile);
        if (code == Code::kSuccess) sizes.push_back({profile.id, static_cast<int>(profile.slices)});
        return code;
      });
  if (!asked) return tl::unexpected(asked.error());

  // An instance that is destroyed meanwhile has no profiles: the list is complete only if the instance still exists.
  nvml_abi::GpuInstanceDescription description;
  const Code code = functions.nvmlGpuInstanceGetInfo(instance, &description);
  if (code != Code::kSuccess) return failed("nvmlGpuInstanceGetInfo", code);
  return sizes;
}

}  // namespace berth::edges::detail
