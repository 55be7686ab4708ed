#include "surface/cli/size/size_json.h"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/json/text.h"
#include "sim/study/size_ideas.h"

namespace berth::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::optional<double> share_of(const std::optional<study::ServiceAttainment>& worst) {
  if (!worst) return std::nullopt;
  return static_cast<double>(worst->in_time) / static_cast<double>(worst->requests);
}

OrderedJson count_trial_json(const study::CountTrial& trial) {
  OrderedJson entry;
  entry["gpus"] = trial.gpus;
  entry["holds"] = trial.holds;
  OrderedJson shares = OrderedJson::array();
  for (const study::SeedTrial& seed : trial.seeds) shares.push_back(json::or_null(share_of(seed.worst)));
  entry["slo_attainment_worst_service"] = std::move(shares);
  if (const std::string* why = study::why_cannot_run(trial)) entry["infeasible"] = *why;
  return entry;
}

/// The share of the worst service at the answer, with the first seed.
std::optional<double> answer_share(const study::PolicySize& policy) {
  for (const study::CountTrial& trial : policy.tried) {
    if (policy.gpus == trial.gpus) return share_of(trial.seeds.front().worst);
  }
  return std::nullopt;
}

OrderedJson policy_size_json(const study::SizeResult& result, const study::PolicySize& policy) {
  const measure::Figures* figures = policy.at_answer ? &policy.at_answer->figures : nullptr;
  OrderedJson entry;
  entry["name"] = policy.name;
  entry["gpus"] = json::or_null(policy.gpus);
  entry["infeasible"] = json::or_null(policy.infeasible);
  entry["smallest_proven"] = policy.is_smallest_proven;
  entry["stable"] = json::or_null(policy.is_stable);
  OrderedJson by_seed = OrderedJson::array();
  for (const std::optional<std::int64_t>& gpus : policy.gpus_by_seed) by_seed.push_back(json::or_null(gpus));
  entry["gpus_by_seed"] = std::move(by_seed);
  entry["hindsight"] = policy.is_hindsight;
  entry["cost_micro_usd"] = json::or_null(policy.cost_micro_usd);
  entry["cost_micro_usd_per_hour"] =
      policy.gpus ? json::or_null(study::micro_usd_per_hour(result, *policy.gpus)) : OrderedJson();
  OrderedJson& utilisation = entry["utilisation"];
  utilisation["allocated"] = figures != nullptr ? OrderedJson(figures->utilisation.allocated) : OrderedJson();
  utilisation["busy"] = figures != nullptr ? OrderedJson(figures->utilisation.busy) : OrderedJson();
  utilisation["effective"] = figures != nullptr ? OrderedJson(figures->utilisation.effective) : OrderedJson();
  entry["goodput_mean_of_services"] =
      figures != nullptr ? json::or_null(figures->goodput_mean_of_services) : OrderedJson();
  entry["slo_attainment_worst_service"] = json::or_null(answer_share(policy));
  OrderedJson tried = OrderedJson::array();
  for (const study::CountTrial& trial : policy.tried) tried.push_back(count_trial_json(trial));
  entry["tried"] = std::move(tried);
  if (policy.at_answer && !policy.at_answer->how.empty()) entry["how"] = policy.at_answer->how;
  if (policy.at_answer && !policy.at_answer->ignores.empty())
    entry["ignores"] = constraint_names(policy.at_answer->ignores);
  if (policy.at_answer && !policy.at_answer->notes.empty()) entry["notes"] = policy.at_answer->notes;
  return entry;
}

OrderedJson ideas_json(const study::SizeResult& result) {
  OrderedJson steps = OrderedJson::array();
  for (std::size_t step = 0; step < result.ideas.size(); ++step) {
    const study::IdeaSize& idea = result.ideas[step];
    OrderedJson entry;
    entry["adds"] = idea.adds;
    entry["gpus_saved"] = json::or_null(study::gpus_saved(result.ideas, step));
    entry["without"] = idea.without;
    entry.update(policy_size_json(result, idea.size));
    steps.push_back(std::move(entry));
  }
  return steps;
}

}  // namespace

std::string size_json(const study::SizeResult& result) {
  OrderedJson document;
  document["berth"] = 1;
  document["scenario"] = result.scenario;
  document["gpu"] = result.gpu_model;
  document["simulated_seconds"] = result.simulated_seconds;
  document["attainment"] = result.options.attainment.to_double();
  document["gpus_max"] = result.options.gpus_max;
  document["seeds"] = result.options.seeds;
  document["policies"] = OrderedJson::array();
  for (const study::PolicySize& policy : result.policies) {
    document["policies"].push_back(policy_size_json(result, policy));
  }
  if (!result.ideas.empty()) document["ideas"] = ideas_json(result);
  // A path need not be UTF-8: what is not is replaced, so that the output always is.
  return document.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace berth::cli
