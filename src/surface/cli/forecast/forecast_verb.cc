#include "surface/cli/forecast/forecast_options.h"
#include "surface/cli/forecast/forecast_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

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

Verb forecast_verb() {
  return with_words({.name = "forecast", .help = kForecastHelp, .examples = kForecastExamples}, forecast_option_rows,
                    checked_run(check_forecast_options, run_forecast));
}

}  // namespace berth::cli
