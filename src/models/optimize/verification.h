/// Whether figures of a manifest hold when they are measured again.
#pragma once

#include <string>
#include <vector>

#include "models/optimize/findings.h"

namespace berth::models {

inline constexpr double kLatencyTolerance = 0.05;  ///< of a ratio
inline constexpr double kMemoryTolerance = 0.10;

struct VerifiedFigure {
  std::string variant;  ///< empty: of the original, or of the data
  std::string figure;   ///< such as "latency at batch 8"
  std::string wanted;   ///< as texts, with their units
  std::string found;
  bool holds = false;

  friend bool operator==(const VerifiedFigure&, const VerifiedFigure&) = default;
};

struct Verification {
  std::vector<VerifiedFigure> figures = {};

  [[nodiscard]] bool holds() const;
  friend bool operator==(const Verification&, const Verification&) = default;
};

/// A sum of a file.
[[nodiscard]] VerifiedFigure verify_sum(std::string variant, std::string figure, const std::string& wanted,
                                        const std::string& found);

/// Resident bytes of one model.
[[nodiscard]] std::vector<VerifiedFigure> verify_memory(const std::string& variant, const ModelFigures& recorded,
                                                        const ModelFigures& measured);

/// Of a variant: the ratio of each batch, memory, and the loss of each half, which must be in the recorded interval.
/// Requires: the same batches.
[[nodiscard]] std::vector<VerifiedFigure> verify_figures(const std::string& variant, const VariantFigures& recorded,
                                                         const VariantFigures& measured, Metric metric);

}  // namespace berth::models
