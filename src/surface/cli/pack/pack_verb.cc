#include "surface/cli/pack/pack_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "surface/cli/pack/pack_options.h"
#include "surface/cli/pack/pack_run.h"
#include "surface/cli/shared/wiring.h"

namespace berth::cli {
namespace {

constexpr const char* kPackHelp =
    "Finds the fewest GPUs (or the cheapest mix) that serve models within their latency targets, with a proof.";

constexpr const char* kPackExamples = R"(Examples:
  berth pack --gpu A100-80GB --profiles profiles/ --profile-format parvagpu --demand demand.csv
  berth pack --gpu H100-80GB --profiles all.csv --profile-format csv --demand demand.csv --verify --headroom 1.2
  berth pack --fleet fleet.csv --profiles all.csv --profile-format csv --demand demand.csv --format json > plan.json
  berth pack --fleet fleet.csv --profiles all.csv --profile-format csv --demand demand.csv --check plan.json
  berth pack --fleet fleet.csv --profiles all.csv --profile-format csv --demand new.csv --from plan.json

demand.csv: model,requests_per_second,latency_ms[,tenant]    fleet.csv: gpu,count,usd_per_gpu_hour

Exit status: 0 done, 1 an output cannot be written or a checked plan is refused, 2 bad input or a demand that cannot be
met (nothing is written), 130 interrupted.)";

void add_input_options(CLI::App& verb, PackArguments& arguments) {
  verb.add_option("--gpu", arguments.gpu, "The GPU model, or a unique prefix of it; as many GPUs as needed")
      ->type_name("NAME");
  verb.add_option("--fleet", arguments.fleet, "GPU models with counts and prices: find the cheapest mix")
      ->type_name("FILE");
  verb.add_option("--profiles", arguments.profiles, "Measured profiles: a file, or a folder of *.csv files")
      ->type_name("DIR|FILE")
      ->required();
  verb.add_option("--profile-format", arguments.profile_format, "parvagpu (one model per file) or csv (Berth's own)")
      ->type_name("WORD")
      ->required();
  verb.add_option("--demand", arguments.demand, "The demands: rates and latency targets")
      ->type_name("FILE")
      ->required();
}

void add_rule_options(CLI::App& verb, PackArguments& arguments) {
  verb.add_option("--max-processes", arguments.processes_max, "Use no measured point with more processes")
      ->type_name("N")
      ->capture_default_str();
  verb.add_option("--slo-factor", arguments.slo_factor, "Use points whose latency is below this share of the target")
      ->type_name("X")
      ->capture_default_str();
  verb.add_option("--headroom", arguments.headroom, "Multiply every rate by this")
      ->type_name("X")
      ->capture_default_str();
  verb.add_option("--no-share", arguments.no_share, "tenant: no GPU has slices of two tenants")->type_name("WORD");
  verb.add_option("--nodes", arguments.nodes, "The budget of the search, in nodes")->type_name("N");
}

void add_output_options(CLI::App& verb, PackArguments& arguments) {
  verb.add_flag("--verify", arguments.is_verifying, "Replay the plan with random arrivals");
  verb.add_flag("--cure", arguments.is_curing, "Also find the headroom with which every demand has 99 % in time");
  verb.add_option("--seed", arguments.seed, "First of the three seeds of --verify")
      ->type_name("N")
      ->capture_default_str();
  verb.add_option("--from", arguments.from, "The existing plan (JSON): change as few of its slices as possible")
      ->type_name("PLAN");
  verb.add_option("--check", arguments.check, "No search: verify the plan in a file (as --format json writes it)")
      ->type_name("PLAN");
  verb.add_option("--format", arguments.format, "table or json")->type_name("WORD")->capture_default_str();
  verb.add_option("--report", arguments.report, "Write a page with charts, DIR/index.html")->type_name("DIR");
}

}  // namespace

void add_pack_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("pack", kPackHelp);
  verb->footer(kPackExamples);
  const auto arguments = std::make_shared<PackArguments>();
  add_input_options(*verb, *arguments);
  add_rule_options(*verb, *arguments);
  add_output_options(*verb, *arguments);
  run_when_named(*verb, context, arguments, check_pack_options, run_pack);
}

}  // namespace berth::cli
