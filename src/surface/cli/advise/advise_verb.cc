#include "surface/cli/advise/advise_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "surface/cli/advise/advise_options.h"
#include "surface/cli/advise/advise_run.h"
#include "surface/cli/shared/today.h"
#include "surface/cli/shared/wiring.h"

namespace berth::cli {
namespace {

constexpr const char* kAdviseHelp = "The cheapest instances that hold a list of pods, with a proven bound.";

constexpr const char* kAdviseExamples = R"(Examples:
  berth advise --pods examples/buying/pods.csv
  berth advise --pods pods.csv --offers negotiated.csv,aws_gpu.csv --regions us-east-1 --at 2026-08-01
  berth advise --pods pods.csv --purchase spot --format json --report out

Exit status: 0 done, 1 an output cannot be written, 2 bad input, 130 interrupted.)";

}  // namespace

void add_advise_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("advise", kAdviseHelp);
  verb->footer(kAdviseExamples);
  const auto words = std::make_shared<AdviseWords>();
  verb->add_option("--pods", words->pods, "What pods need: name, CPU, memory, GPUs")->type_name("FILE")->required();
  verb->add_option("--offers", words->offers.offers, "Catalogues as CSV; default: the built-in one")
      ->type_name("FILE,..");
  verb->add_option("--region,--regions", words->offers.regions, "Only in these regions")->type_name("A,B");
  verb->add_option("--purchase", words->offers.purchase, "on-demand, spot or committed; default: on-demand")
      ->type_name("WORD");
  verb->add_option("--at", words->offers.at, "The prices of this day; default: today (UTC)")->type_name("DATE");
  verb->add_option("--stamp", words->offers.stamp, "The day of catalogues without dates; default: that of --at")
      ->type_name("DATE");
  verb->add_option("--nodes", words->nodes, "Budget of the search, in nodes; default: grows with the pods")
      ->type_name("N");
  verb->add_option("--format", words->format, "table or json")->type_name("WORD")->capture_default_str();
  verb->add_option("--report", words->report, "Write a page with pictures, DIR/index.html")->type_name("DIR");
  const auto check = [](const AdviseWords& typed) { return check_advise_options(typed, today()); };
  run_when_named(*verb, context, words, check, run_advise);
}

}  // namespace berth::cli
