#include "domain/scenario/load.h"

#include <fmt/format.h>

#include <utility>

#include "base/yaml/reader.h"
#include "domain/scenario/detail/fleet.h"
#include "domain/scenario/detail/rules.h"
#include "domain/scenario/detail/services.h"
#include "domain/scenario/detail/sources.h"
#include "domain/scenario/detail/tier_rules.h"

namespace berth::scenario {
namespace {

using namespace detail;

ChangeCosts read_changes(const yaml::Value& value) {
  ChangeCosts costs;
  if (!value.is_written()) return costs;
  value.check_keys({"destroy_seconds", "create_seconds", "plumbing_seconds"});
  costs.destroy = duration(value.at("destroy_seconds"), costs.destroy);
  costs.create = duration(value.at("create_seconds"), costs.create);
  costs.plumbing = duration(value.at("plumbing_seconds"), costs.plumbing);
  return costs;
}

std::vector<FrozenWindow> read_frozen(const yaml::Value& value) {
  std::vector<FrozenWindow> windows;
  if (!value.is_present()) return windows;
  for (const yaml::Value& item : value.items("a list of windows")) {
    item.check_keys({"from_second", "seconds"});
    if (!item.at("from_second").is_written()) item.at("from_second").refuse("a number of seconds");
    const Instant from = Instant() + duration(item.at("from_second"), Micros(0));
    windows.push_back({from, from + duration_above_zero(item.at("seconds"))});
  }
  return windows;
}

std::vector<Decimal> read_interference(const yaml::Value& value) {
  constexpr std::int64_t kFactorMax = 1000;
  if (!value.is_written()) return {Decimal(1)};
  std::vector<Decimal> factors;
  for (const yaml::Value& item : value.items("a list of at least one factor", false)) {
    factors.push_back(item.number(yaml::number_above_zero(Decimal(kFactorMax))));
  }
  return factors;
}

void read_times(const yaml::Value& root, Scenario& scenario) {
  const yaml::Value window = root.at("window_seconds");
  if (window.is_written()) scenario.window_seconds = window.whole({1, kDurationSecondsMax});
  const yaml::Value history = root.at("history_seconds");
  if (history.is_written()) scenario.history_seconds = history.whole({0, kHistorySecondsMax});
  scenario.observation_delay = duration(root.at("observation_delay_seconds"), Micros(0));
  scenario.planning = duration(root.at("planning_seconds"), Micros(0));
}

/// The provisioning time of a fleet that may grow and shrink.
std::optional<std::int64_t> read_provision_seconds(const yaml::Value& scaling) {
  if (!scaling.is_written()) return std::nullopt;
  scaling.check_keys({"provision_seconds"});
  return scaling.at("provision_seconds").whole({0, kDurationSecondsMax});
}

/// The price of the whole run must be representable in micro-dollars.
void check_cost(const yaml::Value& fleet, const Scenario& scenario) {
  Decimal usd_per_hour;
  for (const FleetEntry& entry : scenario.fleet) {
    if (entry.usd_per_gpu_hour) usd_per_hour += *entry.usd_per_gpu_hour * Decimal(entry.count);
  }
  const Decimal micro_usd = usd_per_hour * Decimal(scenario.simulated_seconds()) * Decimal(1'000'000, 3600);
  if (!micro_usd.fits_int64()) {
    fleet.fail(fmt::format("wanted a cost of the whole run below 2^62 micro-USD, found {:.6g}", micro_usd.to_double()));
  }
}

void read_scenario(const yaml::Value& root, const LoadOptions& options, Sources& sources, Scenario& scenario) {
  if (!root.is_map()) return root.refuse("a map with berth, fleet and services");
  (void)root.at("berth").choice({"1"});
  if (root.has_failed()) return;
  root.check_keys({"berth", "fleet", "window_seconds", "history_seconds", "observation_delay_seconds",
                   "planning_seconds", "interference", "fidelity", "objective", "changes", "frozen", "layout",
                   "services", "gpus_per_node", "scaling", "tier_model", "tier_sure"});
  scenario.fleet = read_fleet(root.at("fleet"), options.allows_empty);
  const yaml::Value per_node = root.at("gpus_per_node");
  if (per_node.is_written()) scenario.gpus_per_node = per_node.whole({1, kGpuCountMax});
  read_times(root, scenario);
  scenario.provision_seconds = read_provision_seconds(root.at("scaling"));
  scenario.interference = read_interference(root.at("interference"));
  const yaml::Value fidelity = root.at("fidelity");
  if (fidelity.is_written()) scenario.fidelity = static_cast<Fidelity>(fidelity.choice({"requests", "rates"}));
  const yaml::Value objective = root.at("objective");
  if (objective.is_written()) scenario.objective = static_cast<Objective>(objective.choice({"services", "requests"}));
  scenario.changes = read_changes(root.at("changes"));
  scenario.frozen = read_frozen(root.at("frozen"));
  if (root.has_failed()) return;
  scenario.tiers = read_tier_settings(root, sources);
  if (root.has_failed()) return;
  const yaml::Value services = root.at("services");
  const auto items = options.allows_empty ? services.items("a list of services")
                                          : services.items("a list of at least one service", false);
  scenario.services = read_services(items, scenario, sources);
  if (root.has_failed()) return;
  if (root.at("layout").is_present()) scenario.layout = read_layout(root.at("layout"), scenario);
  if (root.has_failed()) return;
  check_tiers_of_layout(root.at("layout"), scenario);
  check_cost(root.at("fleet"), scenario);
}

}  // namespace

Result<Scenario> load_scenario(const std::string& path, const Files& files, const LoadOptions& options) {
  auto loaded = load_scenario_with_warnings(path, files, options);
  if (!loaded) return pass_on(loaded.error());
  return std::move(loaded->value);
}

Result<Warned<Scenario>> load_scenario_with_warnings(const std::string& path, const Files& files,
                                                     const LoadOptions& options) {
  const auto text = files.read(path);
  if (!text) return pass_on(text.error());
  const auto root = yaml::parse_document(*text, path);
  if (!root) return pass_on(root.error());
  Warned<Scenario> loaded;
  loaded.value.name = path;
  yaml::Report report(path);
  Sources sources(path, files);
  read_scenario(yaml::Value(*root, report), options, sources, loaded.value);
  if (report.has_failed()) return pass_on(report.failure());
  for (const yaml::Warning& warning : report.warnings()) loaded.warnings.push_back(warning.text);
  return loaded;
}

}  // namespace berth::scenario
