/// Losses as figures of a manifest.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/values/tensor.h"
#include "models/optimize/findings.h"

namespace berth::models {

/// Outputs of the original and of a variant for the same rows, and the labels of the rows (for kAccuracy).
struct ComparedOutputs {
  std::span<const Tensor> original;
  std::span<const Tensor> variant;
  std::span<const std::int64_t> labels;
};

/// `max_loss`: says whether the interval is narrow enough. Errors: the outputs do not suit the metric.
[[nodiscard]] Result<LossFigure> loss_figure(Metric metric, const ComparedOutputs& compared, double max_loss);

}  // namespace berth::models
