#include "ledger/billing/charges.h"

#include "base/core/proportion.h"

namespace berth::ledger {

Int128 nano_gpu_hours(GpuMicros gpu_us) { return multiply_divide_half_even(gpu_us, 5, 18); }  // 10^9 / 3.6e9

Int128 nano_gpus(GpuMicros gpu_us, Month month) {
  constexpr std::int64_t kSecondsPerDay = 86'400;
  return multiply_divide_half_even(gpu_us, 1'000, month.day_count() * kSecondsPerDay);  // 10^9 / 10^6 per second
}

MonthCharges charges_of(const Invoicing& invoicing, const Report& report, Month month, IdleRule idle) {
  MonthCharges charges{.month = month,
                       .credits = invoicing.credits_of(month, idle),
                       .is_closed = invoicing.is_closed(month),
                       .later_corrections = later_corrections(report, month)};
  for (const MonthRows& rows : report.months) {
    if (rows.month != month) continue;
    for (const auto& [tenant, lines] : lines_by_tenant(rows, idle)) {
      charges.lines.insert(charges.lines.end(), lines.begin(), lines.end());
    }
  }
  for (const InvoiceLine& line : charges.lines) charges.lines_micro_usd += line.row.micro_usd;
  charges.total_micro_usd = charges.lines_micro_usd;
  for (const AppliedCredit& credit : charges.credits) charges.total_micro_usd -= credit.micro_usd;
  return charges;
}

}  // namespace berth::ledger
