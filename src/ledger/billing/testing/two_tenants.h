/// A ledger of two tenants, small enough to count by hand, and the expected content of its exports.
#pragma once

#include <string>

#include "base/core/month.h"
#include "ledger/billing/charges.h"
#include "ledger/books/books.h"
#include "ledger/books/report.h"

namespace berth::ledger::testing {

/// A GPU-hour of the sku a is 2.000001 USD.
///
/// October 2026, closed: g is paid for two hours and idle. Then it becomes known that half of it was used in the first
/// of them, by the service chat of acme. November: g is paid for ten hours, half of it used by chat; h for one hour,
/// used by a job of globex. acme has a credit of 4 USD, globex one of 5 USD that had expired by then.
class TwoTenants {
 public:
  TwoTenants();
  TwoTenants(const TwoTenants&) = delete;  // the books borrow the text
  TwoTenants& operator=(const TwoTenants&) = delete;

  [[nodiscard]] static Month november();

  [[nodiscard]] const Report& report() const { return report_; }
  [[nodiscard]] MonthCharges charges(IdleRule idle, Month month = november()) const;

 private:
  std::string text_;
  Books books_;
  Report report_;
};

}  // namespace berth::ledger::testing
