/// Costs grouped by one property.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/date.h"
#include "ledger/books/amount.h"
#include "ledger/books/books.h"

namespace berth::ledger {

enum class CostKey : std::uint8_t { kTenant, kService, kSku, kRole, kGpu, kDay };
/// Such as "tenant".
[[nodiscard]] std::string_view name_of(CostKey key);
[[nodiscard]] std::optional<CostKey> cost_key_named(std::string_view name);

/// Days from `since` to before `until`; absent: unbounded on that side.
struct DayRange {
  std::optional<Date> since;
  std::optional<Date> until;

  [[nodiscard]] Interval interval() const;
};

struct CostRow {
  std::string key;  ///< "": no tenant, or no service; a day as "2026-11-17"
  Amount amount;

  /// Rounded down.
  [[nodiscard]] MicroUsd micro_usd() const { return floor_divide(amount.grains, kGrainsPerMicroUsd); }
};

/// Cells as known now, by the bytes of their keys; those without time and money are left out.
[[nodiscard]] std::vector<CostRow> cost_by(Books& books, CostKey key, const DayRange& days);

}  // namespace berth::ledger
