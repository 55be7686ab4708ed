#include "surface/cli/price/price_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "surface/cli/price/price_options.h"
#include "surface/cli/price/price_run.h"
#include "surface/cli/shared/today.h"
#include "surface/cli/shared/wiring.h"

namespace berth::cli {
namespace {

constexpr const char* kPriceHelp = "What GPUs cost: instances of AWS, Azure and Google Cloud, and your own offers.";

constexpr const char* kPriceExamples = R"(Examples:
  berth price list --gpu h100
  berth price show p5.48xlarge
  berth price list --offers negotiated.csv,aws_gpu.csv --regions us-east-1 --purchase spot --at 2026-08-01
  berth price merge --offers prices.csv,new.csv --out prices.csv

Exit status: 0 done, 1 the output cannot be written, 2 bad input (nothing is written).)";

void add_offer_options(CLI::App& verb, OfferWords& words) {
  verb.add_option("--offers", words.offers, "Catalogues as CSV; default: the built-in one")->type_name("FILE,..");
  verb.add_option("--gpu", words.gpu, "Only with this GPU, such as h100")->type_name("MODEL");
  verb.add_option("--region,--regions", words.regions, "Only in these regions")->type_name("A,B");
  verb.add_option("--purchase", words.purchase, "Only on-demand, spot or committed")->type_name("WORD");
  verb.add_option("--at", words.at, "The prices of this day; default: today (UTC)")->type_name("DATE");
  verb.add_option("--stamp", words.stamp, "The day of catalogues without dates; default: that of --at")
      ->type_name("DATE");
}

void add_list(CLI::App& price, VerbContext& context) {
  CLI::App* verb = price.add_subcommand("list", "Offers by the price of a GPU");
  const auto words = std::make_shared<PriceWords>();
  add_offer_options(*verb, words->offers);
  verb->add_option("--format", words->format, "table or json")->type_name("WORD")->capture_default_str();
  const auto check = [](const PriceWords& typed) { return check_price_words(typed, today()); };
  run_when_named(*verb, context, words, check, run_price_list);
}

void add_show(CLI::App& price, VerbContext& context) {
  CLI::App* verb = price.add_subcommand("show", "One instance type: where, how and for what it can be bought");
  const auto words = std::make_shared<PriceWords>();
  verb->add_option("TYPE", words->type, "The instance type, such as p5.48xlarge")->required();
  add_offer_options(*verb, words->offers);
  verb->add_option("--format", words->format, "table or json")->type_name("WORD")->capture_default_str();
  const auto check = [](const PriceWords& typed) { return check_price_words(typed, today()); };
  run_when_named(*verb, context, words, check, run_price_show);
}

void add_merge(CLI::App& price, VerbContext& context) {
  CLI::App* verb = price.add_subcommand("merge", "Continues a history of prices; no row of it is deleted");
  const auto words = std::make_shared<PriceMergeWords>();
  verb->add_option("--offers", words->offers, "The history, and the newer offers")->type_name("OLD,NEW")->required();
  verb->add_option("--out", words->out, "The file to write; it may be OLD")->type_name("FILE")->required();
  verb->add_option("--stamp", words->stamp, "The day of catalogues without dates; default: today (UTC)")
      ->type_name("DATE");
  const auto check = [](const PriceMergeWords& typed) { return check_price_merge_words(typed, today()); };
  run_when_named(*verb, context, words, check, run_price_merge);
}

}  // namespace

void add_price_verb(CLI::App& app, VerbContext& context) {
  CLI::App* price = app.add_subcommand("price", kPriceHelp);
  price->require_subcommand(1);
  price->footer(kPriceExamples);
  add_list(*price, context);
  add_show(*price, context);
  add_merge(*price, context);
}

}  // namespace berth::cli
