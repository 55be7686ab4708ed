/// Measurements of several files as one table.
#pragma once

#include <span>
#include <string>

#include "base/core/result.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

struct NamedTable {
  std::string file;
  TierTable table;
};

/// All workloads, in the order of the files; the rows of a workload that several files have are put together. Errors,
/// naming the file: jobs in one and services in another, a second row of the same, graph figures that differ.
/// Requires: at least one table, all with the same tiers.
[[nodiscard]] Result<TierTable> join_tables(std::span<const NamedTable> tables);

}  // namespace berth::tier
