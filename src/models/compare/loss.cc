#include "models/compare/loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/core/ensure.h"
#include "models/compare/beta.h"
#include "models/compare/detail/numbers.h"

namespace berth::models {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kTail = 0.025;  ///< on each side of an interval
constexpr double kRowsMax = 1e9;

constexpr std::array<std::pair<Metric, std::string_view>, 3> kMetricNames = {
    {{Metric::kAccuracy, "accuracy"}, {Metric::kAgreement, "agreement"}, {Metric::kError, "error"}}};

struct Bounds {
  double low;
  double high;
};

std::size_t row_count(const Tensor& output) {
  return output.shape.empty() ? 0 : static_cast<std::size_t>(output.shape[0]);
}

/// The number of elements.
std::size_t element_count(const Tensor& output) {
  std::size_t count = 1;
  for (const std::int64_t size : output.shape) count *= static_cast<std::size_t>(size);
  return count;
}

/// The index of the first largest value; -1: one is no number.
std::int64_t index_of_largest(std::span<const double> values) {
  if (std::ranges::any_of(values, [](double value) { return std::isnan(value); })) return -1;
  return std::ranges::max_element(values) - values.begin();
}

Result<Predictions> largest_of(const Tensor& output) {
  const std::int64_t classes = output.shape.size() < 2 ? 1 : output.shape.back();
  if (classes < 2) {
    return invalid(
        fmt::format("output {}: wanted several values in a row, of which one is the largest, found {}; the "
                    "metric error compares such outputs",
                    output.name, classes));
  }
  const std::vector<double> values = detail::doubles_of(output);
  Predictions predictions{.rows = row_count(output), .classes = classes};
  const auto step = static_cast<std::size_t>(classes);
  for (std::size_t first = 0; first + step <= values.size(); first += step) {
    predictions.values.push_back(index_of_largest(std::span(values).subspan(first, step)));
  }
  return predictions;
}

/// Whether all predictions of the row are the same.
bool is_equal_row(const Predictions& a, const Predictions& b, std::size_t row) {
  const std::size_t each = a.values.size() / a.rows;
  const auto first = static_cast<std::ptrdiff_t>(row * each);
  return std::equal(a.values.begin() + first, a.values.begin() + first + static_cast<std::ptrdiff_t>(each),
                    b.values.begin() + first);
}

Result<void> check_labels(const Predictions& predictions, std::span<const std::int64_t> labels) {
  if (labels.empty()) return invalid("the metric accuracy: wanted an array of labels, found none");
  if (predictions.values.size() != predictions.rows) {
    return invalid(fmt::format("the metric accuracy: wanted one prediction per row, found {}",
                               predictions.values.size() / predictions.rows));
  }
  for (std::size_t row = 0; row < labels.size() && predictions.classes; ++row) {
    if (labels[row] >= 0 && labels[row] < *predictions.classes) continue;
    return invalid(fmt::format("label: wanted integers from 0 to {}, as the model has {} classes, found {} in row {}",
                               *predictions.classes - 1, *predictions.classes, labels[row], row));
  }
  return {};
}

/// `lost` and `gained` need not be whole.
Bounds bounds_of_shares(Metric metric, double lost, double gained, double rows) {
  if (metric == Metric::kAgreement) return {share_lower(lost, rows, kTail), share_upper(lost, rows, kTail)};
  constexpr double kHalf = kTail / 2;
  return {share_lower(lost, rows, kHalf) - share_upper(gained, rows, kHalf),
          share_upper(lost, rows, kHalf) - share_lower(gained, rows, kHalf)};
}

Result<Loss> loss_of_shares(Metric metric, std::span<const Tensor> original, std::span<const Tensor> variant,
                            std::span<const std::int64_t> labels) {
  const auto was = predictions_of(original);
  if (!was) return pass_on(was.error());
  const auto is = predictions_of(variant);
  if (!is) return pass_on(is.error());
  if (was->rows != is->rows || was->values.size() != is->values.size() || was->classes != is->classes) {
    return invalid("wanted outputs of the same shapes from the variant and the original, found others");
  }
  ENSURE(was->rows > 0);
  Loss loss{.metric = metric, .rows = was->rows};
  Predictions right = *was;  // agreement: the original is right
  if (metric == Metric::kAccuracy) {
    if (auto checked = check_labels(*was, labels); !checked) return pass_on(checked.error());
    ENSURE(labels.size() == was->rows);
    right.values.assign(labels.begin(), labels.end());
  }
  std::size_t original_right = 0;
  for (std::size_t row = 0; row < loss.rows; ++row) {
    const bool is_right_before = metric == Metric::kAgreement || is_equal_row(*was, right, row);
    const bool is_right_now = is_equal_row(*is, right, row);
    original_right += is_right_before ? 1 : 0;
    loss.lost += is_right_before && !is_right_now ? 1 : 0;
    loss.gained += !is_right_before && is_right_now ? 1 : 0;
  }
  const auto rows = static_cast<double>(loss.rows);
  const auto lost = static_cast<double>(loss.lost);
  const auto gained = static_cast<double>(loss.gained);
  loss.loss = (lost - gained) / rows;
  loss.original = static_cast<double>(original_right) / rows;
  loss.variant = static_cast<double>(original_right + loss.gained - loss.lost) / rows;
  const Bounds bounds = bounds_of_shares(metric, lost, gained, rows);
  loss.low = bounds.low;
  loss.high = bounds.high;
  return loss;
}

/// Sums of squares of one row.
struct RowSquares {
  double original = 0;
  double difference = 0;
};

std::vector<RowSquares> squares_of(const Tensor& original, const Tensor& variant) {
  const std::vector<double> was = detail::doubles_of(original);
  const std::vector<double> is = detail::doubles_of(variant);
  std::vector<RowSquares> rows(row_count(original));
  const std::size_t each = std::max<std::size_t>(was.size() / std::max<std::size_t>(rows.size(), 1), 1);
  for (std::size_t i = 0; i < was.size(); ++i) {
    if (!std::isfinite(was[i])) continue;  // such as the -inf of a mask
    RowSquares& row = rows[i / each];
    row.original += was[i] * was[i];
    row.difference += std::isfinite(is[i]) ? (is[i] - was[i]) * (is[i] - was[i]) : kInfinite;
  }
  return rows;
}

double ratio_of(const RowSquares& sums) {
  if (sums.difference <= 0) return 0;
  return sums.original > 0 ? sums.difference / sums.original : kInfinite;
}

/// Of the ratio of the two sums.
Bounds jackknife_bounds(std::span<const RowSquares> rows, const RowSquares& sums) {
  const double ratio = ratio_of(sums);
  if (rows.size() < 2 || !std::isfinite(ratio)) return {std::isfinite(ratio) ? 0 : ratio, kInfinite};
  const auto count = static_cast<double>(rows.size());
  std::vector<double> without;
  without.reserve(rows.size());
  double mean = 0;
  for (const RowSquares& row : rows) {
    without.push_back(ratio_of({sums.original - row.original, sums.difference - row.difference}));
    mean += without.back() / count;
  }
  if (!std::isfinite(mean)) return {0, kInfinite};
  double squares = 0;
  for (const double each : without) squares += (each - mean) * (each - mean);
  const double width = student_quantile(count - 1, kTail) * std::sqrt((count - 1) / count * squares);
  return {std::max(ratio - width, 0.0), ratio + width};
}

Result<Loss> error_of(std::span<const Tensor> original, std::span<const Tensor> variant) {
  const auto index = detail::first_float(original);
  if (!index) return invalid("the metric error: wanted an output of a float type, found none");
  const Tensor& was = original[*index];
  if (*index >= variant.size() || variant[*index].shape != was.shape || !detail::is_float(variant[*index].type)) {
    return invalid(
        fmt::format("output {}: wanted the same shape from the variant and the original, found another", was.name));
  }
  const std::vector<RowSquares> rows = squares_of(was, variant[*index]);
  ENSURE(!rows.empty());
  RowSquares sums;
  for (const RowSquares& row : rows) {
    sums.original += row.original;
    sums.difference += row.difference;
  }
  const Bounds bounds = jackknife_bounds(rows, sums);
  Loss loss{.metric = Metric::kError, .loss = std::sqrt(ratio_of(sums)), .rows = rows.size()};
  loss.variant = loss.loss;
  loss.low = std::sqrt(bounds.low);
  loss.high = std::sqrt(bounds.high);
  return loss;
}

/// Of the interval, if there were so many rows of the same kind.
double width_with(const Loss& loss, double rows) {
  const double scale = rows / static_cast<double>(loss.rows);
  if (loss.metric == Metric::kError) return (loss.high - loss.low) / std::sqrt(scale);
  const Bounds bounds = bounds_of_shares(loss.metric, static_cast<double>(loss.lost) * scale,
                                         static_cast<double>(loss.gained) * scale, rows);
  return bounds.high - bounds.low;
}

}  // namespace

