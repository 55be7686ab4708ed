/// What a GPU model can do at most: dense FP16 TFLOPS, memory and its bandwidth, each with its source. Features of
/// predictions, not promises.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/result.h"

namespace berth::tier {

/// How offers of purchase/pricing name a GPU model; an empty name: no offer does.
struct OfferedAs {
  std::string gpu_model;        ///< in lower case
  std::int64_t memory_mib = 0;  ///< of each GPU; 0: any
};

struct GpuFigures {
  std::string gpu;            ///< full name: that of domain/mig where it knows the model
  Decimal tflops;             ///< > 0: dense FP16, without sparsity; FP32 where the GPU has no faster one
  Decimal gb_per_second;      ///< > 0: of its memory
  Decimal memory_mib;         ///< > 0: of the whole GPU
  std::string product;        ///< the label nvidia.com/gpu.product: "NVIDIA-A100-SXM4-80GB"
  std::string tflops_source;  ///< document of NVIDIA unless it says otherwise
  std::string bytes_source;   ///< the same for gb_per_second
  std::string remark = {};    ///< how another public figure differs; empty: none is known
  OfferedAs offered_as = {};
};

/// Every model, in a fixed order: those of domain/mig first.
[[nodiscard]] const std::vector<GpuFigures>& gpu_figures();

/// The model of that name, or the only one that the rules of `mig::find_gpu_model` find; models without MIG that only
/// this table knows, such as "K80", by their name up to a hyphen. The error lists candidates.
[[nodiscard]] Result<GpuFigures> find_gpu_figures(std::string_view name);

}  // namespace berth::tier
