#include "tier/estimate/testing/synthetic_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/core/rng.h"

namespace berth::tier::testing {
namespace {

constexpr std::array<double, 4> kLogSpeeds = {0, 0.3, 0.6, 1};
constexpr std::array<std::int64_t, 4> kPrices = {1, 2, 3, 6};

/// About normal, with deviation 1: the sum of twelve uniform draws less 6.
double normal(Rng& rng) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += rng.unit();
  return sum;
}

/// To six digits, as a table has them.
Decimal rounded(double value) {
  return {static_cast<std::int64_t>(std::llround(std::max(value * 1e6, 1.0))), 1'000'000};
}

TierTable empty_table(TierKind kind) {
  TierTable table{.kind = kind, .tiers = {}, .workloads = {}, .rows_left_out = 0};
  for (std::size_t i = 0; i < kPrices.size(); ++i) {
    table.tiers.push_back({.name = std::string(1, static_cast<char>('a' + i)), .usd_per_hour = Decimal(kPrices[i])});
  }
  return table;
}

}  // namespace

TierTable synthetic_jobs(std::size_t group_count, std::uint64_t seed, std::string_view prefix) {
  Rng rng(seed);
  TierTable table = empty_table(TierKind::kJobs);
  for (std::size_t group = 0; group < group_count; ++group) {
    const double gain = 1 + 0.25 * normal(rng);
    for (const int batch : {8, 32}) {
      TierWorkload workload{.group = std::string(prefix) + std::to_string(group),
                            .name = std::to_string(batch),
                            .batch = batch,
                            .graph = {},
                            .points = {}};
      const double level = 100 * std::exp(normal(rng));
      for (const double log_speed : kLogSpeeds) {
        const double per_second = level * std::exp(gain * log_speed + 0.03 * normal(rng));
        workload.points.push_back({{.batch = batch, .processes = 1, .samples_per_second = rounded(per_second)}});
      }
      table.workloads.push_back(workload);
    }
  }
  return table;
}

TierTable synthetic_services(std::size_t group_count, std::uint64_t seed, std::string_view prefix) {
  Rng rng(seed);
  TierTable table = empty_table(TierKind::kServices);
  for (std::size_t group = 0; group < group_count; ++group) {
    const double gain = 1 + 0.25 * normal(rng);
    const double row_ms = 2 * std::exp(0.5 * normal(rng));
    TierWorkload workload{
        .group = std::string(prefix) + std::to_string(group), .name = "service", .batch = 1, .graph = {}, .points = {}};
    for (const double log_speed : kLogSpeeds) {
      std::vector<TierPoint>& points = workload.points.emplace_back();
      for (const int processes : {1, 2}) {
        for (int batch = 1; batch <= 16; batch *= 2) {
          const double latency_ms = 4 + processes * batch * row_ms / std::exp(gain * log_speed);
          points.push_back({.batch = batch,
                            .processes = processes,
                            .samples_per_second = rounded(1000.0 * batch * processes / latency_ms),
                            .latency_ms = rounded(latency_ms)});
        }
      }
    }
    table.workloads.push_back(workload);
  }
  return table;
}

TierWorkload known_on(const TierWorkload& workload, std::initializer_list<std::size_t> tiers) {
  TierWorkload known = workload;
  for (std::size_t tier = 0; tier < known.points.size(); ++tier) {
    if (std::find(tiers.begin(), tiers.end(), tier) == tiers.end()) known.points[tier].clear();
  }
  return known;
}

}  // namespace berth::tier::testing
