#include "surface/cli/replay/replay_json.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/json/text.h"

namespace berth::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Appends the figures after what `entry` already holds; `figures` absent: the same keys, all null.
void add_figures(Json& entry, const measure::Figures* figures) {
  const auto put = [&entry, figures](const char* key, auto member) {
    entry[key] = figures != nullptr ? Json(figures->*member) : Json();
  };
  const auto put_optional = [&entry, figures](const char* key, auto member) {
    entry[key] = figures != nullptr ? json::or_null(figures->*member) : Json();
  };
  using F = measure::Figures;
  put("requests", &F::requests);
  put("in_time", &F::in_time);
  put("late", &F::late);
  put("dropped", &F::dropped);
  put("unfinished", &F::unfinished);
  put_optional("goodput", &F::goodput);
  put_optional("goodput_mean_of_services", &F::goodput_mean_of_services);
  put_optional("goodput_worst_service", &F::goodput_worst_service);
  put_optional("slo_attainment", &F::slo_attainment);
  put_optional("mean_accuracy", &F::mean_accuracy);
  put("gpu_seconds", &F::gpu_seconds);
  put("gpu_seconds_fleet", &F::gpu_seconds_fleet);
  put_optional("cost_micro_usd", &F::cost_micro_usd);
  put_optional("cost_micro_usd_per_million_in_time", &F::cost_micro_usd_per_million_in_time);
  Json& utilisation = entry["utilisation"];
  utilisation["allocated"] = figures != nullptr ? Json(figures->utilisation.allocated) : Json();
  utilisation["busy"] = figures != nullptr ? Json(figures->utilisation.busy) : Json();
  utilisation["effective"] = figures != nullptr ? Json(figures->utilisation.effective) : Json();
  put("changes", &F::changes);
  put("lost_slice_seconds", &F::lost_slice_seconds);
  Json& latency = entry["latency_ms"];
  latency["mean"] = figures != nullptr ? json::or_null(figures->latency_mean_ms) : Json();
  latency["p50"] = figures != nullptr ? json::or_null(figures->latency_p50_ms) : Json();
  latency["p99"] = figures != nullptr ? json::or_null(figures->latency_p99_ms) : Json();
}

Json bound_json(const bound::Bound& bound) {
  return {{"goodput", json::or_null(bound.any.goodput)},
          {"goodput_mean_of_services", json::or_null(bound.any.goodput_mean_of_services)},
          {"goodput_without_sharing", json::or_null(bound.without_sharing.goodput)},
          {"goodput_mean_of_services_without_sharing", json::or_null(bound.without_sharing.goodput_mean_of_services)}};
}

Json policy_json(const measure::PolicyResult& policy, bool has_timings) {
  Json entry;
  entry["name"] = policy.name;
  entry["hindsight"] = policy.is_hindsight;
  add_figures(entry, policy.infeasible ? nullptr : &policy.figures);
  Json services = Json::array();
  if (!policy.infeasible) {
    for (const measure::ServiceFigures& service : policy.services) {
      Json one;
      one["name"] = service.name;
      add_figures(one, &service.figures);
      services.push_back(std::move(one));
    }
  }
  entry["services"] = std::move(services);
  if (policy.infeasible) entry["infeasible"] = *policy.infeasible;
  if (!policy.how.empty()) entry["how"] = policy.how;
  if (!policy.ignores.empty()) entry["ignores"] = constraint_names(policy.ignores);
  if (!policy.notes.empty()) entry["notes"] = policy.notes;
  if (has_timings) entry["wall_seconds"] = policy.wall_seconds;
  return entry;
}

}  // namespace

std::string replay_json(const study::ReplayResult& result, bool has_timings) {
  Json document;
  document["berth"] = 1;
  document["scenario"] = result.scenario;
  document["seed"] = result.seed;
  document["simulated_seconds"] = result.simulated_seconds;
  document["cost_micro_usd_fleet"] = json::or_null(result.cost_micro_usd_fleet);
  document["bound"] = bound_json(result.bound);
  document["policies"] = Json::array();
  for (const measure::PolicyResult& policy : result.policies)
    document["policies"].push_back(policy_json(policy, has_timings));
  // A path need not be UTF-8: what is not is replaced, so that the output always is.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace berth::cli
