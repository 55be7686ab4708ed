#include "sim/study/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/core/ensure.h"
#include "domain/trace/run_arrivals.h"
#include "engine/loop/enforcement.h"
#include "engine/policy/registry.h"
#include "sim/measure/decision_log.h"
#include "sim/measure/figures.h"
#include "sim/measure/forecast_watch.h"
#include "sim/measure/timeline.h"
#include "sim/measure/warm_meter.h"
#include "sim/study/layout_trials.h"
#include "sim/study/replay_notes.h"
#include "sim/world/run.h"

namespace berth::study {
namespace {

using measure::PolicyResult;

/// A share of the work of a policy that runs several times.
struct WorkShare {
  double from = 0;
  double size = 1;
};

/// One policy on one scenario: makes it, runs it with each form of sharing that it has, and measures the best.
class PolicyReplay {
 public:
  PolicyReplay(const Scenario& scenario, const policy::Policy& row, std::uint64_t seed, const ReplayHooks& hooks,
               const policy::Settings& settings)
      : scenario_(scenario), row_(row), seed_(seed), hooks_(hooks), settings_(settings), arrivals_(scenario, seed) {}

  Result<PolicyResult> run() {
    Result<PolicyResult> result =
        row_.sharings.size() > 1 ? run_best_form() : run_form(row_.sharings.front(), {}, kIsJournaled);
    if (result) result->is_hindsight = row_.is_hindsight();
    return result;
  }

 private:
  static constexpr bool kIsJournaled = true;
  static constexpr double kTrialsShare = 0.8;  ///< the trials' share of the work, if a policy is made by trials
  static constexpr double kAfterTrialsFrom = 0.9;

  /// Runs each form of sharing and returns the best one; a journal is written by running that one once more.
  Result<PolicyResult> run_best_form() {
    const bool is_journaled = static_cast<bool>(hooks_.journal);
    const double share = 1.0 / static_cast<double>(row_.sharings.size() + (is_journaled ? 1 : 0));
    std::optional<PolicyResult> best;
    std::size_t best_form = 0;
    for (std::size_t form = 0; form < row_.sharings.size(); ++form) {
      const WorkShare part{.from = static_cast<double>(form) * share, .size = share};
      auto result = run_form(row_.sharings[form], part, !kIsJournaled);
      if (!result || result->infeasible) return result;
      if (best && value_of(*best) >= value_of(*result)) continue;
      best = std::move(*result);
      best_form = form;
    }
    if (is_journaled) {
      const WorkShare part{.from = 1 - share, .size = share};
      auto again = run_form(row_.sharings[best_form], part, kIsJournaled);
      if (!again) return again;
    }
    best->how = form_text(best_form);
    return std::move(*best);
  }

  [[nodiscard]] double value_of(const PolicyResult& result) const {
    return measure::objective_value(scenario_, result.figures).value_or(0);
  }

  [[nodiscard]] std::string form_text(std::size_t best) const {
    const auto name = [](Sharing sharing) { return sharing == Sharing::kMps ? "MPS" : "time slices"; };
    ENSURE(row_.sharings.size() == 2);
    return fmt::format("{} (better than {} here)", name(row_.sharings[best]), name(row_.sharings[1 - best]));
  }

  /// Makes the policy and runs it once.
  Result<PolicyResult> run_form(Sharing sharing, WorkShare part, bool is_journaled) {
    const auto progress = [this](double done) { return hears(kTrialsShare * done); };
    LayoutTrialRuns trials(scenario_, row_, seed_, progress);
    std::optional<measure::ForecastWatch> watch;
    policy::MadePolicy made;
    MakeStages make_stages;
    if (sees_less()) {
      make_stages = [&](const Scenario& seen) { return row_.make(inputs_of(seen, trials, watch)).stages; };
    } else {
      made = row_.make(inputs_of(scenario_, trials, watch));
      make_stages = ready_stages(std::move(made.stages));
    }
    if (trials.is_stopped()) return fail(ErrorCode::kInterrupted, "interrupted");
    if (trials.run_count() > 0) part = {.from = kAfterTrialsFrom, .size = 1 - kAfterTrialsFrom};
    auto result = run_stages(make_stages, sharing, part, is_journaled);
    if (!result) return result;
    if (made.how) result->how = made.how();
    if (result->infeasible) return result;
    if (made.ignored_constraints) {
      for (const ConstraintId& id : made.ignored_constraints()) result->ignores.push_back(named(scenario_, id));
    }
    if (watch) watch->finish_into(result->insight);
    return result;
  }

