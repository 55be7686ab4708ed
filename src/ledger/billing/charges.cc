#include "ledger/billing/charges.h"

#include <set>
#include <string>

#include "base/ensure.h"
#include "base/proportion.h"

namespace berth::ledger {
namespace {

/// The lines of every tenant, in the order of their names.
std::vector<InvoiceLine> lines_by_tenant(const Invoicing& invoicing, const MonthRows& rows, IdleRule idle) {
  std::set<std::string> tenants;
  for (const Row& row : rows.rows) tenants.insert(row.key.tenant);
  std::vector<InvoiceLine> lines;
  for (const std::string& tenant : tenants) {
    const auto invoice = invoicing.invoice({.tenant = tenant, .month = rows.month, .idle = idle});
    ENSURE(invoice);  // in dollars
    lines.insert(lines.end(), invoice->lines.begin(), invoice->lines.end());
  }
  return lines;
}

std::vector<InvoiceLine> lines_as_booked(const MonthRows& rows) {
  std::vector<InvoiceLine> lines;
  lines.reserve(rows.rows.size());
  for (const Row& row : rows.rows) lines.push_back({.row = row, .micro = row.micro_usd});
  return lines;
}

}  // namespace

Int128 nano_gpu_hours(GpuMicros gpu_us) { return multiply_divide_half_even(gpu_us, 5, 18); }  // 10^9 / 3.6e9

MonthCharges charges_of(const Invoicing& invoicing, const Report& report, Month month, IdleRule idle) {
  MonthCharges charges{.month = month, .credits = invoicing.credits_of(month, idle)};
  for (const MonthRows& rows : report.months) {
    if (rows.month != month) continue;
    charges.lines = idle == IdleRule::kKeep ? lines_as_booked(rows) : lines_by_tenant(invoicing, rows, idle);
  }
  for (const InvoiceLine& line : charges.lines) charges.lines_micro_usd += line.row.micro_usd;
  charges.total_micro_usd = charges.lines_micro_usd;
  for (const AppliedCredit& credit : charges.credits) charges.total_micro_usd -= credit.micro_usd;
  return charges;
}

}  // namespace berth::ledger
