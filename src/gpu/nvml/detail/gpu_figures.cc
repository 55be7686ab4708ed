#include "gpu/nvml/detail/gpu_figures.h"

#include <algorithm>
#include <array>
#include <string>

#include "gpu/nvml/detail/answers.h"
#include "gpu/nvml/detail/device_questions.h"

namespace berth::edges::detail {

using nvml_abi::Code;
using nvml_abi::Device;

namespace {

/// Above it a counter is blank.
constexpr std::uint64_t kNvLinkKibMax = std::uint64_t{1} << 62U;

GpuMemory memory_of(const Functions& functions, DeviceQuestions& questions) {
  nvml_abi::MemoryV2 split;
  split.version = nvml_abi::version_of<nvml_abi::MemoryV2>(2);
  if (questions.has_answered("nvmlDeviceGetMemoryInfo_v2", functions.nvmlDeviceGetMemoryInfo_v2, &split)) {
    return {.free_mib = mib_if_known(split.free_bytes),
            .used_mib = mib_if_known(split.used_bytes),
            .reserved_mib = mib_if_known(split.reserved_bytes)};
  }
  nvml_abi::MemoryV1 memory;
  if (!questions.has_answered("nvmlDeviceGetMemoryInfo", functions.nvmlDeviceGetMemoryInfo, &memory)) return {};
  return {.free_mib = mib_if_known(memory.free_bytes), .used_mib = mib_if_known(memory.used_bytes)};
}

/// Of a media engine.
template <class Function>
std::optional<int> engine_percent(std::string_view name, Function function, DeviceQuestions& questions) {
  std::uint32_t percent = 0;
  std::uint32_t period_us = 0;
  if (!questions.has_answered(name, function, &percent, &period_us)) return std::nullopt;
  return figure_of(percent);
}

void read_counters(const Functions& functions, DeviceQuestions& questions, GpuFigures& figures) {
  std::uint64_t energy_mj = 0;
  if (questions.has_answered("nvmlDeviceGetTotalEnergyConsumption", functions.nvmlDeviceGetTotalEnergyConsumption,
                             &energy_mj) &&
      energy_mj != nvml_abi::kValueNotAvailable) {
    figures.energy_millijoules = energy_mj;
  }
  std::uint32_t replays = 0;
  if (questions.has_answered("nvmlDeviceGetPcieReplayCounter", functions.nvmlDeviceGetPcieReplayCounter, &replays)) {
    figures.pcie_replays = figure_of(replays);
  }
  std::uint32_t corrected = 0;
  std::uint32_t uncorrected = 0;
  std::uint32_t is_pending = 0;
  std::uint32_t has_failed = 0;
  if (!questions.has_answered("nvmlDeviceGetRemappedRows", functions.nvmlDeviceGetRemappedRows, &corrected,
                              &uncorrected, &is_pending, &has_failed)) {
    return;
  }
  figures.correctable_remapped_rows = figure_of(corrected);
  figures.uncorrectable_remapped_rows = figure_of(uncorrected);
  if (figure_of(has_failed)) figures.has_row_remap_failed = has_failed != 0;
}

/// Where GPM does not say: what the bus carries within the next 20 ms or so.
std::optional<double> pcie_bytes(const Functions& functions, DeviceQuestions& questions, std::uint32_t direction) {
  constexpr double kBytesPerKib = 1024;
  std::uint32_t kib = 0;
  const bool is_there =
      questions.has_answered("nvmlDeviceGetPcieThroughput", functions.nvmlDeviceGetPcieThroughput, direction, &kib);
  const auto known = is_there ? figure_of(kib) : std::nullopt;
  return known ? std::optional(*known * kBytesPerKib) : std::nullopt;
}

/// KiB of data that all NVLinks have carried, both ways; nothing: the driver does not say.
std::optional<std::uint64_t> nvlink_kib(const Functions& functions, DeviceQuestions& questions) {
  std::array<nvml_abi::FieldValue, 2> fields{};
  fields[0].field_id = nvml_abi::kFieldNvLinkSent;
  fields[1].field_id = nvml_abi::kFieldNvLinkReceived;
  for (nvml_abi::FieldValue& field : fields) field.scope_id = nvml_abi::kScopeAllLinks;
  if (!questions.has_answered("nvmlDeviceGetFieldValues", functions.nvmlDeviceGetFieldValues,
                              static_cast<std::int32_t>(fields.size()), fields.data())) {
    return std::nullopt;
  }
  std::uint64_t sum = 0;
  for (const nvml_abi::FieldValue& field : fields) {
    const std::uint64_t kib = field.value.unsigned_long_long;
    if (field.code != Code::kSuccess || kib > kNvLinkKibMax) return std::nullopt;
    sum += kib;
  }
  return sum;
}

std::optional<bool> is_vgpu_licensed(const Functions& functions, DeviceQuestions& questions) {
  nvml_abi::LicensableFeatures found;
  if (!questions.has_answered("nvmlDeviceGetGridLicensableFeatures_v4",
                              functions.nvmlDeviceGetGridLicensableFeatures_v4, &found)) {
    return std::nullopt;
  }
  if (found.is_supported == 0) return false;
  const std::size_t count = std::min<std::size_t>(found.count, nvml_abi::kLicencesMax);
  return std::any_of(found.features, found.features + count, [](const nvml_abi::LicensableFeature& each) {
    return each.feature == nvml_abi::kLicenceOfVgpu && each.is_licensed != 0;
  });
}

/// The memory of a GPU instance, which any of its MIG devices knows.
GpuMemory instance_memory(const Functions& functions, const GpuInstanceSeen& instance) {
  for (const ComputeInstanceSeen& compute : instance.compute_instances) {
    Device mig_device = nullptr;
    if (compute.uuid.empty()) continue;
    if (functions.nvmlDeviceGetHandleByUUID(compute.uuid.c_str(), &mig_device) != Code::kSuccess) continue;
    DeviceQuestions questions(mig_device);
    return memory_of(functions, questions);
  }
  return {};
}

}  // namespace

GpuAnswer<GpuFigures> read_figures(const Functions& functions, Device device,
                                   const std::vector<GpuInstanceSeen>& instances, ActivityMeter& meter) {
  DeviceQuestions questions(device);
  GpuFigures figures;
  std::uint32_t index = 0;
  if (questions.has_answered("nvmlDeviceGetIndex", functions.nvmlDeviceGetIndex, &index)) figures.index = index;
  figures.memory = memory_of(functions, questions);
  figures.encoder_percent =
      engine_percent("nvmlDeviceGetEncoderUtilization", functions.nvmlDeviceGetEncoderUtilization, questions);
  figures.decoder_percent =
      engine_percent("nvmlDeviceGetDecoderUtilization", functions.nvmlDeviceGetDecoderUtilization, questions);
  figures.is_vgpu_licensed = is_vgpu_licensed(functions, questions);
  const auto links_kib = nvlink_kib(functions, questions);
  read_counters(functions, questions, figures);
  if (!questions.lost_at().empty()) return failed(questions.lost_at(), Code::kGpuIsLost);
  const auto now = ActivityMeter::Clock::now();
  meter.keep_only(instances);
  figures.activity = meter.measure(device, now);
  figures.pcie_sent_bytes = meter.pcie().sent;
  figures.pcie_received_bytes = meter.pcie().received;
  if (links_kib) figures.nvlink_megabytes = meter.nvlink_rate(*links_kib, now);
  if (!meter.is_in_use()) {
    figures.pcie_sent_bytes = pcie_bytes(functions, questions, nvml_abi::kPcieSent);
    figures.pcie_received_bytes = pcie_bytes(functions, questions, nvml_abi::kPcieReceived);
    if (!questions.lost_at().empty()) return failed(questions.lost_at(), Code::kGpuIsLost);
  }
  figures.instances.reserve(instances.size());
  for (const GpuInstanceSeen& instance : instances) {
    figures.instances.push_back({.id = instance.id,
                                 .memory = instance_memory(functions, instance),
                                 .activity = meter.measure(device, instance.id, now)});
  }
  return figures;
}

}  // namespace berth::edges::detail
