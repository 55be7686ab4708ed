#include "surface/cli/price/price_options.h"
#include "surface/cli/price/price_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/shared/today.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kPriceHelp = "What GPUs cost: instances of AWS, Azure and Google Cloud, and your own offers.";

constexpr const char* kPriceExamples = R"(Examples:
  berth price list --gpu h100
  berth price show p5.48xlarge
  berth price list --offers negotiated.csv,aws_gpu.csv --regions us-east-1 --purchase spot --at 2026-08-01
  berth price merge --offers prices.csv,new.csv --out prices.csv
  berth price event --sku A100-80GB --from 2026-11-01T00:00:00Z --usd-per-gpu-hour 1.85 >> usage.jsonl

Exit status: 0 done, 1 the output cannot be written, 2 bad input (nothing is written).)";

Result<PriceRequest> check_price_today(const PriceWords& words) { return check_price_words(words, today()); }

Result<PriceEventRequest> check_price_event_today(const PriceEventWords& words) {
  return check_price_event_words(words, today());
}

Result<PriceMergeRequest> check_price_merge_today(const PriceMergeWords& words) {
  return check_price_merge_words(words, today());
}

}  // namespace

Verb price_verb() {
  return {.name = "price",
          .help = kPriceHelp,
          .examples = kPriceExamples,
          .subcommands = {
              with_words({.name = "list", .help = "Offers by the price of a GPU"}, price_list_option_rows,
                         checked_run(check_price_today, run_price_list)),
              with_words({.name = "show", .help = "One instance type: where, how and for what it can be bought"},
                         price_show_option_rows, checked_run(check_price_today, run_price_show)),
              with_words({.name = "event", .help = "A price as a line of events for berth ledger"},
                         price_event_option_rows, checked_run(check_price_event_today, run_price_event)),
              with_words({.name = "merge", .help = "Continues a history of prices; no row of it is deleted"},
                         price_merge_option_rows, checked_run(check_price_merge_today, run_price_merge))}};
}

}  // namespace berth::cli
