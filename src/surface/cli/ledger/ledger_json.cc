#include "surface/cli/ledger/ledger_json.h"

#include <fmt/format.h>

namespace berth::cli {
namespace {

using json::JsonWriter;

void write_counts(JsonWriter& json, const ledger::LineCounts& counts) {
  const auto write = [&](std::string_view key, std::uint64_t count) {
    json.key(key).integer(static_cast<Int128>(count));
  };
  write("lines", counts.lines);
  write("accepted", counts.accepted);
  write("duplicates", counts.duplicates);
  write("conflicts", counts.conflicts);
  write("overlaps", counts.overlaps);
  write("refused_closed", counts.refused_closed);
  write("refused_void", counts.refused_void);
  write("refused_close", counts.refused_close);
  write("voided", counts.voided);
}

}  // namespace

void write_row(JsonWriter& json, const ledger::Row& row) {
  json.key("tenant").text(row.key.tenant).key("service").text(row.key.service).key("sku").text(row.key.sku);
  json.key("role").text(name_of(row.key.role)).key("class").text(row.key.class_name()).key("of");
  if (row.key.of) {
    json.text(row.key.of->to_string());
  } else {
    json.null();
  }
  json.key("gpu_us").integer(row.amount.gpu_us).key("grains").text(fmt::format("{}", row.amount.grains));
  json.key("micro_usd").integer(row.micro_usd);
}

std::string report_json(const ledger::Report& report) {
  JsonWriter json;
  json.open_object().key("berth").integer(1);
  write_counts(json, report.counts);
  json.key("unpriced_us").integer(report.unpriced_us).key("unbacked_us").integer(report.unbacked_us);
  json.key("grains").text(fmt::format("{}", report.grains));
  json.key("carried_grains").text(fmt::format("{}", report.carried_grains));
  json.key("micro_usd").integer(report.micro_usd).key("months").open_list();
  for (const ledger::MonthRows& month : report.months) {
    json.open_object().key("month").text(month.month.to_string()).key("closed").truth(month.is_closed);
    json.key("micro_usd").integer(month.micro_usd).key("rows").open_list();
    for (const ledger::Row& row : month.rows) {
      json.open_object();
      write_row(json, row);
      json.close_object();
    }
    json.close_list().close_object();
  }
  json.close_list().close_object();
  return json.take();
}

std::string trial_balance_json(const ledger::TrialBalance& trial) {
  JsonWriter json;
  json.open_object().key("berth").integer(1).key("accounts").open_list();
  for (const ledger::AccountBalance& account : trial.accounts) {
    json.open_object().key("kind").text(name_of(account.kind)).key("name").text(account.name);
    json.key("grains").text(fmt::format("{}", account.grains)).close_object();
  }
  json.close_list().key("sum_grains").text(fmt::format("{}", trial.sum)).close_object();
  return json.take();
}

}  // namespace berth::cli
