#include "sim/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "base/ensure.h"
#include "engine/moving_layout.h"
#include "engine/planner_policy.h"
#include "engine/stages.h"
#include "partition/astraea.h"
#include "partition/ekya.h"
#include "partition/ignored_fields.h"
#include "partition/layout.h"
#include "partition/migrator.h"
#include "sim/decision_log.h"
#include "sim/figures.h"
#include "sim/forecast_watch.h"
#include "sim/run.h"
#include "sim/timeline.h"

namespace berth::sim {
namespace {

/// Everything that the policies' runs have in common.
struct Request {
  const Scenario& scenario;
  std::string_view policy;
  std::uint64_t seed;
  const ReplayHooks& hooks;
  const PolicySettings& settings;
};

using Decide = std::function<partition::LayoutOrInfeasible(const Snapshot&)>;

std::vector<Stage> stages_of(const Request& request, Decide decide) {
  std::vector<Stage> stages;
  stages.push_back(first_layout_stage(std::string(request.policy), std::move(decide)));
  // In `fixed` the file says which slices retrain.
  if (request.policy != "fixed") stages.push_back(retraining_stage(request.scenario));
  return stages;
}

/// How far the work of a policy that runs several times has come: this run's part of it.
struct Part {
  double from = 0;
  double size = 1;
};

RunOptions options_of(const Request& request, const WorldOptions& world, Part part) {
  RunOptions options;
  options.seed = request.seed;
  options.world = world;
  if (request.hooks.progress) {
    options.progress = [&request, part](double done) {
      return request.hooks.progress(request.policy, part.from + part.size * done);
    };
  }
  return options;
}

/// What a reader of the figures should know: estimates in them, and models that stayed stale.
std::vector<std::string> notes_on(const Scenario& scenario, const std::set<ServiceId>& retrained) {
  std::vector<std::string> notes;
  for (const FleetEntry& entry : scenario.fleet) {
    const auto& profiles = entry.model.profiles;
    const bool is_estimated =
        std::any_of(profiles.begin(), profiles.end(), [](const MigProfile& profile) { return !profile.sms; });
    if (is_estimated || entry.model.is_sms_unverified) {
      notes.push_back(
          fmt::format("SM counts of {} are partly estimated: utilisation is approximate", entry.model.name));
    }
  }
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    const ServiceSpec& service = scenario.services[index];
    if (!service.retraining || retrained.contains(ServiceId{index})) continue;
    notes.push_back(fmt::format("{} never retrains: no slice was free for it long enough", service.name));
  }
  return notes;
}

/// Runs and measures, with a timeline and, where they are wanted, the decisions, and the journal if somebody takes it.
Result<PolicyResult> run_stages(const Request& request, std::vector<Stage> stages, const WorldOptions& world, Part part,
                                bool is_journaled, bool is_strict = false) {
  TimelineBuilder timeline(request.scenario, world.sharing);
  RunOptions options = options_of(request, world, part);
  options.is_strict = is_strict;
  const bool is_told = is_journaled && request.hooks.journal;
  std::set<ServiceId> retrained;
  options.journal = [&](const JournalRecord& record) {
    timeline.add(record);
    const auto* slice = std::get_if<SliceRecord>(&record);
    if (slice != nullptr && slice->event == SliceEvent::kRetrainingDone) retrained.insert(slice->services.front());
    if (is_told) request.hooks.journal(request.policy, record);
  };
  DecisionLog decisions;
  if (request.hooks.keeps_insight) {
    options.plan_made = [&decisions](const Plan& plan, Instant acts_at) { decisions.add(plan, acts_at); };
  }
  PolicyResult result;
  result.name = request.policy;
  const auto outcome = run_scenario(request.scenario, std::move(stages), options);
  if (!outcome) return pass_on(outcome.error());
  if (outcome->infeasible) {
    result.infeasible = outcome->infeasible;
    return result;
  }
  measure(request.scenario, *outcome->world, result);
  result.timeline = timeline.finish();
  decisions.move_into(result.insight);
  result.notes = notes_on(request.scenario, retrained);
  return result;
}

/// Runs and measures a policy that decides its layout once.
Result<PolicyResult> run_measured(const Request& request, const Decide& decide, const WorldOptions& world, Part part,
                                  bool is_journaled) {
  partition::Layout layout;
  const Decide remembered = [&](const Snapshot& snapshot) {
    auto decided = decide(snapshot);
    if (const auto* feasible = std::get_if<partition::Layout>(&decided)) layout = *feasible;
    return decided;
  };
  auto result = run_stages(request, stages_of(request, remembered), world, part, is_journaled);
  if (result && !result->infeasible) result->ignores = partition::ignored_fields(request.scenario, layout);
  return result;
}

OutlookSource outlook_of(const Request& request, const std::function<std::int64_t(ServiceId, std::int64_t)>& arrivals) {
  if (request.policy != "clairvoyant") return forecast_outlook(request.scenario);
  if (request.settings.clairvoyant.loads == 0) return known_counts_outlook(request.scenario, arrivals);
  return known_outlook(request.scenario, arrivals);
}

/// The policies `berth` and, with perfect forecasts, `clairvoyant`.
Result<PolicyResult> replay_planner(const Request& request) {
  const bool is_clairvoyant = request.policy == "clairvoyant";
  const World oracle(request.scenario, request.seed, {}, {});
  const auto arrivals = [&oracle](ServiceId service, std::int64_t second) { return oracle.arrivals(service, second); };
  OutlookSource outlook = outlook_of(request, arrivals);
  std::optional<ForecastWatch> watch;
  if (request.hooks.keeps_insight && !is_clairvoyant) {
    watch.emplace(request.scenario, outlook.samples, arrivals);
    outlook = watched_outlook(std::move(outlook), *watch);
  }
  std::vector<Stage> stages;
  stages.push_back(planner_stage(request.scenario, std::move(outlook), request.settings.berth));
  constexpr bool kIsStrict = true;
  auto result = run_stages(request, std::move(stages), {}, {}, true, kIsStrict);
  if (watch && result && !result->infeasible) watch->finish_into(result->insight);
  return result;
}

/// What the integer programs of `migrator` were like.
std::string solved_text(const partition::Migrator::Solved& solved) {
  const std::int64_t with_plan = solved.count - solved.unsolved_count;
  return fmt::format(
      "{} integer programs: {} solved within the gap allowed, {} without a solution; gap {:.2f} % on average, {:.2f} % "
      "at most",
      solved.count, solved.within_count, solved.unsolved_count,
      100 * solved.gap_sum / static_cast<double>(std::max<std::int64_t>(1, with_plan)), 100 * solved.gap_max);
}

/// The published planners that re-cut while they run, adapted (docs/policies.md).
Result<PolicyResult> replay_rival(const Request& request) {
  const Scenario& scenario = request.scenario;
  const auto replay = [&](auto policy, const auto& how) {
    const auto decide = [&policy](const partition::Sight& sight) { return policy.decide(sight); };
    std::vector<Stage> stages;
    stages.push_back(moving_layout_stage(scenario, std::string(request.policy), decide));
    auto result = run_stages(request, std::move(stages), {}, {}, true);
    if (result && !result->infeasible) {
      result->how = how(policy);
      result->ignores = partition::fields_ignored_while_moving(scenario);
    }
    return result;
  };
  if (request.policy == "migrator") {
    return replay(partition::Migrator(scenario, request.settings.migrator),
                  [](const partition::Migrator& policy) { return solved_text(policy.solved()); });
  }
  const auto nothing = [](const auto&) { return std::string(); };
  if (request.policy == "ekya") return replay(partition::Ekya(scenario, request.settings.ekya), nothing);
  ENSURE(request.policy == "astraea");
  return replay(partition::Astraea(scenario, request.settings.astraea), nothing);
}

bool is_rival(std::string_view policy) { return policy == "ekya" || policy == "astraea" || policy == "migrator"; }

/// Requests of each service over the run, known in hindsight.
std::vector<double> total_requests(const Request& request) {
  const World world(request.scenario, request.seed, {}, {});
  std::vector<double> totals;
  for (std::uint32_t index = 0; index < request.scenario.services.size(); ++index) {
    double total = 0;
    for (std::int64_t second = 0; second < request.scenario.services[index].arrivals.seconds; ++second) {
      total += static_cast<double>(world.arrivals(ServiceId{index}, second));
    }
    totals.push_back(total);
  }
  return totals;
}

Result<PolicyResult> replay_shared(const Request& request) {
  const Decide decide = [&](const Snapshot&) { return partition::shared_layout(request.scenario); };
  const bool is_journaled = static_cast<bool>(request.hooks.journal);
  const double third = is_journaled ? 1.0 / 3 : 1.0 / 2;
  std::optional<PolicyResult> best;
  Sharing best_sharing = Sharing::kTimeSlices;
  for (const Sharing sharing : {Sharing::kTimeSlices, Sharing::kMps}) {
    const WorldOptions world{.sharing = sharing, .dispatch = Dispatch::kPull, .only = std::nullopt};
    const Part part{.from = sharing == Sharing::kTimeSlices ? 0 : third, .size = third};
    auto result = run_measured(request, decide, world, part, false);
    if (!result || result->infeasible) return result;
    const double value = objective_value(request.scenario, result->figures).value_or(0);
    if (best && objective_value(request.scenario, best->figures).value_or(0) >= value) continue;
    best = std::move(*result);
    best_sharing = sharing;
  }
  if (is_journaled) {
    // Only the better form is told.
    const WorldOptions world{.sharing = best_sharing, .dispatch = Dispatch::kPull, .only = std::nullopt};
    auto again = run_measured(request, decide, world, {.from = 2 * third, .size = third}, true);
    if (!again) return again;
  }
  best->how = best_sharing == Sharing::kTimeSlices ? "time slices (better than MPS here)"
                                                   : "MPS (better than time slices here)";
  return std::move(*best);
}

/// The search of static-best: replays services alone where they do not influence each other, else whole layouts. On one
/// GPU every layout is judged request by request; on a fleet the search judges by rates (sim/rate_serving.h) and the
/// finalists are then replayed as the scenario says.
class Hindsight {
 public:
  explicit Hindsight(const Request& request) : request_(request), judged_(request.scenario) {
    if (judged_.gpu_count() > 1) judged_.fidelity = Fidelity::kRates;
  }

