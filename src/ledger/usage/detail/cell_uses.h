/// The shares of a GPU by holder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "ledger/events/event.h"
#include "ledger/usage/detail/usage_cells.h"

namespace berth::ledger::detail {

struct CellUse {
  const live::UsageInterval* of = nullptr;
  int holder = 0;     ///< from 1, of several; 0: there is at most one
  std::string slice;  ///< no two uses of a cell have the same
  std::string tenant;
  std::string service;
  Role role = Role::kInference;
  std::int64_t weight = 1;
};

struct CellUses {
  std::int64_t capacity = 1;
  std::vector<CellUse> uses;  ///< by start and holder; the rest of the capacity is idle
};

/// Error (kInvalidInput): shares of holders that are not integers even in the largest capacity.
[[nodiscard]] Result<CellUses> uses_of(const UsageCell& cell, const Scenario& fleet);

}  // namespace berth::ledger::detail
