#include "surface/cli/cli.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "surface/cli/forecast_options.h"
#include "surface/cli/mig_verb.h"
#include "surface/cli/pack_verb.h"
#include "surface/cli/plan_verb.h"
#include "surface/cli/replay_options.h"
#include "surface/cli/size_options.h"
#include "surface/cli/verb.h"

namespace berth::cli {
namespace {

constexpr int kStatusFailed = 1;
constexpr int kStatusBadInput = 2;

constexpr const char* kProgramHelp =
    "Plans how the GPUs of a fleet are partitioned and which service runs where; replays arrivals to show what plans "
    "give.";

constexpr const char* kReplayHelp =
    "Replays the arrivals of a scenario under several policies and reports what each gives and costs.";

constexpr const char* kReplayExamples = R"(Examples:
  berth replay scenario.yaml
  berth replay scenario.yaml --policies shared,static-best --report out
  berth replay scenario.yaml --format json --journal journal.jsonl > figures.json

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

constexpr const char* kSizeHelp =
    "Finds by replay how many GPUs a scenario needs under each policy for every service's share in time.";

constexpr const char* kSizeExamples = R"(Examples:
  berth size scenario.yaml --attainment 0.99
  berth size scenario.yaml --attainment 0.999 --policies shared,whole,paris --max-gpus 200 --seeds 5
  berth size scenario.yaml --attainment 0.99 --policies whole,berth --ideas
  berth size scenario.yaml --attainment 0.99 --format json --report out

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

constexpr const char* kPlanHelp =
    "Shows the plan that berth makes at one second of a scenario, with its bound and the reasons of its steps.";

constexpr const char* kPlanExamples = R"(Examples:
  berth plan scenario.yaml --at 600
  berth plan scenario.yaml --at 600 --explain
  berth plan scenario.yaml --at 600 --reasons all
  berth plan scenario.yaml --at 0 --format json --timings

It starts from the layout of the file, otherwise from the one that berth has at that second.
Exit status: 0 done, 2 bad input or no plan can exist, 130 interrupted.)";

constexpr const char* kForecastHelp =
    "Tests forecasts on a recorded trace: how far each model's quantiles were from the arrivals.";

constexpr const char* kForecastExamples = R"(Examples:
  berth forecast --trace requests_per_second.txt.gz --trace-format rps-text --horizon 200 --every 50
  berth forecast --trace trace.csv --trace-format csv --from-second 86400 --seconds 3600 --format json
  berth forecast --trace invocations.csv --trace-format azure-functions --app HASH --report out

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

void print(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

/// Whether a stream is a terminal with colours and cursor movement, and its user wants them.
bool is_fancy_terminal(std::FILE* stream) {
  const int descriptor = ::fileno(stream);
  const char* term = std::getenv("TERM");
  return descriptor >= 0 && ::isatty(descriptor) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

bool is_colour_wanted() {
  const char* no_colour = std::getenv("NO_COLOR");
  return no_colour == nullptr || *no_colour == '\0';
}

void run_replay_verb(const ReplayOptions& options, const CliParts& parts, VerbContext& context) {
  const Result<ReplayRequest> request = check_replay_options(options);
  if (!request) {
    finish(context, pass_on(request.error()));
    return;
  }
  finish(context, run_replay(*request, {.files = *parts.files,
                                        .render_report = parts.render_report,
                                        .progress = is_fancy_terminal(parts.err) ? parts.err : nullptr,
                                        .has_colour = is_fancy_terminal(parts.out) && is_colour_wanted()}));
}

void add_replay_verb(CLI::App& app, ReplayOptions& options) {
  CLI::App* verb = app.add_subcommand("replay", kReplayHelp);
  verb->footer(kReplayExamples);
  verb->add_option("SCENARIO", options.scenario, "The scenario file (YAML; its keys: docs/scenario.md)")->required();
  verb->add_option("--policies", options.policies, "Which policies, such as shared,static-best; default: all")
      ->type_name("A,B");
  verb->add_option("--seed", options.seed, "Seed of everything random, 0 to 2^63-1")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--format", options.format, "table or json")->type_name("WORD")->capture_default_str();
  verb->add_option("--report", options.report, "Write a page with charts, DIR/index.html")->type_name("DIR");
  verb->add_option("--journal", options.journal, "Write every event, one JSON object per line")->type_name("FILE");
  verb->add_option("--set", options.parameters, "A policy's parameter (docs/policies.md), may be repeated")
      ->type_name("POLICY.NAME=VALUE")
      ->allow_extra_args(false);
  verb->add_flag("--timings", options.has_timings, "Also show wall-clock times (they differ from run to run)");
}

void run_size_verb(const SizeWords& words, const CliParts& parts, VerbContext& context) {
  const Result<SizeRequest> request = check_size_options(words);
  if (!request) {
    finish(context, pass_on(request.error()));
    return;
  }
  finish(context, run_size(*request, {.files = *parts.files,
                                      .render_report = parts.render_size_report,
                                      .progress = is_fancy_terminal(parts.err) ? parts.err : nullptr,
                                      .has_colour = is_fancy_terminal(parts.out) && is_colour_wanted()}));
}

void add_size_verb(CLI::App& app, SizeWords& words) {
  CLI::App* verb = app.add_subcommand("size", kSizeHelp);
  verb->footer(kSizeExamples);
  verb->add_option("SCENARIO", words.scenario,
                   "The scenario file; its fleet has one GPU model, whose count is searched")
      ->required();
  verb->add_option("--attainment", words.attainment, "Share of its requests that each service answers in time, as 0.99")
      ->type_name("SHARE")
      ->required();
  verb->add_option("--policies", words.policies, "Which policies, such as shared,whole; default: all but fixed")
      ->type_name("A,B");
  verb->add_option("--max-gpus", words.gpus_max, "The largest count to try")->type_name("N")->capture_default_str();
  verb->add_option("--seeds", words.seed_count, "How many seeds (1, 2, ..) must agree")
      ->type_name("K")
      ->capture_default_str();
  verb->add_flag("--ideas", words.has_ideas, "Also show what slices, operating points and the like save, one by one");
  verb->add_option("--set", words.parameters, "A policy's parameter (docs/policies.md), may be repeated")
      ->type_name("POLICY.NAME=VALUE")
      ->allow_extra_args(false);
  verb->add_option("--format", words.format, "table or json")->type_name("WORD")->capture_default_str();
  verb->add_option("--report", words.report, "Write a page that compares the answers, DIR/index.html")
      ->type_name("DIR");
}

void run_forecast_verb(const ForecastWords& words, const CliParts& parts, VerbContext& context) {
  const Result<ForecastRequest> request = check_forecast_options(words);
  if (!request) {
    finish(context, pass_on(request.error()));
    return;
  }
  finish(context, run_forecast(*request, {.files = *parts.files,
                                          .render_report = parts.render_forecast_report,
                                          .progress = is_fancy_terminal(parts.err) ? parts.err : nullptr,
                                          .has_colour = is_fancy_terminal(parts.out) && is_colour_wanted()}));
}

void add_forecast_verb(CLI::App& app, ForecastWords& words) {
  CLI::App* verb = app.add_subcommand("forecast", kForecastHelp);
  verb->footer(kForecastExamples);
  verb->add_option("--trace", words.trace, "The recorded trace, plain or gzip")->type_name("FILE")->required();
  verb->add_option("--trace-format", words.trace_format, "rps-text, csv, azure-llm or azure-functions")
      ->type_name("WORD")
      ->required();
  verb->add_option("--app", words.app, "For azure-functions: only this application")->type_name("HASH");
  verb->add_option("--function", words.function, "For azure-functions: only this function; default: the sum of all")
      ->type_name("HASH");
  verb->add_option("--horizon", words.horizon, "How many seconds each forecast covers")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--every", words.every, "Seconds between forecasts")->type_name("N")->capture_default_str();
  verb->add_option("--from-second", words.from_second, "The first second forecast; those before it are history")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--seconds", words.seconds, "Length of the window; default: to the end of the trace")
      ->type_name("N");
  verb->add_option("--seed", words.seed,
                   "Seed for arrival times that the trace does not give (within a minute), 0 to 2^63-1")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--format", words.format, "table or json")->type_name("WORD")->capture_default_str();
  verb->add_option("--report", words.report, "Write a page with charts, DIR/index.html")->type_name("DIR");
}

void run_plan_verb(const PlanWords& words, const CliParts& parts, VerbContext& context) {
  const Result<PlanRequest> request = check_plan_options(words);
  if (!request) {
    finish(context, pass_on(request.error()));
    return;
  }
  finish(context, run_plan(*request, {.files = *parts.files,
                                      .progress = is_fancy_terminal(parts.err) ? parts.err : nullptr,
                                      .has_colour = is_fancy_terminal(parts.out) && is_colour_wanted()}));
}

void add_plan_verb(CLI::App& app, PlanWords& words) {
  CLI::App* verb = app.add_subcommand("plan", kPlanHelp);
  verb->footer(kPlanExamples);
  verb->add_option("SCENARIO", words.scenario, "The scenario file (YAML; its keys: docs/scenario.md)")->required();
  verb->add_option("--at", words.at, "The second of the run at which the plan is made")
      ->type_name("SECONDS")
      ->required();
  verb->add_option("--seed", words.seed, "Seed of everything random, 0 to 2^63-1")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--format", words.format, "table or json")->type_name("WORD")->capture_default_str();
  verb->add_option("--reasons", words.reasons, "Steps whose reasons are computed, those with the largest gain; or all")
      ->type_name("N")
      ->capture_default_str();
  verb->add_flag("--explain", words.is_explained, "Also show the arithmetic of each service's share");
  verb->add_flag("--timings", words.has_timings, "Also show how long solving took (it differs from run to run)");
}

/// The verbs, and the storage of their options between parsing and running.
struct Program {
  CLI::App app{kProgramHelp, "berth"};
  ReplayOptions replay;
  SizeWords size;
  ForecastWords forecast;
  PlanWords plan;
};

void add_verbs(Program& program, const CliParts& parts, VerbContext& context) {
  program.app.require_subcommand(0, 1);
  program.app.set_version_flag("--version", "berth " BERTH_VERSION);
  program.app.footer("berth VERB --help describes a verb.");
  add_replay_verb(program.app, program.replay);
  add_size_verb(program.app, program.size);
  add_plan_verb(program.app, program.plan);
  add_forecast_verb(program.app, program.forecast);
  add_mig_verb(program.app, context);
  add_pack_verb(program.app, context, parts.render_pack_report);
}

/// The exit status if parsing decides it (help, version, bad options); nothing if a verb must run.
std::optional<int> parse(CLI::App& app, int argc, const char* const* argv, const CliParts& parts) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    print(parts.out, std::string(version.what()) + "\n");
    return 0;
  } catch (const CLI::CallForHelp&) {
    print(parts.out, app.help());
    return 0;
  } catch (const CLI::ParseError& error) {
    const auto verbs = app.get_subcommands();
    const std::string verb = verbs.empty() ? "" : " " + verbs.front()->get_name();
    print(parts.err, std::string("berth: ") + error.what() + "\nSee: berth" + verb + " --help\n");
    return kStatusBadInput;
  }
  if (!app.get_subcommands().empty()) return std::nullopt;
  print(parts.err, "berth: wanted a verb, found none\n\n" + app.help());
  return kStatusBadInput;
}

int run_verbs(int argc, const char* const* argv, const CliParts& parts) {
  Program program;
  VerbContext context{.out = parts.out, .err = parts.err, .status = 0, .files = parts.files};
  add_verbs(program, parts, context);
  if (const std::optional<int> status = parse(program.app, argc, argv, parts)) return *status;
  if (program.app.got_subcommand("replay")) run_replay_verb(program.replay, parts, context);
  if (program.app.got_subcommand("size")) run_size_verb(program.size, parts, context);
  if (program.app.got_subcommand("plan")) run_plan_verb(program.plan, parts, context);
  if (program.app.got_subcommand("forecast")) run_forecast_verb(program.forecast, parts, context);
  return context.status;
}

}  // namespace

int run_cli(int argc, const char* const* argv, const CliParts& parts) {
  try {
    return run_verbs(argc, argv, parts);
  } catch (const std::bad_alloc&) {
    print(parts.err, "berth: out of memory\n");
  } catch (const std::exception& error) {
    print(parts.err, std::string("berth: ") + error.what() + "\n");
  }
  return kStatusFailed;
}

}  // namespace berth::cli