  partition::StaticBest search() {
    partition::StaticBestSearch search;
    search.score_service = [this](ServiceId service, const std::vector<Slice>& slices) {
      return score(service, slices);
    };
    search.score_layout = [this](const partition::Layout& layout) { return score(judged_, layout); };
    search.weights = weights();
    search.is_separable = std::all_of(judged_.interference.begin(), judged_.interference.end(),
                                      [](const Decimal& factor) { return factor == Decimal(1); });
    search.evaluations_max = kEvaluationsMax;
    search.serves_every_service = false;  // the best layout may starve one
    partition::StaticBest best = partition::static_best_layout(judged_, search);
    if (judged_.fidelity != request_.scenario.fidelity) choose_finalist(best);
    return best;
  }

  [[nodiscard]] bool is_stopped() const { return is_stopped_; }

 private:
  static constexpr int kEvaluationsMax = 2000;
  static constexpr double kSearchShare = 0.8;  ///< of the work, as the progress bar shows it

  [[nodiscard]] std::vector<double> weights() const {
    if (judged_.objective == Objective::kRequests) return total_requests(request_);
    std::vector<double> weights;
    weights.reserve(judged_.services.size());
    for (const ServiceSpec& service : judged_.services) weights.push_back(service.weight.to_double());
    return weights;
  }

