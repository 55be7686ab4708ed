#include "sim/study/size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "base/core/ensure.h"
#include "engine/policy/registry.h"
#include "sim/study/replay.h"
#include "sim/study/size_search.h"

namespace berth::study {
namespace {

Decimal exact_share(const ServiceAttainment& share) { return {share.in_time, share.requests}; }

/// The service with the smallest share; ties: the earlier.
std::optional<ServiceAttainment> worst_share(const std::vector<measure::ServiceFigures>& services) {
  std::optional<ServiceAttainment> worst;
  for (const measure::ServiceFigures& service : services) {
    if (service.figures.requests == 0) continue;
    ServiceAttainment share{
        .service = service.name, .in_time = service.figures.in_time, .requests = service.figures.requests};
    if (!worst || exact_share(share) < exact_share(*worst)) worst = std::move(share);
  }
  return worst;
}

SeedTrial trial_of(const measure::PolicyResult& result, const Decimal& attainment) {
  SeedTrial trial{.holds = false, .infeasible = result.infeasible, .worst = std::nullopt};
  if (result.infeasible) return trial;
  trial.worst = worst_share(result.services);
  trial.holds = !trial.worst || exact_share(*trial.worst) >= attainment;
  return trial;
}

/// The scenario with its fleet as one entry, whose count may be set, and without a layout.
Scenario one_entry_scenario(const Scenario& scenario) {
  Scenario single = scenario;
  single.fleet.erase(single.fleet.begin() + 1, single.fleet.end());
  single.layout.reset();
  return single;
}

/// The replays of one policy; each is done once and stored.
class SizeTrials {
 public:
  SizeTrials(const Scenario& scenario, std::string_view policy, const SizeOptions& options, const SizeHooks& hooks,
             const policy::Settings& settings)
      : scenario_(one_entry_scenario(scenario)),
        policy_(policy),
        options_(options),
        hooks_(hooks),
        settings_(settings) {}

  Result<Verdict> judge(std::int64_t gpus, std::size_t seed_index) {
    scenario_.fleet.front().count = gpus;
    ReplayHooks hooks;
    std::int64_t steps = 0;  // of simulated time, over all runs that the replay consists of
    hooks.progress = [&](std::string_view, double done) {
      ++steps;
      return goes_on(gpus, seed_index, done);
    };
    if (!goes_on(gpus, seed_index, 0)) return fail(ErrorCode::kInterrupted, "interrupted");
    Result<measure::PolicyResult> result =
        replay_policy(scenario_, policy_, options_.seeds[seed_index], hooks, settings_);
    if (!result) return pass_on(result.error());
    const std::int64_t work = work_of(*result, gpus, steps);
    SeedTrial trial = trial_of(*result, options_.attainment);
    const bool holds = trial.holds;
    trials_[gpus].push_back(std::move(trial));
    if (holds && seed_index == 0) {
      result->timeline = {};
      first_seed_[gpus] = std::move(*result);
    }
    return Verdict{.holds = holds, .work = work};
  }

  /// The full answer from all trials. Requires: `found` is the search's answer.
  PolicySize answer(const SmallestCount& found) {
    PolicySize size;
    size.name = policy_;
    size.is_hindsight = policy::policy_named(policy_).is_hindsight();
    size.tried = tried();
    size.gpus = found.count;
    size.is_smallest_proven = found.is_proven;
    size.gpus_by_seed = found.count_by_seed;
    size.is_stable = found.is_stable;
    if (!found.count) {
      size.infeasible = why_none_holds(size);
      return size;
    }
    scenario_.fleet.front().count = *found.count;
    size.cost_micro_usd = fleet_cost_micro_usd(scenario_);
    size.at_answer = std::move(first_seed_.at(*found.count));
    return size;
  }

 private:
  /// The work of a replay, see kSizeWorkMax. GPUs count for one run only: the runs of a search are simulated by rates.
  [[nodiscard]] std::int64_t work_of(const measure::PolicyResult& result, std::int64_t gpus, std::int64_t steps) const {
    const auto service_count = static_cast<std::int64_t>(scenario_.services.size());
    const std::int64_t seconds = std::min(steps, scenario_.simulated_seconds());
    const std::int64_t planning = policy::policy_named(policy_).replans(settings_) ? kPlanningWork : 0;
    return 1 + steps * service_count + (2 + planning) * seconds * gpus + result.figures.requests;
  }

  bool goes_on(std::int64_t gpus, std::size_t seed_index, double done) {
    if (!hooks_.progress) return true;
    const auto seed_count = static_cast<double>(options_.seeds.size());
    return hooks_.progress(policy_, gpus, (static_cast<double>(seed_index) + done) / seed_count);
  }

  [[nodiscard]] std::vector<CountTrial> tried() const {
    std::vector<CountTrial> tried;
    tried.reserve(trials_.size());
    for (const auto& [gpus, seeds] : trials_) {
      const bool holds = seeds.size() == options_.seeds.size() && std::ranges::all_of(seeds, &SeedTrial::holds);
      tried.push_back({.gpus = gpus, .holds = holds, .seeds = seeds});
    }
    return tried;
  }

