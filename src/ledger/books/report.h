/// The report of a ledger: the rows of its months, and the balance of every account.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/month.h"
#include "ledger/books/amount.h"
#include "ledger/events/event.h"

namespace berth::ledger {

struct RowKey {
  std::string tenant;
  std::string service;
  std::string sku;
  Role role = Role::kIdle;
  std::optional<Month> of = std::nullopt;  ///< the month that is corrected; absent: usage of the row's own month

  [[nodiscard]] std::string_view class_name() const { return of ? "correction" : "usage"; }
  friend bool operator==(const RowKey&, const RowKey&) = default;
};
/// By the bytes of tenant, service, sku, role, class and month.
[[nodiscard]] bool is_before(const RowKey& a, const RowKey& b);

struct Row {
  RowKey key;
  Amount amount;
  MicroUsd micro_usd = 0;  ///< of the grains plus the carry of earlier months, rounded down
  friend bool operator==(const Row&, const Row&) = default;
};

struct MonthRows {
  Month month;
  bool is_closed = false;
  MicroUsd micro_usd = 0;
  std::vector<Row> rows;  ///< with grains, sorted
  friend bool operator==(const MonthRows&, const MonthRows&) = default;
};

/// The number of lines by verdict.
struct LineCounts {
  std::uint64_t lines = 0;
  std::uint64_t accepted = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t overlaps = 0;
  std::uint64_t refused_closed = 0;
  std::uint64_t refused_void = 0;
  std::uint64_t refused_close = 0;
  std::uint64_t voided = 0;  ///< of those accepted
  friend bool operator==(const LineCounts&, const LineCounts&) = default;
};

struct Report {
  LineCounts counts;
  Int128 unpriced_us = 0;  ///< paid time of GPUs without a price
  Int128 unbacked_us = 0;  ///< time of uses while their GPU is not paid for
  Grains grains = 0;       ///< of all cells: micro_usd * kGrainsPerMicroUsd + carried_grains
  Grains carried_grains = 0;
  MicroUsd micro_usd = 0;
  std::vector<MonthRows> months;  ///< those with rows, in order
  friend bool operator==(const Report&, const Report&) = default;
};

enum class AccountKind : std::uint8_t {
  kSku,     ///< the source of all grains
  kTenant,  ///< billed
  kIdle,    ///< billed: unused time; the tenant is its owner, if any
  kNobody,  ///< billed: time without a tenant, for reconfiguration or stranded
  kCarry,   ///< less than a micro-dollar, billed later
};
[[nodiscard]] std::string_view name_of(AccountKind kind);

struct AccountBalance {
  AccountKind kind = AccountKind::kSku;
  std::string name;  ///< of the sku or the tenant; of a carry its row
  Grains grains = 0;
  friend bool operator==(const AccountBalance&, const AccountBalance&) = default;
};

struct TrialBalance {
  std::vector<AccountBalance> accounts;  ///< by kind and name
  Grains sum = 0;                        ///< 0, or the ledger is wrong
};

}  // namespace berth::ledger
