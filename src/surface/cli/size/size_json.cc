#include "surface/cli/size/size_json.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/json/value.h"
#include "sim/study/size_ideas.h"

namespace berth::cli {
namespace {

template <class T>
json::Value::List items_value(const std::vector<T>& items) {
  return {items.begin(), items.end()};
}

std::optional<double> share_of(const std::optional<study::ServiceAttainment>& worst) {
  if (!worst) return std::nullopt;
  return static_cast<double>(worst->in_time) / static_cast<double>(worst->requests);
}

json::Value count_trial_value(const study::CountTrial& trial) {
  json::Value::List shares;
  for (const study::SeedTrial& seed : trial.seeds) shares.emplace_back(share_of(seed.worst));
  json::Value::Object members = {
      {"gpus", trial.gpus}, {"holds", trial.holds}, {"slo_attainment_worst_service", std::move(shares)}};
  if (const std::string* why = study::why_cannot_run(trial)) members.push_back({"infeasible", *why});
  return members;
}

/// The share of the worst service at the answer, with the first seed.
std::optional<double> answer_share(const study::PolicySize& policy) {
  for (const study::CountTrial& trial : policy.tried) {
    if (policy.gpus == trial.gpus) return share_of(trial.seeds.front().worst);
  }
  return std::nullopt;
}

/// Null values if the policy has no answer.
json::Value utilisation_value(const measure::Figures* figures) {
  if (figures == nullptr) return json::Value::Object{{"allocated", nullptr}, {"busy", nullptr}, {"effective", nullptr}};
  return json::Value::Object{{"allocated", figures->utilisation.allocated},
                             {"busy", figures->utilisation.busy},
                             {"effective", figures->utilisation.effective}};
}

/// The remarks of the answer's replay.
void add_remarks(const measure::PolicyResult& replayed, json::Value::Object& members) {
  if (!replayed.how.empty()) members.push_back({"how", replayed.how});
  if (!replayed.ignores.empty()) members.push_back({"ignores", items_value(constraint_names(replayed.ignores))});
  if (!replayed.notes.empty()) members.push_back({"notes", items_value(replayed.notes)});
}

json::Value::Object policy_size_members(const study::SizeResult& result, const study::PolicySize& policy) {
  const measure::Figures* figures = policy.at_answer ? &policy.at_answer->figures : nullptr;
  json::Value::List tried;
  for (const study::CountTrial& trial : policy.tried) tried.push_back(count_trial_value(trial));
  json::Value::Object members = {
      {"name", policy.name},
      {"gpus", policy.gpus},
      {"infeasible", policy.infeasible},
      {"smallest_proven", policy.is_smallest_proven},
      {"stable", policy.is_stable},
      {"gpus_by_seed", items_value(policy.gpus_by_seed)},
      {"hindsight", policy.is_hindsight},
      {"cost_micro_usd", policy.cost_micro_usd},
      {"cost_micro_usd_per_hour",
       policy.gpus ? json::Value(study::micro_usd_per_hour(result, *policy.gpus)) : json::Value()},
      {"utilisation", utilisation_value(figures)},
      {"goodput_mean_of_services", figures != nullptr ? json::Value(figures->goodput_mean_of_services) : json::Value()},
      {"slo_attainment_worst_service", answer_share(policy)},
      {"tried", std::move(tried)}};
  if (policy.at_answer) add_remarks(*policy.at_answer, members);
  return members;
}

json::Value::List ideas_value(const study::SizeResult& result) {
  json::Value::List steps;
  for (std::size_t step = 0; step < result.ideas.size(); ++step) {
    const study::IdeaSize& idea = result.ideas[step];
    json::Value::Object members = {{"adds", idea.adds},
                                   {"gpus_saved", study::gpus_saved(result.ideas, step)},
                                   {"without", items_value(idea.without)}};
    const json::Value::Object size = policy_size_members(result, idea.size);
    members.insert(members.end(), size.begin(), size.end());
    steps.emplace_back(std::move(members));
  }
  return steps;
}

}  // namespace

std::string size_json(const study::SizeResult& result) {
  json::Value::List policies;
  for (const study::PolicySize& policy : result.policies) {
    policies.emplace_back(policy_size_members(result, policy));
  }
  json::Value::Object document = {{"berth", 1},
                                  {"scenario", result.scenario},
                                  {"gpu", result.gpu_model},
                                  {"simulated_seconds", result.simulated_seconds},
                                  {"attainment", result.options.attainment.to_double()},
                                  {"gpus_max", result.options.gpus_max},
                                  {"seeds", items_value(result.options.seeds)},
                                  {"policies", std::move(policies)}};
  if (!result.ideas.empty()) document.push_back({"ideas", ideas_value(result)});
  return json::Value(std::move(document)).to_line();
}

}  // namespace berth::cli
