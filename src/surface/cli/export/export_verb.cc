#include "surface/cli/export/export_options.h"
#include "surface/cli/export/export_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kExportHelp = "A month of a ledger in formats that other systems read.";

constexpr const char* kExportExamples = R"(Examples:
  berth export focus --events week.jsonl --month 2026-11 --out focus.csv
  berth export focus --ledger DIR --month 2026-11 --out focus.csv --idle proportional
  berth export opencost --events week.jsonl --month 2026-11 --out allocation.json --by service

Exit status: 0 done, 1 the output cannot be written, 2 bad input (nothing is written).)";

}  // namespace

Verb export_verb() {
  return {
      .name = "export",
      .help = kExportHelp,
      .examples = kExportExamples,
      .subcommands = {
          with_words({.name = "focus", .help = "FOCUS 1.2 as CSV: a line for each row and each credit that is used"},
                     export_focus_option_rows, checked_run(check_export_words, run_export_focus)),
          with_words({.name = "opencost", .help = "JSON as returned by OpenCost's allocation API"},
                     export_opencost_option_rows, checked_run(check_export_words, run_export_opencost))}};
}

}  // namespace berth::cli
