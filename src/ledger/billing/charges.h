/// All charges of a month of a ledger, for exports in other systems' formats.
#pragma once

#include <vector>

#include "base/core/month.h"
#include "ledger/billing/invoice.h"
#include "ledger/books/amount.h"
#include "ledger/books/report.h"

namespace berth::ledger {

/// The invoices of a month in sequence, including that without a tenant.
struct MonthCharges {
  Month month = {};
  std::vector<InvoiceLine> lines = {};      ///< by tenant and row; without a currency
  std::vector<AppliedCredit> credits = {};  ///< by tenant, in the order in which they were used
  bool is_closed = false;
  std::vector<LaterCorrection> later_corrections = {};  ///< of all tenants; they are charges of later months
  MicroUsd lines_micro_usd = 0;                         ///< the sum of the month's rows, whatever the idle rule
  MicroUsd total_micro_usd = 0;                         ///< lines - credits
};

/// Billionths of a GPU-hour, half to even.
[[nodiscard]] Int128 nano_gpu_hours(GpuMicros gpu_us);
/// Billionths of a GPU, half to even: how many would be in use throughout the month for the same GPU-hours.
[[nodiscard]] Int128 nano_gpus(GpuMicros gpu_us, Month month);

/// O(rows), with kProportional also O(shared rows x their payers); if there are credits, for the earlier months, too.
[[nodiscard]] MonthCharges charges_of(const Invoicing& invoicing, const Report& report, Month month, IdleRule idle);

}  // namespace berth::ledger
