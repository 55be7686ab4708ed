/// The invoice of a tenant for a month.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/month.h"
#include "base/core/result.h"
#include "ledger/billing/corrections.h"
#include "ledger/books/amount.h"
#include "ledger/books/books.h"
#include "ledger/books/report.h"

namespace berth::ledger {

/// Who pays for time without a tenant.
enum class IdleRule : std::uint8_t {
  kKeep,          ///< no tenant
  kProportional,  ///< the tenants that used the sku in that month, in proportion to what they pay for it
};
[[nodiscard]] std::string_view name_of(IdleRule rule);

struct InvoiceRequest {
  std::string tenant;  ///< "": time that stays without a tenant
  Month month;
  IdleRule idle = IdleRule::kKeep;
  std::string currency = "USD";
};

/// A row of the tenant, or its part of a row without a tenant; in that case the role is kShared.
struct InvoiceLine {
  Row row;
  Role shared_role = Role::kShared;  ///< of the shared row; kShared for the tenant's own rows
  MicroUsd micro = 0;                ///< of the currency
};

struct AppliedCredit {
  const Credit* credit = nullptr;  ///< of the books
  MicroUsd micro_usd = 0;          ///< used, above 0
  MicroUsd left_micro_usd = 0;     ///< afterwards
  MicroUsd micro = 0;              ///< used, in the currency
};

struct Invoice {
  InvoiceRequest request;
  bool is_closed = false;
  std::optional<std::int64_t> micro_per_usd;  ///< absent: in dollars
  std::vector<InvoiceLine> lines;             ///< by row; shared parts by the shared row
  std::vector<AppliedCredit> credits;         ///< in the order in which they were used
  std::vector<AppliedCredit> unused_credits;  ///< further usable credits, in the order of use
  MicroUsd total_micro_usd = 0;               ///< lines - credits; a negative one is paid back
  MicroUsd total_micro = 0;                   ///< rounded half to even; lines and credits sum to it
  std::optional<std::string> month_hash;      ///< of the closed month (month_hash.h)
  /// What later months' invoices of the tenant book as corrections of this one, by month, with the same idle rule.
  std::vector<LaterCorrection> later_corrections = {};
};

using LinesByTenant = std::map<std::string, std::vector<InvoiceLine>>;

/// The lines of a month in dollars, by tenant and row; those of "" stay without a tenant. O(rows + shared rows x their
/// payers).
[[nodiscard]] LinesByTenant lines_by_tenant(const MonthRows& month, IdleRule idle);

/// Makes invoices of one ledger, which must outlive it; `report` is its current report.
class Invoicing {
 public:
  Invoicing(const Books& books, const Report& report);

  /// Credits are applied to earlier months first. Error: no rate of the currency is known for the month.
  [[nodiscard]] Result<Invoice> invoice(const InvoiceRequest& request) const;
  [[nodiscard]] bool is_closed(Month month) const;
  /// The credits that all tenants use in a month.
  [[nodiscard]] std::vector<AppliedCredit> credits_of(Month month, IdleRule idle) const;

 private:
  /// The credits of the tenant used by the lines of a month; `used` has the amounts used by earlier months.
  [[nodiscard]] std::vector<AppliedCredit> apply_credits(Month month, const std::string& tenant,
                                                         const std::vector<InvoiceLine>& lines,
                                                         std::map<const Credit*, MicroUsd>& used) const;
  /// The credits with a remaining amount that are not among the applied ones.
  [[nodiscard]] std::vector<AppliedCredit> unused_credits(const Invoice& invoice,
                                                          const std::map<const Credit*, MicroUsd>& used) const;
  /// The credits that may be used for the month, in the order of their use.
  [[nodiscard]] std::vector<const Credit*> usable_credits(Month month, const std::string& tenant) const;
  /// Whether a line preceded the close of the month; always true if it is open.
  [[nodiscard]] bool is_known(Month month, std::uint64_t line) const;
  [[nodiscard]] std::optional<std::int64_t> rate_of(Month month, const std::string& currency) const;

  const Books& books_;
  const Report& report_;
  std::map<std::string, std::vector<const Credit*>> credits_;  ///< by tenant, in the order of their lines
};

}  // namespace berth::ledger
