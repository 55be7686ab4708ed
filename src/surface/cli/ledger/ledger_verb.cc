#include "surface/cli/ledger/ingest_run.h"
#include "surface/cli/ledger/ledger_options.h"
#include "surface/cli/ledger/ledger_run.h"
#include "surface/cli/ledger/verify_run.h"
#include "surface/cli/ledger/weights_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kLedgerHelp = "Who used which GPUs, and what it cost, to the micro-dollar.";

constexpr const char* kLedgerExamples = R"(Examples:
  berth ledger report --events week.jsonl
  berth ledger report --events week.jsonl --format json --refused refused.jsonl
  berth ledger ingest --ledger DIR --events week.jsonl
  berth ledger report --ledger DIR
  berth ledger trial-balance --events week.jsonl
  berth ledger weights --gpu A100-80GB

Exit status: 0 done, 1 the output cannot be written or a check failed, 2 bad input (nothing is written).)";

/// A subcommand that reads a ledger and prints a table or JSON.
template <class Run>
Verb reading_verb(const char* name, const char* help, Run run) {
  return with_words({.name = name, .help = help}, ledger_report_option_rows,
                    checked_run(check_ledger_report_words, run));
}

}  // namespace

Verb ledger_verb() {
  return {.name = "ledger",
          .help = kLedgerHelp,
          .examples = kLedgerExamples,
          .subcommands = {
              reading_verb("report", "Cost by tenant and month, and how many lines were accepted", run_ledger_report),
              reading_verb("verify", "Counts everything again by a second method and reports the first difference",
                           run_ledger_verify),
              with_words(
                  {.name = "ingest", .help = "Appends a file of events to a ledger on disk; repeating it adds nothing"},
                  ledger_ingest_option_rows, checked_run(check_ingest_words, run_ledger_ingest)),
              reading_verb("trial-balance", "All accounts; they sum to 0", run_ledger_trial_balance),
              with_words({.name = "weights", .help = "The weights of slices, and the capacities of GPUs"},
                         ledger_weights_option_rows, checked_run(check_ledger_weights_words, run_ledger_weights))}};
}

}  // namespace berth::cli
