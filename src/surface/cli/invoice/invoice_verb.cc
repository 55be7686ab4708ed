#include "surface/cli/invoice/invoice_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "surface/cli/invoice/invoice_options.h"
#include "surface/cli/invoice/invoice_run.h"
#include "surface/cli/shared/ledger_wiring.h"
#include "surface/cli/shared/wiring.h"

namespace berth::cli {
namespace {

constexpr const char* kInvoiceHelp = "What a tenant pays for a month: its lines, corrections and credits.";

constexpr const char* kInvoiceExamples = R"(Examples:
  berth invoice --events week.jsonl --tenant acme --month 2026-11
  berth invoice --events week.jsonl --tenant acme --month 2026-11 --idle proportional --currency EUR
  berth invoice --events week.jsonl --tenant acme --month 2026-11 --format html > invoice.html

Exit status: 0 done, 1 the output cannot be written, 2 bad input (nothing is written).)";

}  // namespace

void add_invoice_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("invoice", kInvoiceHelp);
  const auto words = std::make_shared<InvoiceWords>();
  add_ledger_options(*verb, words->ledger);
  verb->add_option("--tenant", words->tenant, "The tenant; \"\" for unowned time")->type_name("T")->required();
  verb->add_option("--month", words->month, "Such as 2026-11")->type_name("M")->required();
  verb->add_option("--idle", words->idle, "Unowned time: keep (on no tenant's invoice) or proportional (shared)")
      ->type_name("WORD")
      ->capture_default_str();
  verb->add_option("--currency", words->currency, "USD, or a currency for which the ledger has a rate")
      ->type_name("EUR")
      ->capture_default_str();
  verb->add_option("--format", words->format, "table, json, html or csv")->type_name("WORD")->capture_default_str();
  verb->footer(kInvoiceExamples);
  run_when_named(*verb, context, words, check_invoice_words, run_invoice);
}

}  // namespace berth::cli