  /// Whether the policy's stages see another scenario, which is the engine's: such policies have nothing but stages.
  [[nodiscard]] bool sees_less() const {
    const auto has_pool = [](const ServiceSpec& service) { return service.ready.warm_pool.has_value(); };
    return (row_.obeys_constraints && std::ranges::any_of(scenario_.services, is_enforced)) ||
           (row_.obeys_warm_pools && std::ranges::any_of(scenario_.services, has_pool));
  }

  policy::Inputs inputs_of(const Scenario& seen, LayoutTrialRuns& trials,
                           std::optional<measure::ForecastWatch>& watch) {
    const auto arrivals = [this](ServiceId service, std::int64_t second) { return arrivals_.count(service, second); };
    policy::Inputs inputs{.scenario = seen, .settings = settings_, .arrivals = arrivals, .trials = trials.trials()};
    if (hooks_.keeps_insight) {
      inputs.watch_forecasts = [this, &watch, arrivals](OutlookSource source) {
        watch.emplace(scenario_, source.samples, arrivals);
        return measure::watched_outlook(std::move(source), *watch);
      };
    }
    return inputs;
  }

  /// Runs and measures, with a timeline and, on request, the decisions and the journal.
  Result<PolicyResult> run_stages(const MakeStages& make_stages, Sharing sharing, WorkShare part, bool is_journaled) {
    measure::TimelineBuilder timeline(scenario_, sharing);
    measure::WarmMeter warm(scenario_);
    std::set<ServiceId> retrained;
    measure::DecisionLog decisions;
    sim::RunOptions options;
    options.loop.seed = seed_;
    options.loop.world = {.sharing = sharing, .dispatch = row_.dispatch, .only = std::nullopt};
    options.loop.is_strict = row_.obeys_constraints;
    options.loop.has_warm_pools = row_.obeys_warm_pools;
    if (hooks_.progress) options.progress = [this, part](double done) { return hears(part.from + part.size * done); };
    options.loop.listener.journal = [&](const sim::JournalRecord& record) {
      timeline.add(record);
      warm.add(record);
      note_retrained(record, retrained);
      if (is_journaled && hooks_.journal) hooks_.journal(row_.name, record);
    };
    if (hooks_.keeps_insight) {
      options.loop.listener.plan = [&decisions](const Plan& plan, Instant acts_at) { decisions.add(plan, acts_at); };
    }
    PolicyResult result;
    result.name = row_.name;
    const auto outcome = sim::run_scenario(scenario_, make_stages, options);
    if (!outcome) return pass_on(outcome.error());
    if (outcome->infeasible) {
      result.infeasible = outcome->infeasible;
      return result;
    }
    measure::measure(scenario_, *outcome->world, result);
    warm.finish_into(result);
    result.timeline = timeline.finish();
    decisions.move_into(result.insight);
    result.notes = notes_on(scenario_, retrained);
    if (outcome->refusals.count > 0) {
      result.notes.push_back(
          fmt::format("{} of its plans did not take effect, as the verifiers refused them; the first: {}",
                      outcome->refusals.count, outcome->refusals.first));
    }
    return result;
  }

  [[nodiscard]] bool hears(double done) const { return !hooks_.progress || hooks_.progress(row_.name, done); }

  const Scenario& scenario_;
  const policy::Policy& row_;
  std::uint64_t seed_;
  const ReplayHooks& hooks_;
  const policy::Settings& settings_;
  RunArrivals arrivals_;
};

}  // namespace

Result<PolicyResult> replay_policy(const Scenario& scenario, std::string_view name, std::uint64_t seed,
                                   const ReplayHooks& hooks, const policy::Settings& settings) {
  return PolicyReplay(scenario, policy::policy_named(name), seed, hooks, settings).run();
}

std::optional<std::int64_t> fleet_cost_micro_usd(const Scenario& scenario) {
  Decimal usd_per_hour;
  for (const FleetEntry& entry : scenario.fleet) {
    if (!entry.usd_per_gpu_hour) return std::nullopt;
    usd_per_hour += *entry.usd_per_gpu_hour * Decimal(entry.count);
  }
  return (usd_per_hour * Decimal(scenario.simulated_seconds()) * Decimal(1'000'000) / Decimal(3600)).round_half_even();
}

}  // namespace berth::study
