#include "surface/cli/invoice/invoice_options.h"
#include "surface/cli/invoice/invoice_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kInvoiceHelp = "What a tenant pays for a month: its lines, corrections and credits.";

constexpr const char* kInvoiceExamples = R"(Examples:
  berth invoice --events week.jsonl --tenant acme --month 2026-11
  berth invoice --events week.jsonl --tenant acme --month 2026-11 --idle proportional --currency EUR
  berth invoice --events week.jsonl --tenant acme --month 2026-11 --format html > invoice.html

Exit status: 0 done, 1 the output cannot be written, 2 bad input (nothing is written).)";

}  // namespace

Verb invoice_verb() {
  return with_words({.name = "invoice", .help = kInvoiceHelp, .examples = kInvoiceExamples}, invoice_option_rows,
                    checked_run(check_invoice_words, run_invoice));
}

}  // namespace berth::cli
