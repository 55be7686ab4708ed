#include "serving/dispatch/latency_estimate.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/core/ensure.h"

namespace berth::serving {
namespace {

constexpr double kGain = 1.0 / 16;
/// What others learn from a batch that is not of their size.
constexpr double kShareOfOthers = 0.5;
/// A batch that took longer than twice the mean, or less than half, says no more than that.
constexpr double kRatioMax = 2;
constexpr double kExceeded = 0.1;  ///< share of the batches that take longer than the table says
constexpr double kSlackStep = 0.01;
constexpr double kTableMoves = 0.03;
/// After so many batches the table takes smaller changes, too.
constexpr int kBatchesPerTable = 100;
constexpr double kTableMovesLate = 0.005;

double time_us(Micros time) { return static_cast<double>(std::max(time, Micros(1)).count()); }

/// The median of each batch size, by rows.
std::vector<LatencyPoint> medians_of(std::span<const LatencyPoint> points) {
  std::vector<LatencyPoint> sorted(points.begin(), points.end());
  std::ranges::sort(sorted, {}, [](const LatencyPoint& point) { return std::tuple(point.rows, point.time); });
  std::vector<LatencyPoint> medians;
  for (auto first = sorted.begin(); first != sorted.end();) {
    const auto end = std::ranges::upper_bound(first, sorted.end(), first->rows, {}, &LatencyPoint::rows);
    medians.push_back(*(first + (end - first - 1) / 2));
    first = end;
  }
  return medians;
}

/// The time of so many rows on the line through two batches. Requires: different rows.
double on_line(const LatencyPoint& a, const LatencyPoint& b, RowCount rows) {
  const double slope = (time_us(b.time) - time_us(a.time)) / (b.rows - a.rows);
  return time_us(a.time) + slope * (rows - a.rows);
}

/// Requires: medians by rows.
double measured_us(const std::vector<LatencyPoint>& medians, RowCount rows) {
  const auto above = std::ranges::lower_bound(medians, rows, {}, &LatencyPoint::rows);
  if (above == medians.begin()) return time_us(above->time);  // fewer rows take no longer
  if (above != medians.end()) return on_line(*(above - 1), *above, rows);
  const LatencyPoint& last = medians.back();
  if (medians.size() == 1) return time_us(last.time) * rows / last.rows;
  return std::max(on_line(*(above - 2), last, rows), time_us(last.time));
}

}  // namespace

std::vector<LatencyEstimate::Knot> LatencyEstimate::knots_of(std::span<const LatencyPoint> points, RowCount rows_max) {
  ENSURE(!points.empty() && rows_max >= 1);
  std::vector<RowCount> sizes = {rows_max};
  for (RowCount rows = 1; rows < rows_max; rows *= 2) sizes.push_back(rows);
  for (const LatencyPoint& point : points) {
    ENSURE(point.rows >= 1 && point.rows <= rows_max && point.time >= Micros(0));
    sizes.push_back(point.rows);
  }
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  const std::vector<LatencyPoint> medians = medians_of(points);
  std::vector<Knot> knots;
  knots.reserve(sizes.size());
  for (const RowCount rows : sizes) knots.push_back({.rows = rows, .mean_us = measured_us(medians, rows)});
  return knots;
}

LatencyEstimate::LatencyEstimate(std::span<const LatencyPoint> points, RowCount rows_max)
    : rows_max_(rows_max), knots_(knots_of(points, rows_max)), table_(build_table()) {}

bool LatencyEstimate::learn(RowCount rows, Micros time) {
  ENSURE(rows >= 1 && rows <= rows_max_ && time >= Micros(0));
  const auto above = std::ranges::lower_bound(knots_, rows, {}, &Knot::rows);
  double mean = above->mean_us;
  if (above->rows != rows) {
    const Knot& below = *(above - 1);
    mean = std::lerp(below.mean_us, above->mean_us, double(rows - below.rows) / (above->rows - below.rows));
  }
  const double ratio = std::clamp(time_us(time) / mean, 1 / kRatioMax, kRatioMax);
  learn_slack(ratio);
  learn_mean(rows, ratio);
  ++batches_since_table_;
  if (!has_moved()) return false;
  table_ = build_table();
  return true;
}

void LatencyEstimate::learn_mean(RowCount rows, double ratio) {
  const auto above = std::ranges::lower_bound(knots_, rows, {}, &Knot::rows);
  for (auto knot = knots_.begin(); knot != knots_.end(); ++knot) {
    const bool is_next = knot == above || (knot + 1 == above && above->rows != rows);
    const double gain = is_next ? kGain : kGain * kShareOfOthers;
    knot->mean_us = std::max(knot->mean_us * (1 + gain * (ratio - 1)), 1.0);
  }
}

void LatencyEstimate::learn_slack(double ratio) {
  slack_ += ratio > 1 + slack_ ? kSlackStep * (1 - kExceeded) : -kSlackStep * kExceeded;
  slack_ = std::clamp(slack_, 0.0, kSlackMax);
}

bool LatencyEstimate::has_moved() const {
  const double moves = batches_since_table_ < kBatchesPerTable ? kTableMoves : kTableMovesLate;
  return std::ranges::any_of(knots_, [&](const Knot& knot) {
    return std::abs(knot.mean_us * (1 + slack_) - knot.table_us) > moves * knot.table_us;
  });
}

LatencyTable LatencyEstimate::build_table() {
  batches_since_table_ = 0;
  std::vector<Micros> times;
  times.reserve(static_cast<std::size_t>(rows_max_));
  std::int64_t longest = 1;
  for (std::size_t index = 0; index < knots_.size(); ++index) {
    Knot& knot = knots_[index];
    knot.table_us = knot.mean_us * (1 + slack_);
    const Knot& below = index == 0 ? knot : knots_[index - 1];
    for (RowCount rows = index == 0 ? 1 : below.rows + 1; rows <= knot.rows; ++rows) {
      const double share = index == 0 ? 1 : double(rows - below.rows) / (knot.rows - below.rows);
      longest = std::max(longest, std::lround(std::lerp(below.table_us, knot.table_us, share)));
      times.emplace_back(longest);
    }
  }
  return LatencyTable(std::move(times));
}

}  // namespace berth::serving
