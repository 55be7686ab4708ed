#include "surface/cli/pack/pack_options.h"

#include <fmt/format.h>

#include <string_view>

#include "base/core/text.h"
#include "domain/mig/catalogue.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

constexpr std::int64_t kProcessesAskedMax = 1024;
constexpr std::int64_t kFactorMax = 1000;
/// The replays also use the two seeds after the given one.
constexpr std::int64_t kPackSeedMax = INT64_MAX - 2;

Result<Decimal> factor_option(std::string_view option, std::string_view text) {
  auto value = Decimal::parse(text);
  if (value && value->sign() > 0 && *value <= Decimal(kFactorMax)) return value;
  return invalid(fmt::format("{}: wanted a number above 0, at most {}, found {}", option, kFactorMax, in_quotes(text)));
}

Result<scenario::ProfileFormat> profile_format_option(std::string_view text) {
  if (text == "parvagpu") return scenario::ProfileFormat::kParvagpu;
  if (text == "csv") return scenario::ProfileFormat::kCsv;
  return invalid("--profile-format: wanted parvagpu or csv, found " + in_quotes(text));
}

Result<void> check_sources(const PackArguments& arguments) {
  if (arguments.gpu.has_value() == arguments.fleet.has_value()) {
    return invalid(fmt::format("--gpu or --fleet: wanted one of them, found {}", arguments.gpu ? "both" : "neither"));
  }
  if (arguments.fleet == "") return invalid("--fleet: wanted a file, found an empty path");
  if (arguments.profiles.empty()) return invalid("--profiles: wanted a folder or file, found an empty path");
  if (arguments.demand.empty()) return invalid("--demand: wanted a file, found an empty path");
  return {};
}

Result<void> check_outputs(const PackArguments& arguments) {
  if (arguments.report == "") return invalid("--report: wanted a folder, found an empty path");
  if (arguments.from == "") return invalid("--from: wanted a file, found an empty path");
  if (!arguments.check) return {};
  if (arguments.check->empty()) return invalid("--check: wanted a file, found an empty path");
  if (arguments.is_verifying || arguments.is_curing) {
    return invalid("--check: cannot be combined with --verify or --cure, as it neither searches nor replays");
  }
  if (arguments.report) return invalid("--check: cannot be combined with --report, as it draws no page");
  if (arguments.from) return invalid("--check: cannot be combined with --from, as it does not search");
  return {};
}

Result<PackingRules> rules_from(const PackArguments& arguments) {
  const auto processes = whole_option("--max-processes", arguments.processes_max, 1, kProcessesAskedMax);
  if (!processes) return pass_on(processes.error());
  auto slo_factor = factor_option("--slo-factor", arguments.slo_factor);
  if (!slo_factor) return pass_on(slo_factor.error());
  auto headroom = factor_option("--headroom", arguments.headroom);
  if (!headroom) return pass_on(headroom.error());
  if (arguments.no_share && *arguments.no_share != "tenant") {
    return invalid("--no-share: wanted tenant, found " + in_quotes(*arguments.no_share));
  }
  return PackingRules{.slo_factor = std::move(*slo_factor),
                      .headroom = std::move(*headroom),
                      .processes_max = static_cast<int>(*processes),
                      .keeps_tenants_apart = arguments.no_share.has_value()};
}

/// Checks all options but the rules.
Result<void> take_rest(const PackArguments& arguments, PackRequest& request) {
  const auto profile_format = profile_format_option(arguments.profile_format);
  if (!profile_format) return pass_on(profile_format.error());
  request.profile_format = *profile_format;
  const auto format = parse_format(arguments.format);
  if (!format) return pass_on(format.error());
  request.format = *format;
  const auto seed = whole_option("--seed", arguments.seed, 0, kPackSeedMax);
  if (!seed) return pass_on(seed.error());
  request.seed = static_cast<std::uint64_t>(*seed);
  if (arguments.nodes) {
    const auto nodes = whole_option("--nodes", *arguments.nodes, 1, kNodesAskedMax);
    if (!nodes) return pass_on(nodes.error());
    request.search.nodes_max = *nodes;
  }
  return {};
}

}  // namespace

OptionTable pack_option_rows(PackArguments& arguments) {
  return {
      {"--gpu",
       "NAME",
       "The GPU model, or a unique prefix of it; as many GPUs as needed",
       &arguments.gpu,
       {.remark = mig::gpu_name_remark}},
      {"--fleet", "FILE", "GPU models with counts and prices: find the cheapest mix", &arguments.fleet},
      {"--profiles", "DIR|FILE", "Measured profiles: a file, or a folder of *.csv files", &arguments.profiles,
       kRequired},
      {"--profile-format", "WORD", "parvagpu (one model per file) or csv (Berth's own)", &arguments.profile_format,
       kRequired},
      {"--demand", "FILE", "The demands: rates and latency targets", &arguments.demand, kRequired},
      {"--max-processes", "N", "Use no measured point with more processes", &arguments.processes_max},
      {"--slo-factor", "X", "Use points whose latency is below this share of the target", &arguments.slo_factor},
      {"--headroom", "X", "Multiply every rate by this", &arguments.headroom},
      {"--no-share", "WORD", "tenant: no GPU has slices of two tenants", &arguments.no_share},
      {"--nodes", "N", "The budget of the search, in nodes", &arguments.nodes},
      {"--verify", "", "Replay the plan with random arrivals", &arguments.is_verifying},
      {"--cure", "", "Also find the headroom with which every demand has 99 % in time", &arguments.is_curing},
      {"--seed", "N", "First of the three seeds of --verify", &arguments.seed},
      {"--from", "PLAN", "The existing plan (JSON): change as few of its slices as possible", &arguments.from},
      {"--check", "PLAN", "No search: verify the plan in a file (as --format json writes it)", &arguments.check},
      {"--format", "WORD", "table or json", &arguments.format},
      {"--report", "DIR", "Write a page with charts, DIR/index.html", &arguments.report},
  };
}

Result<PackRequest> check_pack_options(const PackArguments& arguments) {
  if (const auto sources = check_sources(arguments); !sources) return pass_on(sources.error());
  if (const auto outputs = check_outputs(arguments); !outputs) return pass_on(outputs.error());
  auto rules = rules_from(arguments);
  if (!rules) return pass_on(rules.error());
  PackRequest request{.gpu = arguments.gpu,
                      .fleet_path = arguments.fleet,
                      .profiles_path = arguments.profiles,
                      .demand_path = arguments.demand,
                      .rules = std::move(*rules),
                      .search = {},
                      .is_verifying = arguments.is_verifying || arguments.is_curing,
                      .is_curing = arguments.is_curing,
                      .report_dir = arguments.report,
                      .check_path = arguments.check,
                      .from_path = arguments.from};
  if (const auto rest = take_rest(arguments, request); !rest) return pass_on(rest.error());
  return request;
}

}  // namespace berth::cli
