#include "surface/cli/export/export_options.h"

#include <utility>

#include "base/core/text.h"

namespace berth::cli {

OptionTable export_focus_option_rows(ExportWords& words) {
  return joined_rows(
      {ledger_option_rows(words.ledger),
       {
           {"--month", "M", "Such as 2026-11", &words.month, kRequired},
           {"--out", "FILE", "The file to write; an older one is replaced at the end", &words.out, kRequired},
           {"--idle", "WORD", "Unowned time: keep (in lines of its own) or proportional (shared)", &words.idle},
       }});
}

OptionTable export_opencost_option_rows(ExportWords& words) {
  return joined_rows({export_focus_option_rows(words),
                      {{"--by", "WORD", "An allocation for each tenant, service or role", &words.by}}});
}

Result<ExportRequest> check_export_words(const ExportWords& words) {
  auto ledger = check_ledger_words(words.ledger);
  if (!ledger) return pass_on(ledger.error());
  const auto month = Month::parse(words.month);
  if (!month) return invalid("--month: " + month.error().message);
  if (words.out.empty()) return invalid("--out: wanted a file, found an empty path");
  if (words.idle != "keep" && words.idle != "proportional") {
    return invalid("--idle: wanted keep or proportional, found " + in_quotes(words.idle));
  }
  const auto depth = ledger::allocation_depth_named(words.by);
  if (!depth) return invalid("--by: wanted tenant, service or role, found " + in_quotes(words.by));
  return ExportRequest{.ledger = *std::move(ledger),
                       .month = *month,
                       .out = words.out,
                       .idle = words.idle == "keep" ? ledger::IdleRule::kKeep : ledger::IdleRule::kProportional,
                       .depth = *depth};
}

}  // namespace berth::cli
