/// Collects the rows of any format into a table of tiers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tier/values/tier_table.h"

namespace berth::tier {

/// A measured row, with what its workload is. A rate of 0 is no row.
struct TierRow {
  std::string group;
  std::string workload;
  int batch = 1;  ///< of the workload, for jobs
  std::string tier;
  TierPoint point;
  GraphFigures graph = {};
};

enum class RowFate : std::uint8_t {
  kKept,
  kNone,         ///< its rate is 0
  kLeftOut,      ///< of a tier that the table does not have
  kRepeated,     ///< a second row of the same (jobs: workload and tier; services: also batch and processes)
  kContradicts,  ///< its graph figures differ from those of an earlier row of the workload
};

class TableBuilder {
 public:
  /// The tiers are sorted by price; equal prices keep their order.
  TableBuilder(TierKind kind, std::vector<Tier> tiers);

  [[nodiscard]] bool has_tier(std::string_view name) const { return tier_index_.contains(name); }
  RowFate add(TierRow row);
  /// The workloads in the order of their first kept rows.
  [[nodiscard]] TierTable take();

 private:
  using Key = std::tuple<std::string, std::string, std::string, int, int>;

  [[nodiscard]] TierWorkload& workload_of(const TierRow& row);

  TierTable table_;
  std::map<std::string, std::size_t, std::less<>> tier_index_;
  std::map<std::pair<std::string, std::string>, std::size_t> workload_index_;
  std::map<std::pair<std::string, std::string>, GraphFigures> graphs_;
  std::set<Key> seen_;
};

/// "batch 16": the name of a job's workload where the data has none.
[[nodiscard]] std::string batch_name(int batch);

}  // namespace berth::tier