  /// The search's best, judged by rates, against the even layout, both replayed in full.
  void choose_finalist(partition::StaticBest& best) {
    const partition::LayoutOrInfeasible even = partition::static_even_layout(request_.scenario);
    const auto* found = std::get_if<partition::Layout>(&best.layout);
    const auto* other = std::get_if<partition::Layout>(&even);
    if (found == nullptr || other == nullptr || *found == *other) return;
    best.evaluations += 2;
    if (score(request_.scenario, *other) > score(request_.scenario, *found)) best.layout = *other;
  }

  double score(ServiceId service, const std::vector<Slice>& slices) {
    if (slices.empty()) return 0;  // nothing is answered
    partition::Layout layout;
    for (const Slice& slice : slices)
      layout.push_back({.slice = slice, .role = Role::kInference, .services = {service}});
    const auto result = run(judged_, layout, service);
    if (!result) return 0;
    return result->services[service.index].figures.goodput.value_or(0);
  }

  double score(const Scenario& scenario, const partition::Layout& layout) {
    const auto result = run(scenario, layout, std::nullopt);
    if (!result) return 0;
    return objective_value(scenario, result->figures).value_or(0);
  }

  std::optional<PolicyResult> run(const Scenario& scenario, const partition::Layout& layout,
                                  std::optional<ServiceId> only) {
    if (is_stopped_) return std::nullopt;
    const Request request{.scenario = scenario,
                          .policy = request_.policy,
                          .seed = request_.seed,
                          .hooks = request_.hooks,
                          .settings = request_.settings};
    const WorldOptions world{
        .sharing = Sharing::kTimeSlices, .dispatch = Dispatch::kPull, .is_rough = &scenario == &judged_, .only = only};
    const double done = std::min(kSearchShare, kSearchShare * ++run_count_ / kEvaluationsMax);
    const auto decide = [&](const Snapshot&) -> partition::LayoutOrInfeasible { return layout; };
    const auto outcome =
        run_scenario(scenario, stages_of(request, decide), options_of(request, world, {.from = done, .size = 0}));
    is_stopped_ = !outcome;
    if (is_stopped_) return std::nullopt;
    PolicyResult result;
    measure(scenario, *outcome->world, result);
    return result;
  }

