/// Reports of servers as rows of `reports`, `report_times` and `report_memory`: what each has beyond the earlier ones.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/ports/profile_store.h"
#include "edges/sqlite_store/detail/connection.h"

namespace berth::edges::detail {

/// The differences of a report: rows to be added.
struct ReportRows {
  std::string url;
  std::int64_t started_us = 0;
  std::int64_t at_us = 0;
  std::vector<ObservedTimes> times = {};
  std::vector<ObservedMemory> memory = {};
};

/// All, by id, each checked against its hash. Requires: in a transaction.
[[nodiscard]] StoreResult<std::vector<ReportRows>> read_reports(const Connection& connection);

/// Requires: in a write transaction; there is something to add.
[[nodiscard]] StoreResult<void> insert_report(const Connection& connection, const ReportRows& report);

}  // namespace berth::edges::detail
