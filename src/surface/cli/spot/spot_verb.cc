#include "surface/cli/spot/spot_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "surface/cli/shared/wiring.h"
#include "surface/cli/spot/spot_options.h"
#include "surface/cli/spot/spot_run.h"

namespace berth::cli {
namespace {

constexpr const char* kSpotHelp =
    "A job with a deadline on spot and on-demand instances: what policies pay on recorded availability.";

constexpr const char* kSpotExamples = R"(Examples:
  berth spot --windows examples/buying/windows.jsonl
  berth spot --windows windows.jsonl --policies uniform-progress,berth,optimal --format json --report out
  berth spot --windows windows.jsonl --zones together --task-hours 24 --deadline-hours 30 --restart-hours 0.2

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

}  // namespace

void add_spot_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("spot", kSpotHelp);
  verb->footer(kSpotExamples);
  const auto words = std::make_shared<SpotWords>();
  verb->add_option("--windows", words->windows, "Recorded availability, a JSON object per line")
      ->type_name("FILE")
      ->required();
  verb->add_option("--policies", words->policies, "all, or on-demand, greedy, uniform-progress, optimal, berth")
      ->type_name("A,B")
      ->capture_default_str();
  verb->add_option("--task-hours", words->task_hours, "Work on one instance")->type_name("H")->capture_default_str();
  verb->add_option("--deadline-hours", words->deadline_hours, "When it must be done; each is tried")
      ->type_name("A,B")
      ->capture_default_str();
  verb->add_option("--restart-hours", words->restart_hours, "What a change of instance takes; each is tried")
      ->type_name("A,B")
      ->capture_default_str();
  verb->add_option("--on-demand", words->on_demand, "Dollars per hour")->type_name("USD")->capture_default_str();
  verb->add_option("--spot", words->spot, "Dollars per hour")->type_name("USD")->capture_default_str();
  verb->add_option("--zones", words->zones, "apart: each series is a market; together: all series of a window are one")
      ->type_name("WORD")
      ->capture_default_str();
  verb->add_option("--format", words->format, "table or json")->type_name("WORD")->capture_default_str();
  verb->add_option("--report", words->report, "Write a page with charts, DIR/index.html")->type_name("DIR");
  verb->add_option("--runs", words->runs, "Write a line for each run: what was held in each tick")->type_name("FILE");
  run_when_named(*verb, context, words, check_spot_options, run_spot);
}

}  // namespace berth::cli
