/// What a tenant pays for a month.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/month.h"
#include "base/core/result.h"
#include "ledger/books/amount.h"
#include "ledger/books/books.h"
#include "ledger/books/report.h"

namespace berth::ledger {

/// Who pays for what belongs to nobody.
enum class IdleRule : std::uint8_t {
  kKeep,          ///< nobody
  kProportional,  ///< the tenants that used the sku in that month, in proportion to what they pay for it
};
[[nodiscard]] std::string_view name_of(IdleRule rule);

struct InvoiceRequest {
  std::string tenant;  ///< "": what stays with nobody
  Month month;
  IdleRule idle = IdleRule::kKeep;
  std::string currency = "USD";
};

/// A row of the tenant, or its part of a row of nobody: then the role is kShared.
struct InvoiceLine {
  Row row;
  Role shared_role = Role::kShared;  ///< of the row that is shared; kShared where it is the tenant's own
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
  std::vector<InvoiceLine> lines;             ///< by row; what is shared by its own row, too
  std::vector<AppliedCredit> credits;         ///< in the order in which they were used
  std::vector<AppliedCredit> unused_credits;  ///< what else could have been used, in the order of its use
  MicroUsd total_micro_usd = 0;               ///< lines - credits; a negative one is paid back
  MicroUsd total_micro = 0;                   ///< rounded half to even; lines and credits sum to it
  std::optional<std::string> month_hash;      ///< of the closed month (month_hash.h)
};

using LinesByTenant = std::map<std::string, std::vector<InvoiceLine>>;

/// The lines of a month in dollars, by tenant and row; those of "" stay with nobody. O(rows, and shared rows x those
/// who share them).
[[nodiscard]] LinesByTenant lines_by_tenant(const MonthRows& month, IdleRule idle);

/// Makes invoices of one ledger, which must outlive it; `report` is what it says now.
class Invoicing {
 public:
  Invoicing(const Books& books, const Report& report);

  /// Earlier months take their credits first. Error: no rate of the currency is known for the month.
  [[nodiscard]] Result<Invoice> invoice(const InvoiceRequest& request) const;
  /// The credits that all tenants use in a month.
  [[nodiscard]] std::vector<AppliedCredit> credits_of(Month month, IdleRule idle) const;

 private:
  /// What the lines of a month use of the tenant's credits; `used` has what earlier months did.
  [[nodiscard]] std::vector<AppliedCredit> apply_credits(Month month, const std::string& tenant,
                                                         const std::vector<InvoiceLine>& lines,
                                                         std::map<const Credit*, MicroUsd>& used) const;
  /// Of which something is left and nothing is among the applied ones.
  [[nodiscard]] std::vector<AppliedCredit> unused_credits(const Invoice& invoice,
                                                          const std::map<const Credit*, MicroUsd>& used) const;
  /// Those that may be used for the month, in the order of their use.
  [[nodiscard]] std::vector<const Credit*> usable_credits(Month month, const std::string& tenant) const;
  /// Whether a line was there when the month was closed; always if it is open.
  [[nodiscard]] bool is_known(Month month, std::uint64_t line) const;
  [[nodiscard]] std::optional<std::int64_t> rate_of(Month month, const std::string& currency) const;

  const Books& books_;
  const Report& report_;
  std::map<std::string, std::vector<const Credit*>> credits_;  ///< by tenant, in the order of their lines
};

}  // namespace berth::ledger
