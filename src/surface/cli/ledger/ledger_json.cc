#include "surface/cli/ledger/ledger_json.h"

#include <fmt/format.h>

#include <optional>

namespace berth::cli {
namespace {

using json::Writer;

void put_counts(Writer& json, const ledger::LineCounts& counts) {
  json.member("lines", counts.lines).member("accepted", counts.accepted).member("duplicates", counts.duplicates);
  json.member("conflicts", counts.conflicts).member("overlaps", counts.overlaps);
  json.member("refused_closed", counts.refused_closed).member("refused_void", counts.refused_void);
  json.member("refused_close", counts.refused_close).member("voided", counts.voided);
}

}  // namespace

void put_row(Writer& json, const ledger::Row& row) {
  json.member("tenant", row.key.tenant).member("service", row.key.service).member("sku", row.key.sku);
  json.member("role", name_of(row.key.role)).member("class", row.key.class_name());
  json.member("of", row.key.of ? std::optional(row.key.of->to_string()) : std::nullopt);
  json.member("gpu_us", row.amount.gpu_us).member("grains", fmt::format("{}", row.amount.grains));
  json.member("micro_usd", row.micro_usd);
}

std::string report_json(const ledger::Report& report) {
  Writer json;
  json.open_object().member("berth", 1);
  put_counts(json, report.counts);
  json.member("unpriced_us", report.unpriced_us).member("unbacked_us", report.unbacked_us);
  json.member("grains", fmt::format("{}", report.grains));
  json.member("carried_grains", fmt::format("{}", report.carried_grains));
  json.member("micro_usd", report.micro_usd).open_list("months");
  for (const ledger::MonthRows& month : report.months) {
    json.open_object().member("month", month.month.to_string()).member("closed", month.is_closed);
    json.member("micro_usd", month.micro_usd).open_list("rows");
    for (const ledger::Row& row : month.rows) {
      json.open_object();
      put_row(json, row);
      json.close_object();
    }
    json.close_list().close_object();
  }
  json.close_list().close_object();
  return json.take_line();
}

std::string trial_balance_json(const ledger::TrialBalance& trial) {
  Writer json;
  json.open_object().member("berth", 1).open_list("accounts");
  for (const ledger::AccountBalance& account : trial.accounts) {
    json.open_object().member("kind", name_of(account.kind)).member("name", account.name);
    json.member("grains", fmt::format("{}", account.grains)).close_object();
  }
  json.close_list().member("sum_grains", fmt::format("{}", trial.sum)).close_object();
  return json.take_line();
}

}  // namespace berth::cli
