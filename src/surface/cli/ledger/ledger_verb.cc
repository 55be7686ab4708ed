#include "surface/cli/ledger/ledger_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "surface/cli/ledger/ingest_run.h"
#include "surface/cli/ledger/ledger_options.h"
#include "surface/cli/ledger/ledger_run.h"
#include "surface/cli/ledger/verify_run.h"
#include "surface/cli/ledger/weights_run.h"
#include "surface/cli/shared/ledger_wiring.h"
#include "surface/cli/shared/wiring.h"

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

using Run = Result<std::string> (*)(const LedgerReportRequest&, const VerbContext&);

void add_reading_verb(CLI::App& ledger, VerbContext& context, const char* name, const char* help, Run run) {
  CLI::App* verb = ledger.add_subcommand(name, help);
  const auto words = std::make_shared<LedgerReportWords>();
  add_ledger_options(*verb, words->ledger);
  verb->add_option("--format", words->format, "table or json")->type_name("WORD")->capture_default_str();
  run_when_named(*verb, context, words, check_ledger_report_words, run);
}

void add_ingest(CLI::App& ledger, VerbContext& context) {
  CLI::App* verb =
      ledger.add_subcommand("ingest", "Appends a file of events to a ledger on disk; repeating it adds nothing");
  const auto words = std::make_shared<IngestWords>();
  verb->add_option("--ledger", words->ledger, "The folder of the ledger; created if it does not exist")
      ->type_name("DIR")
      ->required();
  verb->add_option("--events", words->events, "A file of events, one JSON object per line")
      ->type_name("FILE")
      ->required();
  run_when_named(*verb, context, words, check_ingest_words, run_ledger_ingest);
}

void add_weights_verb(CLI::App& ledger, VerbContext& context) {
  CLI::App* verb = ledger.add_subcommand("weights", "The weights of slices, and the capacities of GPUs");
  const auto words = std::make_shared<LedgerWeightsWords>();
  verb->add_option("--gpu", words->gpu, "The GPU model, or a unique prefix of it: A100-80GB, H200; default: all")
      ->type_name("NAME");
  verb->add_option("--format", words->format, "table or json")->type_name("WORD")->capture_default_str();
  run_when_named(*verb, context, words, check_ledger_weights_words, run_ledger_weights);
}

}  // namespace

void add_ledger_verb(CLI::App& app, VerbContext& context) {
  CLI::App* ledger = app.add_subcommand("ledger", kLedgerHelp);
  ledger->require_subcommand(1);
  ledger->footer(kLedgerExamples);
  add_reading_verb(*ledger, context, "report", "Cost by tenant and month, and how many lines were accepted",
                   run_ledger_report);
  add_reading_verb(*ledger, context, "verify",
                   "Counts everything again by a second method and reports the first difference", run_ledger_verify);
  add_ingest(*ledger, context);
  add_reading_verb(*ledger, context, "trial-balance", "All accounts; they sum to 0", run_ledger_trial_balance);
  add_weights_verb(*ledger, context);
}

}  // namespace berth::cli
