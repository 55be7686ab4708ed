#include "gpu/nvml_sim/gpm.h"

#include "domain/mig/board.h"
#include "gpu/nvml_abi/constants.h"

namespace berth::nvml_sim {

using nvml_abi::Code;

bool has_gpm(const GpuRecord& gpu) { return mig::board_of(model_of(gpu)).architecture >= mig::Architecture::kHopper; }

Answer<GpmReading> read_gpm(const GpuRecord& gpu, std::optional<std::uint32_t> gpu_instance, std::int64_t now_us) {
  if (!has_gpm(gpu)) return refuse(Code::kNotSupported);
  GpmReading reading{.gpu = gpu.index, .at_us = now_us, .activity = {}};
  if (!gpu_instance) {
    reading.activity = activity_of(gpu);
    return reading;
  }
  if (*gpu_instance >= kGpuInstancesMax || gpu.gpu_instances[*gpu_instance].is_there == 0) {
    return refuse(Code::kNotFound);
  }
  reading.generation = gpu.gpu_instances[*gpu_instance].generation;
  reading.activity = activity_of(gpu, static_cast<int>(*gpu_instance));
  return reading;
}

Answer<double> gpm_metric(const GpmReading& first, const GpmReading& second, std::uint32_t metric) {
  const bool is_same = first.gpu == second.gpu && first.generation == second.generation;
  if (!is_same || second.at_us <= first.at_us) return refuse(Code::kInvalidArgument);
  if (metric == 0 || metric >= nvml_abi::kGpmMetricCount) return refuse(Code::kInvalidArgument);
  const auto mean = [&](std::uint32_t Activity::* percent) {
    return (static_cast<double>(first.activity.*percent) + second.activity.*percent) / 2;
  };
  const auto mean_rate = [&](std::uint32_t PcieRates::* mib) {
    return (static_cast<double>(pcie_rates_with(first.activity).*mib) + pcie_rates_with(second.activity).*mib) / 2;
  };
  switch (metric) {
    case nvml_abi::kGpmPcieSent:
      return mean_rate(&PcieRates::sent);
    case nvml_abi::kGpmPcieReceived:
      return mean_rate(&PcieRates::received);
    case nvml_abi::kGpmGraphicsActive:
      return mean(&Activity::graphics_percent);
    case nvml_abi::kGpmTensorActive:
      return mean(&Activity::tensor_percent);
    case nvml_abi::kGpmDramActive:
      return mean(&Activity::dram_percent);
    default:
      return refuse(Code::kNotSupported);
  }
}

}  // namespace berth::nvml_sim