std::string_view name_of(Metric metric) {
  return std::ranges::find(kMetricNames, metric, &decltype(kMetricNames)::value_type::first)->second;
}

std::optional<Metric> metric_named(std::string_view name) {
  for (const auto& [metric, its_name] : kMetricNames) {
    if (its_name == name) return metric;
  }
  return std::nullopt;
}

Result<Predictions> predictions_of(std::span<const Tensor> outputs) {
  const auto is_integer_per_row = [](const Tensor& output) {
    return detail::is_integer(output.type) && !output.shape.empty() && element_count(output) == row_count(output);
  };
  const auto integer = std::ranges::find_if(outputs, is_integer_per_row);
  if (integer != outputs.end())
    return Predictions{.values = detail::integers_of(*integer), .rows = row_count(*integer)};
  const auto index = detail::first_float(outputs);
  if (!index) return invalid("wanted an output of integers, one per row, or of a float type, found neither");
  return largest_of(outputs[*index]);
}

Result<Loss> loss_of(Metric metric, std::span<const Tensor> original, std::span<const Tensor> variant,
                     std::span<const std::int64_t> labels) {
  return metric == Metric::kError ? error_of(original, variant) : loss_of_shares(metric, original, variant, labels);
}

std::optional<std::size_t> rows_needed(const Loss& loss, double loss_max) {
  ENSURE(loss_max >= 0 && loss.rows > 0);
  const auto is_enough = [&](double rows) { return width_with(loss, rows) <= 2 * loss_max; };
  auto low = static_cast<double>(loss.rows);
  if (is_enough(low)) return loss.rows;
  double high = kRowsMax;
  if (!std::isfinite(loss.high) || !is_enough(high)) return std::nullopt;
  while (high - low > 1) {
    const double middle = std::floor(low + (high - low) / 2);
    (is_enough(middle) ? high : low) = middle;
  }
  return static_cast<std::size_t>(high);
}

}  // namespace berth::models
