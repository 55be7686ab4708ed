#include "surface/cli/export/export_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "surface/cli/export/export_options.h"
#include "surface/cli/export/export_run.h"
#include "surface/cli/shared/ledger_wiring.h"
#include "surface/cli/shared/wiring.h"

namespace berth::cli {
namespace {

constexpr const char* kExportHelp = "A month of a ledger in formats that other systems read.";

constexpr const char* kExportExamples = R"(Examples:
  berth export focus --events week.jsonl --month 2026-11 --out focus.csv
  berth export focus --ledger DIR --month 2026-11 --out focus.csv --idle proportional
  berth export opencost --events week.jsonl --month 2026-11 --out allocation.json --by service

Exit status: 0 done, 1 the output cannot be written, 2 bad input (nothing is written).)";

/// What both formats need.
void add_export_options(CLI::App& verb, ExportWords& words) {
  add_ledger_options(verb, words.ledger);
  verb.add_option("--month", words.month, "Such as 2026-11")->type_name("M")->required();
  verb.add_option("--out", words.out, "The file to write; an older one is replaced at the end")
      ->type_name("FILE")
      ->required();
  verb.add_option("--idle", words.idle, "Unowned time: keep (in lines of its own) or proportional (shared)")
      ->type_name("WORD")
      ->capture_default_str();
}

void add_focus(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("focus", "FOCUS 1.2 as CSV: a line for each row and each credit that is used");
  const auto words = std::make_shared<ExportWords>();
  add_export_options(*verb, *words);
  run_when_named(*verb, context, words, check_export_words, run_export_focus);
}

void add_opencost(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("opencost", "JSON as returned by OpenCost's allocation API");
  const auto words = std::make_shared<ExportWords>();
  add_export_options(*verb, *words);
  verb->add_option("--by", words->by, "An allocation for each tenant, service or role")
      ->type_name("WORD")
      ->capture_default_str();
  run_when_named(*verb, context, words, check_export_words, run_export_opencost);
}

}  // namespace

void add_export_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("export", kExportHelp);
  verb->require_subcommand(1);
  verb->footer(kExportExamples);
  add_focus(*verb, context);
  add_opencost(*verb, context);
}

}  // namespace berth::cli
