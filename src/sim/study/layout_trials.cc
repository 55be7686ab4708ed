#include "sim/study/layout_trials.h"

#include <algorithm>
#include <utility>

#include "engine/loop/stages.h"
#include "sim/measure/figures.h"
#include "sim/world/run.h"

namespace berth::study {

LayoutTrialRuns::LayoutTrialRuns(const Scenario& scenario, const policy::Policy& row, std::uint64_t seed,
                                 std::function<bool(double done)> progress)
    : scenario_(scenario),
      row_(row),
      seed_(seed),
      progress_(std::move(progress)),
      is_rough_(scenario.gpu_count() > 1 && scenario.fidelity != Fidelity::kRates) {}

policy::LayoutTrials LayoutTrialRuns::trials() {
  return {
      .score_service = [this](ServiceId service, const std::vector<Slice>& slices) { return score(service, slices); },
      .score_layout = [this](const partition::Layout& layout) { return score(layout, Fullness::kTrial); },
      .score_in_full = [this](const partition::Layout& layout) { return score(layout, Fullness::kFull); },
      .is_rough = is_rough_};
}

double LayoutTrialRuns::score(ServiceId service, const std::vector<Slice>& slices) {
  if (slices.empty()) return 0;  // no request is answered
  partition::Layout layout;
  for (const Slice& slice : slices) layout.push_back({.slice = slice, .role = Role::kInference, .services = {service}});
  const auto result = run(layout, Fullness::kTrial, service);
  if (!result) return 0;
  return result->services[service.index].figures.goodput.value_or(0);
}

const Scenario& LayoutTrialRuns::tried() {
  if (!tried_) {
    tried_ = scenario_;
    tried_->history_seconds = 0;  // the stages of a trial forecast nothing
    if (is_rough_) tried_->fidelity = Fidelity::kRates;
  }
  return *tried_;
}

double LayoutTrialRuns::score(const partition::Layout& layout, Fullness fullness) {
  const auto result = run(layout, fullness, std::nullopt);
  if (!result) return 0;
  return measure::objective_value(scenario_, result->figures).value_or(0);
}

std::optional<measure::PolicyResult> LayoutTrialRuns::run(const partition::Layout& layout, Fullness fullness,
                                                          std::optional<ServiceId> only) {
  if (is_stopped_) return std::nullopt;
  const bool is_trial = fullness == Fullness::kTrial;
  const Scenario& scenario = is_trial ? tried() : scenario_;
  sim::RunOptions options;
  options.loop.seed = seed_;
  options.loop.world = {
      .sharing = row_.sharings.front(), .dispatch = row_.dispatch, .is_rough = is_trial, .only = only};
  const double done = static_cast<double>(++run_count_) / policy::kLayoutTrialsMax;
  if (progress_) options.progress = [this, done](double) { return progress_(std::min(1.0, done)); };
  std::vector<Stage> stages;
  stages.push_back(first_layout_stage(std::string(row_.name),
                                      [&](const Snapshot&) -> partition::LayoutOrInfeasible { return layout; }));
  stages.push_back(retraining_stage(scenario));
  const auto outcome = sim::run_scenario(scenario, std::move(stages), options);
  is_stopped_ = !outcome;
  if (is_stopped_) return std::nullopt;
  measure::PolicyResult result;
  measure::measure(scenario, *outcome->world, result);
  return result;
}

}  // namespace berth::study