  /// The count with the largest smallest share; ties: the earlier; nullptr if the policy can run with none.
  [[nodiscard]] static const CountTrial* best_trial(const std::vector<CountTrial>& tried) {
    const CountTrial* best = nullptr;
    for (const CountTrial& trial : tried) {
      const ServiceAttainment* share = smallest_share(trial);
      if (share == nullptr) continue;
      if (best == nullptr || exact_share(*share) > exact_share(*smallest_share(*best))) best = &trial;
    }
    return best;
  }

  [[nodiscard]] std::string why_none_holds(const PolicySize& size) const {
    const std::int64_t untried = untried_counts(size, options_.gpus_max);
    const std::string up_to = fmt::format("up to {}", counted_gpus(options_.gpus_max));
    const std::string rest = untried == 0 ? "" : fmt::format("; {} not tried", counted_counts(untried));
    const CountTrial* best = best_trial(size.tried);
    if (best == nullptr) {
      const std::string* why = why_cannot_run(size.tried.back());
      return fmt::format("cannot run with {}{}: {}{}", untried == 0 ? "" : "those tried ", up_to,
                         why != nullptr ? *why : "no requests", rest);
    }
    const ServiceAttainment& share = *smallest_share(*best);
    return fmt::format("no count {}{} reaches the target for every service; best: {} of {} in time, with {}{}",
                       untried == 0 ? "" : "of those tried ", up_to, floored_percent(share), share.service,
                       counted_gpus(best->gpus), rest);
  }

  Scenario scenario_;
  std::string policy_;
  const SizeOptions& options_;
  const SizeHooks& hooks_;
  const policy::Settings& settings_;
  std::map<std::int64_t, std::vector<SeedTrial>> trials_;
  std::map<std::int64_t, measure::PolicyResult> first_seed_;  ///< of counts that hold with it
};

}  // namespace

std::string floored_percent(const ServiceAttainment& share) {
  const std::int64_t hundredths = (exact_share(share) * Decimal(10'000)).floor();
  return fmt::format("{}.{:02}%", hundredths / 100, hundredths % 100);
}

const ServiceAttainment* smallest_share(const CountTrial& trial) {
  const ServiceAttainment* smallest = nullptr;
  for (const SeedTrial& seed : trial.seeds) {
    if (seed.infeasible) return nullptr;
    if (seed.worst && (smallest == nullptr || exact_share(*seed.worst) < exact_share(*smallest))) {
      smallest = &*seed.worst;
    }
  }
  return smallest;
}

const std::string* why_cannot_run(const CountTrial& trial) {
  const auto refused = std::ranges::find_if(trial.seeds, [](const SeedTrial& seed) { return !!seed.infeasible; });
  return refused == trial.seeds.end() ? nullptr : &*refused->infeasible;
}

std::int64_t untried_counts(const PolicySize& policy, std::int64_t gpus_max) {
  const std::int64_t all = policy.gpus ? *policy.gpus - 1 : gpus_max;
  return all - std::ranges::count_if(policy.tried, [&](const CountTrial& trial) { return trial.gpus <= all; });
}

std::optional<std::int64_t> failing_count_above(const PolicySize& policy) {
  for (const CountTrial& trial : policy.tried) {
    if (trial.gpus > *policy.gpus && !trial.holds) return trial.gpus;
  }
  return std::nullopt;
}

std::string counted_counts(std::int64_t counts) {
  return fmt::format("{} {}", counts, counts == 1 ? "count" : "counts");
}

std::string counted_gpus(std::int64_t gpus) { return fmt::format("{} {}", gpus, gpus == 1 ? "GPU" : "GPUs"); }

std::optional<std::int64_t> micro_usd_per_hour(const SizeResult& result, std::int64_t gpus) {
  if (!result.usd_per_gpu_hour) return std::nullopt;
  return (*result.usd_per_gpu_hour * Decimal(gpus) * Decimal(1'000'000)).round_half_even();
}

Result<void> check_sizable(const Scenario& scenario) {
  const FleetEntry& first = scenario.fleet.front();
  for (const FleetEntry& entry : scenario.fleet) {
    if (entry.model.name != first.model.name) {
      return invalid(fmt::format("{}: fleet: wanted a single GPU model, whose count is searched; found {} and {}",
                                 scenario.name, first.model.name, entry.model.name));
    }
    if (entry.usd_per_gpu_hour != first.usd_per_gpu_hour) {
      return invalid(fmt::format("{}: fleet: wanted one price of {}, found two", scenario.name, first.model.name));
    }
  }
  return {};
}

Result<PolicySize> size_policy(const Scenario& scenario, std::string_view policy, const SizeOptions& options,
                               const SizeHooks& hooks, const policy::Settings& settings) {
  ENSURE(!policy::policy_named(policy).has_fixed_count);
  ENSURE(options.attainment.sign() > 0 && options.attainment <= Decimal(1));
  if (Result<void> sizable = check_sizable(scenario); !sizable) return pass_on(sizable.error());
  SizeTrials trials(scenario, policy, options, hooks, settings);
  const CountJudge judge = [&](std::int64_t gpus, std::size_t seed_index) { return trials.judge(gpus, seed_index); };
  const Result<SmallestCount> found = smallest_count(
      judge, {.count_max = options.gpus_max, .seed_count = options.seeds.size(), .work_max = kSizeWorkMax});
  if (!found) return pass_on(found.error());
  return trials.answer(*found);
}

}  // namespace berth::study
