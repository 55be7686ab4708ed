#include "tier/estimate/detail/training_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace berth::tier {
namespace {

std::vector<TierLogs> logs_of_all(const TierTable& table) {
  std::vector<TierLogs> logs;
  logs.reserve(table.tiers.size());
  for (const Tier& tier : table.tiers) logs.push_back(logs_of(tier));
  return logs;
}

/// Adds the rows of one workload seen from one anchor.
void add_rows(const TierWorkload& workload, std::span<const TierLogs> tiers, RowOrigin origin, TrainingRows& rows) {
  const KnownCurve curve(workload.points[origin.anchor]);
  const AnchorView view{.curve = &curve, .graph = &workload.graph, .anchor = origin.anchor};
  for (origin.tier = 0; origin.tier < tiers.size(); ++origin.tier) {
    if (origin.tier == origin.anchor) continue;
    for (const TierPoint& point : workload.points[origin.tier]) {
      origin.size = {.batch = point.batch, .processes = point.processes};
      rows.learning.features.push_back(feature_row(tiers, view, origin.size, origin.tier));
      rows.learning.targets.push_back(std::log(point.samples_per_second.to_double() / curve.per_second(origin.size)));
      rows.origins.push_back(origin);
    }
  }
}

void thin_out(TrainingRows& rows) {
  const std::size_t step = (rows.origins.size() + kTrainingRowsMax - 1) / kTrainingRowsMax;
  if (step <= 1) return;
  TrainingRows kept;
  for (std::size_t i = 0; i < rows.origins.size(); i += step) {
    kept.learning.features.push_back(rows.learning.features[i]);
    kept.learning.targets.push_back(rows.learning.targets[i]);
    kept.origins.push_back(rows.origins[i]);
  }
  rows = std::move(kept);
}

void number_groups(const TierTable& table, TrainingRows& rows) {
  for (const RowOrigin& origin : rows.origins) rows.groups.push_back(table.workloads[origin.workload].group);
  std::sort(rows.groups.begin(), rows.groups.end());
  rows.groups.erase(std::unique(rows.groups.begin(), rows.groups.end()), rows.groups.end());
  for (RowOrigin& origin : rows.origins) {
    const std::string& group = table.workloads[origin.workload].group;
    const auto found = std::lower_bound(rows.groups.begin(), rows.groups.end(), group);
    origin.group = static_cast<std::size_t>(found - rows.groups.begin());
  }
}

void weigh(TrainingRows& rows) {
  std::vector<double> counts(rows.groups.size());
  for (const RowOrigin& origin : rows.origins) counts[origin.group] += 1;
  const double mean = static_cast<double>(rows.origins.size()) / static_cast<double>(rows.groups.size());
  for (const RowOrigin& origin : rows.origins) rows.learning.weights.push_back(std::sqrt(mean / counts[origin.group]));
}

}  // namespace

TrainingRows training_rows(const TierTable& table, std::span<const std::string> groups_left_out) {
  const std::vector<TierLogs> tiers = logs_of_all(table);
  TrainingRows rows;
  for (std::size_t i = 0; i < table.workloads.size(); ++i) {
    const TierWorkload& workload = table.workloads[i];
    if (std::find(groups_left_out.begin(), groups_left_out.end(), workload.group) != groups_left_out.end()) continue;
    for (std::size_t anchor = 0; anchor < tiers.size(); ++anchor) {
      if (workload.points[anchor].empty()) continue;
      add_rows(workload, tiers, {.workload = i, .group = 0, .anchor = anchor, .tier = 0, .size = {}}, rows);
    }
  }
  thin_out(rows);
  number_groups(table, rows);
  weigh(rows);
  for (std::size_t i = 0; i < rows.origins.size(); ++i) {
    rows.workload_count += i == 0 || rows.origins[i].workload != rows.origins[i - 1].workload ? 1U : 0U;
  }
  return rows;
}

}  // namespace berth::tier
