#include "surface/cli/forecast/forecast_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "surface/cli/forecast/forecast_options.h"
#include "surface/cli/forecast/forecast_run.h"
#include "surface/cli/shared/wiring.h"

namespace berth::cli {
namespace {

constexpr const char* kForecastHelp =
    "Tests forecasts on a recorded trace: how far each model's quantiles were from the arrivals.";

constexpr const char* kForecastExamples = R"(Examples:
  berth forecast --trace requests_per_second.txt.gz --trace-format rps-text --horizon 200 --every 50
  berth forecast --trace trace.csv --trace-format csv --from-second 86400 --seconds 3600 --format json
  berth forecast --trace invocations.csv --trace-format azure-functions --app HASH --report out

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

}  // namespace

void add_forecast_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("forecast", kForecastHelp);
  verb->footer(kForecastExamples);
  const auto words = std::make_shared<ForecastWords>();
  verb->add_option("--trace", words->trace.path, "The recorded trace, plain or gzip")->type_name("FILE")->required();
  verb->add_option("--trace-format", words->trace.format, "rps-text, csv, azure-llm or azure-functions")
      ->type_name("WORD")
      ->required();
  verb->add_option("--app", words->trace.app, "For azure-functions: only this application")->type_name("HASH");
  verb->add_option("--function", words->trace.function,
                   "For azure-functions: only this function; default: the sum of all")
      ->type_name("HASH");
  verb->add_option("--horizon", words->horizon, "How many seconds each forecast covers")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--every", words->every, "Seconds between forecasts")->type_name("N")->capture_default_str();
  verb->add_option("--from-second", words->trace.from_second, "The first second forecast; those before it are history")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--seconds", words->trace.seconds, "Length of the window; default: to the end of the trace")
      ->type_name("N");
  verb->add_option("--seed", words->trace.seed,
                   "Seed for arrival times that the trace does not give (within a minute), 0 to 2^63-1")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--format", words->format, "table or json")->type_name("WORD")->capture_default_str();
  verb->add_option("--report", words->report, "Write a page with charts, DIR/index.html")->type_name("DIR");
  run_when_named(*verb, context, words, check_forecast_options, run_forecast);
}

}  // namespace berth::cli