  const Request& request_;
  Scenario judged_;
  int run_count_ = 0;
  bool is_stopped_ = false;
};

Result<PolicyResult> replay_static_best(const Request& request) {
  Hindsight hindsight(request);
  const partition::StaticBest best = hindsight.search();
  if (hindsight.is_stopped()) return fail(ErrorCode::kInterrupted, "interrupted");
  const Decide decide = [&](const Snapshot&) { return best.layout; };
  auto result = run_measured(request, decide, {}, {.from = 0.9, .size = 0.1}, true);
  if (result) {
    result->how =
        fmt::format("{}: {} layouts tried by {} replays", best.is_exhaustive ? "exhaustive" : "a local search",
                    best.layouts_tried, best.evaluations);
  }
  return result;
}

Result<PolicyResult> replay_layout(const Request& request) {
  const Scenario& scenario = request.scenario;
  WorldOptions world;
  Decide decide;
  if (request.policy == "fixed") {
    decide = [&](const Snapshot&) { return partition::fixed_layout(scenario); };
  } else if (request.policy == "whole") {
    decide = [&](const Snapshot&) { return partition::whole_layout(scenario, total_requests(request)); };
  } else if (request.policy == "static-even") {
    decide = [&](const Snapshot&) { return partition::static_even_layout(scenario); };
  } else {
    ENSURE(request.policy == "paris");
    world.dispatch = Dispatch::kPush;
    decide = [&](const Snapshot& snapshot) { return partition::paris_layout(scenario, history_counts(snapshot)); };
  }
  return run_measured(request, decide, world, {}, true);
}

}  // namespace

const std::vector<std::string>& policy_names() {
  static const std::vector<std::string> names = {"fixed", "shared",  "whole",    "static-even", "static-best", "paris",
                                                 "ekya",  "astraea", "migrator", "berth",       "clairvoyant"};
  return names;
}

bool is_hindsight_policy(std::string_view policy) {
  return policy == "whole" || policy == "static-best" || policy == "clairvoyant";
}

Result<PolicyResult> replay_policy(const Scenario& scenario, std::string_view policy, std::uint64_t seed,
                                   const ReplayHooks& hooks, const PolicySettings& settings) {
  const Request request{.scenario = scenario, .policy = policy, .seed = seed, .hooks = hooks, .settings = settings};
  const bool is_planner = policy == "berth" || policy == "clairvoyant";
  auto result = policy == "shared"        ? replay_shared(request)
                : policy == "static-best" ? replay_static_best(request)
                : is_rival(policy)        ? replay_rival(request)
                : is_planner              ? replay_planner(request)
                                          : replay_layout(request);
  if (!result) return result;
  result->is_hindsight = is_hindsight_policy(policy);
  return result;
}

std::optional<std::int64_t> fleet_cost_micro_usd(const Scenario& scenario) {
  Decimal usd_per_hour;
  for (const FleetEntry& entry : scenario.fleet) {
    if (!entry.usd_per_gpu_hour) return std::nullopt;
    usd_per_hour += *entry.usd_per_gpu_hour * Decimal(entry.count);
  }
  return (usd_per_hour * Decimal(scenario.simulated_seconds()) * Decimal(1'000'000) / Decimal(3600)).round_half_even();
}

}  // namespace berth::sim
