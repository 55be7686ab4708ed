#include "surface/cli/export/focus_csv.h"

#include <string_view>
#include <utility>

#include "base/json/writer.h"
#include "ledger/billing/charges.h"
#include "ledger/billing/csv.h"
#include "surface/cli/export/month_times.h"

namespace berth::cli {
namespace {

using ledger::decimal_of;
using ledger::FocusLine;
using ledger::FocusUsage;

constexpr int kCostDecimals = 6;
constexpr int kQuantityDecimals = 9;

std::string tags_json(const FocusUsage& usage) {
  json::Writer json;
  json.open_object();
  for (const auto& [key, value] : usage.tags) json.member(key, value);
  return json.close_object().take();
}

/// A column's name, and its value in a line.
using FocusField = std::pair<std::string_view, std::string>;

/// The columns in order. In CSV, an empty field is null.
std::vector<FocusField> fields_of(const FocusLine& line, Month month) {
  const bool is_usage = line.usage.has_value();
  const auto of_usage = [&](std::string_view text) { return std::string(is_usage ? text : ""); };
  const std::string cost = decimal_of(line.micro_usd, kCostDecimals);
  const std::string quantity =
      is_usage ? decimal_of(ledger::nano_gpu_hours(line.usage->gpu_us), kQuantityDecimals) : "";
  const MonthTimes billed = times_of(month);
  const MonthTimes charged = times_of(line.charge_month);
  const std::string sku = is_usage ? line.usage->sku : "";
  return {
      {"BilledCost", cost},
      {"BillingAccountId", "berth"},
      {"BillingAccountName", "Berth"},
      {"BillingCurrency", "USD"},
      {"BillingPeriodEnd", billed.end},
      {"BillingPeriodStart", billed.begin},
      {"ChargeCategory", is_usage ? "Usage" : "Credit"},
      {"ChargeClass", is_usage && line.usage->is_correction ? "Correction" : ""},
      {"ChargeDescription", line.description},
      {"ChargeFrequency", is_usage ? "Usage-Based" : "One-Time"},
      {"ChargePeriodEnd", charged.end},
      {"ChargePeriodStart", charged.begin},
      {"ConsumedQuantity", quantity},
      {"ConsumedUnit", of_usage("GPU-Hours")},
      {"ContractedCost", cost},
      {"EffectiveCost", cost},
      {"InvoiceId", month.to_string() + "/" + line.tenant},
      {"InvoiceIssuerName", "Berth"},
      {"ListCost", cost},
      {"PricingCategory", of_usage("Standard")},
      {"PricingQuantity", quantity},
      {"PricingUnit", of_usage("GPU-Hours")},
      {"ProviderName", "Berth"},
      {"PublisherName", "Berth"},
      {"ServiceCategory", "Compute"},
      {"ServiceName", "Berth GPUs"},
      {"ServiceSubcategory", "Other (Compute)"},
      {"SkuId", sku},
      {"SkuMeter", of_usage("GPU Time")},
      {"SkuPriceDetails", of_usage(R"({"GpuCount":1})")},
      {"SkuPriceId", sku},
      {"SubAccountId", line.tenant},
      {"SubAccountName", line.tenant},
      {"SubAccountType", line.tenant.empty() ? "" : "Tenant"},
      {"Tags", is_usage ? tags_json(*line.usage) : ""},
      {"x_AllocatedMethodId", is_usage ? std::string(name_of(line.usage->method)) : ""},
      {"x_CreditId", line.credit_id.value_or("")},
  };
}

}  // namespace

std::string focus_csv(const std::vector<FocusLine>& lines, Month month) {
  std::vector<std::string> row;
  const auto write = [&](std::string& text, const std::vector<FocusField>& fields, auto part) {
    row.clear();
    for (const FocusField& field : fields) row.emplace_back(field.*part);
    text += ledger::csv_row(row);
  };
  std::string text;
  write(text, fields_of({}, month), &FocusField::first);
  for (const FocusLine& line : lines) write(text, fields_of(line, month), &FocusField::second);
  return text;
}

}  // namespace berth::cli
