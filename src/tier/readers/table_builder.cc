#include "tier/readers/table_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/sort_stably.h"

namespace berth::tier {

TableBuilder::TableBuilder(TierKind kind, std::vector<Tier> tiers) {
  sort_stably(tiers, [](const Tier& tier) { return tier.usd_per_hour; });
  table_.kind = kind;
  table_.tiers = std::move(tiers);
  for (std::size_t i = 0; i < table_.tiers.size(); ++i) tier_index_.emplace(table_.tiers[i].name, i);
}

RowFate TableBuilder::add(TierRow row) {
  const bool is_job = table_.kind == TierKind::kJobs;
  Key key(row.group, row.workload, row.tier, is_job ? 0 : row.point.processes, is_job ? 0 : row.point.batch);
  if (!seen_.insert(std::move(key)).second) return RowFate::kRepeated;
  const auto [graph, is_first] = graphs_.try_emplace({row.group, row.workload}, row.graph);
  if (!is_first && graph->second != row.graph) return RowFate::kContradicts;
  if (row.point.samples_per_second.sign() == 0) return RowFate::kNone;
  const auto tier = tier_index_.find(row.tier);
  if (tier == tier_index_.end()) {
    ++table_.rows_left_out;
    return RowFate::kLeftOut;
  }
  workload_of(row).points[tier->second].push_back(std::move(row.point));
  return RowFate::kKept;
}

TierWorkload& TableBuilder::workload_of(const TierRow& row) {
  const auto [found, is_new] = workload_index_.try_emplace({row.group, row.workload}, table_.workloads.size());
  if (is_new) {
    table_.workloads.push_back({.group = row.group,
                                .name = row.workload,
                                .batch = row.batch,
                                .graph = row.graph,
                                .points = std::vector<std::vector<TierPoint>>(table_.tiers.size())});
  }
  return table_.workloads[found->second];
}

TierTable TableBuilder::take() {
  for (TierWorkload& workload : table_.workloads) {
    for (std::vector<TierPoint>& points : workload.points) {
      std::ranges::sort(points, {}, [](const TierPoint& point) { return std::pair(point.processes, point.batch); });
    }
  }
  return std::move(table_);
}

std::string batch_name(int batch) { return fmt::format("batch {}", batch); }

}  // namespace berth::tier
