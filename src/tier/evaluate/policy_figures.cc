#include "tier/evaluate/policy_figures.h"

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"

namespace berth::tier {
namespace {

Decimal whole(std::size_t count) { return Decimal(static_cast<std::int64_t>(count)); }

/// In pairs, so that few additions have long denominators.
Decimal sum_of(std::span<const Decimal> values) {
  if (values.empty()) return {};
  if (values.size() == 1) return values.front();
  const std::size_t half = values.size() / 2;
  return sum_of(values.first(half)) + sum_of(values.subspan(half));
}

/// The nearest rank: the least value such that at least `percent` of all are not above it.
const Decimal& percentile(std::span<const Decimal> sorted, std::size_t percent) {
  return sorted[((sorted.size() * percent) + 99) / 100 - 1];
}

std::size_t bin_of(double probability) {
  std::size_t bin = 0;
  while (bin + 1 < kCalibrationFrom.size() && probability >= kCalibrationFrom[bin + 1]) ++bin;
  return bin;
}

std::vector<CalibrationBin> calibration_of(std::span<const CaseTruth> truths, std::span<const TestRun> runs) {
  std::vector<CalibrationBin> bins;
  bins.reserve(kCalibrationFrom.size());
  for (const double from : kCalibrationFrom) bins.push_back({.from = from});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].probability) return {};
    CalibrationBin& bin = bins[bin_of(*runs[i].probability)];
    ++bin.case_count;
    bin.stated += *runs[i].probability;
    bin.kept += truths[i].keeps(runs[i].chosen) ? 1 : 0;
  }
  for (CalibrationBin& bin : bins) {
    if (bin.case_count == 0) continue;
    bin.stated /= static_cast<double>(bin.case_count);
    bin.kept /= static_cast<double>(bin.case_count);
  }
  return bins;
}

}  // namespace

PolicyFigures figures_of(std::string policy, std::span<const CaseTruth> truths, std::span<const TestRun> runs) {
  ENSURE(truths.size() == runs.size() && !runs.empty());
  std::vector<Decimal> ratios;
  ratios.reserve(runs.size());
  std::size_t missed = 0;
  std::size_t measured = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ratios.push_back(truths[i].charged(runs[i].chosen) / truths[i].charged(truths[i].best));
    missed += truths[i].keeps(runs[i].chosen) ? 0 : 1;
    measured += runs[i].measured.size();
  }
  const Decimal mean = sum_of(ratios) / whole(runs.size());
  std::ranges::sort(ratios);
  return {.policy = std::move(policy),
          .ratio_mean = mean,
          .ratio_p50 = percentile(ratios, 50),
          .ratio_p95 = percentile(ratios, 95),
          .missed = whole(missed) / whole(runs.size()),
          .measurements_mean = whole(measured) / whole(runs.size()),
          .calibration = calibration_of(truths, runs)};
}

}  // namespace berth::tier
