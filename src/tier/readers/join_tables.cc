#include "tier/readers/join_tables.h"

#include <fmt/format.h>

#include <utility>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "tier/readers/table_builder.h"

namespace berth::tier {
namespace {

std::string_view kind_of_rows(TierKind kind) {
  return kind == TierKind::kJobs ? "rows without a latency" : "rows with a latency";
}

TierRow row_of(const TierTable& table, const TierWorkload& workload, std::size_t tier, const TierPoint& point) {
  return {.group = workload.group,
          .workload = workload.name,
          .batch = workload.batch,
          .tier = table.tiers[tier].name,
          .point = point,
          .graph = workload.graph};
}

Result<void> add_workload(TableBuilder& builder, const NamedTable& from, const TierWorkload& workload) {
  for (std::size_t tier = 0; tier < workload.points.size(); ++tier) {
    for (const TierPoint& point : workload.points[tier]) {
      const RowFate fate = builder.add(row_of(from.table, workload, tier, point));
      if (fate == RowFate::kKept) continue;
      return invalid(
          fmt::format("{}: workload {} of group {}: wanted {} the files before, found {}", from.file,
                      in_quotes(workload.name), in_quotes(workload.group),
                      fate == RowFate::kContradicts ? "the graph figures of" : "other rows than those of",
                      fate == RowFate::kContradicts ? "others" : "a second one on " + from.table.tiers[tier].name));
    }
  }
  return {};
}

}  // namespace

Result<TierTable> join_tables(std::span<const NamedTable> tables) {
  ENSURE(!tables.empty());
  const TierTable& first = tables.front().table;
  TableBuilder builder(first.kind, first.tiers);
  std::int64_t rows_left_out = 0;
  for (const NamedTable& each : tables) {
    ENSURE(each.table.tiers == first.tiers);
    if (each.table.kind != first.kind) {
      return invalid(fmt::format("{}: wanted {}, as in {}, found {}", each.file, kind_of_rows(first.kind),
                                 tables.front().file, kind_of_rows(each.table.kind)));
    }
    rows_left_out += each.table.rows_left_out;
    for (const TierWorkload& workload : each.table.workloads) {
      if (auto added = add_workload(builder, each, workload); !added) return pass_on(added.error());
    }
  }
  TierTable joined = builder.take();
  joined.rows_left_out = rows_left_out;
  return joined;
}

}  // namespace berth::tier
