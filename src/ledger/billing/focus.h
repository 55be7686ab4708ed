/// A month of a ledger as lines of FOCUS 1.2, the FinOps Open Cost and Usage Specification (May 2025).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/month.h"
#include "ledger/billing/charges.h"
#include "ledger/books/amount.h"

namespace berth::ledger {

/// How a charge was split off the cost of a GPU. FOCUS 1.2 has no column for that; 1.3 has AllocatedMethodId.
enum class AllocatedMethod : std::uint8_t {
  kWeightShare,    ///< a use's weight, of the capacity or of the sum of the weights where that is larger
  kIdleRemainder,  ///< the part that no use took
  kSharedByCost,   ///< time without a tenant, in proportion to what the tenants pay for the sku in that month
};
/// Such as "weight-share".
[[nodiscard]] std::string_view name_of(AllocatedMethod method);

/// GPU time that is charged.
struct FocusUsage {
  std::string sku;
  GpuMicros gpu_us = 0;  ///< may be below 0 in a correction
  bool is_correction = false;
  AllocatedMethod method = AllocatedMethod::kWeightShare;
  std::vector<std::pair<std::string, std::string>> tags;  ///< service and role, and the shared role
};

/// The values that differ from line to line.
struct FocusLine {
  std::string tenant;                                   ///< "": no tenant
  MicroUsd micro_usd = 0;                               ///< below 0: a credit, or given back
  Month charge_month;                                   ///< the month of usage; for a correction the corrected month
  std::string description;                              ///< such as "inference of chat on a100"
  std::optional<FocusUsage> usage = std::nullopt;       ///< absent: a credit
  std::optional<std::string> credit_id = std::nullopt;  ///< of a credit
};

/// Its sum is the total of the charges.
[[nodiscard]] std::vector<FocusLine> focus_lines(const MonthCharges& charges);

}  // namespace berth::ledger
