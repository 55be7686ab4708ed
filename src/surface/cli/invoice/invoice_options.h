/// The options of `berth invoice`: as typed, and checked.
#pragma once

#include <string>

#include "base/core/result.h"
#include "ledger/billing/invoice.h"
#include "surface/cli/shared/ledger_words.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct InvoiceWords {
  LedgerWords ledger;
  std::string tenant;
  std::string month;
  std::string idle = "keep";
  std::string currency = "USD";
  std::string format = "table";
};

[[nodiscard]] OptionTable invoice_option_rows(InvoiceWords& words);

enum class InvoiceFormat { kTable, kJson, kHtml, kCsv };

struct InvoiceVerbRequest {
  LedgerRequest ledger;
  ledger::InvoiceRequest invoice;
  InvoiceFormat format = InvoiceFormat::kTable;
};

/// Refuses whatever check_ledger_words refuses, a malformed month, an empty currency and unknown words.
[[nodiscard]] Result<InvoiceVerbRequest> check_invoice_words(const InvoiceWords& words);

}  // namespace berth::cli
