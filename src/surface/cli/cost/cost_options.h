/// The options of `berth cost`: as typed, and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/core/result.h"
#include "ledger/billing/cost.h"
#include "ledger/billing/cost_overview.h"
#include "surface/cli/shared/ledger_words.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed: one of --by, --budgets and --why, or --report alone, which is by tenant.
struct CostWords {
  LedgerWords ledger;
  std::optional<std::string> by = std::nullopt;
  std::optional<std::string> since = std::nullopt;
  std::optional<std::string> until = std::nullopt;
  bool has_budgets = false;
  std::optional<std::string> as_of = std::nullopt;
  std::optional<std::string> why = std::nullopt;
  std::string format = "table";
  std::optional<std::string> report = std::nullopt;
};

[[nodiscard]] OptionTable cost_option_rows(CostWords& words);

struct CostByQuestion {
  ledger::CostKey key = ledger::CostKey::kTenant;
  ledger::DayRange days;
};

struct BudgetQuestion {
  std::int64_t as_of_us = 0;
};

/// Selects the cells behind a figure: those that match all given values.
struct WhyQuestion {
  std::optional<std::string> tenant = std::nullopt;
  std::optional<std::string> service = std::nullopt;
  std::optional<std::string> sku = std::nullopt;
  std::optional<std::string> role = std::nullopt;
  std::optional<std::string> gpu = std::nullopt;
  std::optional<std::string> slice = std::nullopt;
  ledger::DayRange days;
};

/// The page of --report.
struct CostPage {
  std::string dir;
  ledger::OverviewRange range;
};

struct CostRequest {
  LedgerRequest ledger;
  std::variant<CostByQuestion, BudgetQuestion, WhyQuestion> question;
  OutputFormat format = OutputFormat::kTable;
  std::optional<CostPage> page = std::nullopt;
};

/// Refuses whatever check_ledger_words refuses, several questions, or none without --report, malformed dates and keys,
/// and options that the question does not use.
[[nodiscard]] Result<CostRequest> check_cost_words(const CostWords& words);

}  // namespace berth::cli
