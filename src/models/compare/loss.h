/// How much worse the answers of a variant are than the original's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/values/tensor.h"

namespace berth::models {

enum class Metric : std::uint8_t {
  kAccuracy,   ///< share of rows whose prediction is the label
  kAgreement,  ///< share of rows whose prediction is the original's
  kError,      ///< RMS of the difference / RMS of the original, first output of a float type
};

/// "accuracy", "agreement", "error".
[[nodiscard]] std::string_view name_of(Metric metric);
[[nodiscard]] std::optional<Metric> metric_named(std::string_view name);

/// What a model says of each row: one number, or several where it says something of several positions.
struct Predictions {
  std::vector<std::int64_t> values = {};  ///< row by row
  std::size_t rows = 0;
  std::optional<std::int64_t> classes = std::nullopt;  ///< values are below it; nothing: any integer

  friend bool operator==(const Predictions&, const Predictions&) = default;
};

/// An output of integers with one value per row, if there is one; else the index of the largest value along the last
/// axis of the first output of a float type, the first one of equals, and -1 where one is no number. Outputs: their
/// first dimension is the rows. Errors: neither; the last axis is that of the rows, or has one value, of which none is
/// the largest. The message suggests the metric `error`.
[[nodiscard]] Result<Predictions> predictions_of(std::span<const Tensor> outputs);

/// The loss of a variant, with the bounds of its 95 % interval, for rows like those that were measured.
struct Loss {
  Metric metric = Metric::kAgreement;
  /// Accuracy, agreement: the original's share less the variant's, as a share (0.01: one point). Error: the error.
  double loss = 0;
  double low = 0;
  double high = 0;
  double original = 0;  ///< the metric itself: 1 for agreement, 0 for error
  double variant = 0;
  std::size_t rows = 0;
  std::size_t lost = 0;    ///< rows that only the original has right; agreement: that differ
  std::size_t gained = 0;  ///< rows that only the variant has right

  friend bool operator==(const Loss&, const Loss&) = default;
};

/// Of the outputs for the same rows. A row with several predictions is right if all are.
///
/// Shares: the interval is exact in that it covers the true loss with at least 95 %, however few rows differ.
/// Agreement: Clopper and Pearson (1934) with 2.5 % on each side. Accuracy: the lost and the gained rows are each
/// binomial, so the bounds are the lower one of the lost less the upper one of the gained, and the other way round,
/// with 1.25 % each (Bonferroni's inequality): conservative, as it does not matter how the two depend on each other.
/// Error: the squared error is a ratio of two means over rows; its standard error by the jackknife over rows
/// (Quenouille 1956, Tukey 1958) and Student's t, at least 0. Infinite where the variant has values that are no finite
/// numbers and the original has, or one row is all that there is.
///
/// Errors, kInvalidInput: those of predictions_of; accuracy without labels, with several predictions per row, or with a
/// label that is no class; outputs of different shapes; error without a float output. Requires: labels empty or one per
/// row; at least one row.
[[nodiscard]] Result<Loss> loss_of(Metric metric, std::span<const Tensor> original, std::span<const Tensor> variant,
                                   std::span<const std::int64_t> labels);

/// How many rows like these it takes until the interval is at most 2 * loss_max wide: `loss.rows` if it is so already.
/// Nothing: more than 1e9, or no number of rows. Requires: loss_max >= 0.
[[nodiscard]] std::optional<std::size_t> rows_needed(const Loss& loss, double loss_max);

}  // namespace berth::models
