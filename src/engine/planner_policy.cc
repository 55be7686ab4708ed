#include "engine/planner_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/ensure.h"
#include "engine/constraints.h"
#include "engine/planned_floors.h"
#include "engine/retraining_watch.h"
#include "engine/static_conflict.h"
#include "engine/verify.h"
#include "fleet/prune.h"
#include "planner/first_layout.h"
#include "planner/solve.h"
#include "state/changes.h"
#include "window/carry.h"
#include "window/check.h"
#include "window/window.h"

namespace berth {
namespace {

using planner::Configuration;
using planner::Piece;

/// Nodes for each question whether some constraints can be kept together: more than a plan has, so that few questions
/// stay undecided.
constexpr std::int64_t kFeasibilityNodes = 20'000;

/// An answer, and whether it keeps all floors.
struct SolvedWindow {
  planner::Answer answer;
  bool has_unmet_floors = false;
};

/// Solves the problem. If the floors cannot all be met, they are lowered together, step by step, until they can. The
/// search begins with `known`.
SolvedWindow solve_as_far_as_floors_go(planner::Problem& problem, const planner::SearchLimits& limits,
                                       const planner::Schedule& known) {
  constexpr int kSteps = 10;
  SolvedWindow solved{.answer = planner::solve(problem, limits, known)};
  std::vector<double> floors;
  floors.reserve(problem.services.size());
  for (const planner::ServiceTerms& service : problem.services) floors.push_back(service.floor_rate);
  const auto is_short = [&] { return solved.answer.is_infeasible || solved.answer.misses_floors; };
  solved.has_unmet_floors = is_short();
  for (int step = kSteps - 1; is_short() && step >= 0; --step) {
    for (std::size_t i = 0; i < floors.size(); ++i) problem.services[i].floor_rate = floors[i] * step / kSteps;
    solved.answer = planner::solve(problem, limits);
  }
  return solved;
}

/// The value of one second in which every request is answered in time.
double value_per_second(const planner::Problem& problem) {
  double sum = 0;
  for (const planner::ServiceTerms& service : problem.services) {
    double load = 0;
    for (int sample = 0; sample < problem.samples; ++sample) load += service.loads[static_cast<std::size_t>(sample)];
    sum += service.value * load / problem.samples;
  }
  return sum;
}

bool stands_on(const Configuration& pieces, planner::SiteIndex site) {
  return std::ranges::any_of(pieces, [&](const Piece& piece) { return piece.site == site; });
}

Configuration standing_on(const planner::GpuTerms& gpu) {
  Configuration pieces;
  pieces.reserve(gpu.standing.size());
  for (const planner::StandingPiece& standing : gpu.standing) pieces.push_back(standing.piece);
  return pieces;
}

/// The pinned slices of a GPU: they exist from the first layout on, even where they gain nothing.
Configuration pins_alone(const planner::Problem& problem, const planner::GpuTerms& gpu) {
  const planner::ModelTerms& model = problem.models[static_cast<std::size_t>(gpu.model)];
  Configuration pieces;
  pieces.reserve(gpu.pins.size());
  for (const planner::PinnedSite& pin : gpu.pins) {
    const planner::KindIndex kind = model.sites[static_cast<std::size_t>(pin.site)].kind;
    const auto& rates =
        model.rates[static_cast<std::size_t>(kind)][static_cast<std::size_t>(pin.service)].requests_per_second;
    const auto best = std::ranges::max_element(rates);
    const int use = *best > 0 ? static_cast<int>(best - rates.begin()) : planner::kRetraining;
    pieces.push_back({.site = pin.site, .service = pin.service, .use = use});
  }
  std::ranges::sort(pieces);
  return pieces;
}

/// The constraints of a conflict, and its explanation.
std::string with_names(const Scenario& scenario, const Conflict& conflict) {
  return conflict_text(scenario, conflict.constraints, conflict.is_minimal) + ": " + conflict.why;
}

bool has_floor(const Conflict& conflict) {
  return std::ranges::any_of(conflict.constraints,
                             [](const ConstraintId& id) { return id.kind == ConstraintKind::kFloor; });
}

/// When the changes under way at a moment are expected to be done; nothing if there are none. A slice that drains is
/// expected to be gone in the next second.
std::optional<Instant> end_of_changes(const planner::Moment& moment) {
  Micros longest;
  for (const planner::StandingNow& standing : moment.standing) longest = std::max(longest, standing.ready_in);
  if (std::ranges::find(moment.is_gpu_leaving, 1) != moment.is_gpu_leaving.end()) {
    longest = std::max(longest, Micros::seconds(1));
  }
  if (longest <= Micros()) return std::nullopt;
  return moment.begins + longest;
}

class PlannerPolicy {
 public:
  PlannerPolicy(const Scenario& scenario, OutlookSource outlook, const PlannerOptions& options)
      : scenario_(scenario),
        options_(options),
        outlook_(std::move(outlook)),
        frame_(planner::make_frame(scenario,
                                   {.chooses_points = options.points != 0, .has_variants = options.variants != 0})),
        watch_(scenario),
        was_stale_(scenario.services.size()) {}

  std::optional<std::string> run(const Snapshot& snapshot, Plan& plan) {
    watch_.observe(snapshot);
    if (outlook_.observe) outlook_.observe(snapshot);
    const bool is_first = snapshot.is_before_first_layout();
    const Instant acts_at = snapshot.takes_effect_at(scenario_.planning);
    if (!is_time(snapshot, plan, acts_at)) return std::nullopt;
    if (is_first) {
      if (auto conflict = find_static_conflict(scenario_)) return with_names(scenario_, *conflict);
    }
    if (snapshot.now == options_.plans_also_at) feasibility_.reset();  // asked for that moment
    next_plan_ = Instant::at_second(snapshot.now.second() + std::max(1, options_.period_seconds));
    const planner::Moment moment = moment_of(snapshot, acts_at);
    planner::Problem problem = planner::make_problem(scenario_, frame_, moment);
    problem.change_price =
        options_.gain_min_seconds * value_per_second(problem) / static_cast<double>(problem.gpus.size());
    ++turn_;
    const planner::Schedule known = is_first ? planner::Schedule() : left_of_last(problem, acts_at);
    SolvedWindow solved = is_first ? solve_first(problem) : solve_as_far_as_floors_go(problem, limits(), known);
    std::vector<double> gains(problem.gpus.size());
    if (!is_first && !solved.answer.is_infeasible) {
      planner::Pruned pruned = planner::without_low_value_changes(problem, std::move(solved.answer));
      solved.answer = std::move(pruned.answer);
      gains = std::move(pruned.gains);
    }
    const planner::Answer& answer = solved.answer;
    last_ = answer.is_infeasible ? planner::Schedule() : answer.schedule;
    last_begins_ = acts_at;
    if (answer.is_infeasible) return is_first ? std::optional(why_infeasible(moment)) : std::nullopt;
    const planner::Schedule stay{.gpus = std::vector<std::vector<planner::Change>>(problem.gpus.size())};
    PlanRecord record{.made_at = snapshot.now,
                      .acts_at = acts_at,
                      .expires_at = acts_at + Micros::seconds(options_.period_seconds),
                      .frame = {},
                      .problem = {},
                      .answer = {},
                      .limits = limits(),
                      .known = {},
                      .stay_objective = planner::evaluate(problem, stay).objective,
                      .unmet_floors = {}};
    fill(plan, snapshot, moment, problem, solved, gains);
    plan.objective = answer.objective;
    plan.bound = answer.bound;
    plan.expires_at = record.expires_at;
    if (options_.record) {
      if (solved.has_unmet_floors && !plan.unmet_floors) plan.unmet_floors = why_floors_are_unmet(moment, is_first);
      record.frame = frame_;
      record.problem = std::move(problem);
      record.answer = answer;
      record.known = known;
      record.unmet_floors = plan.unmet_floors;
      options_.record(record);
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] planner::SearchLimits limits() const {
    return {.nodes_max = options_.nodes_max, .gap = options_.gap, .turn = turn_};
  }

  /// Turns the problem into that of the first layout, and solves it.
  [[nodiscard]] SolvedWindow solve_first(planner::Problem& problem) const {
    const planner::Problem window = problem;
    problem = planner::first_layout_problem(window);
    SolvedWindow solved = solve_as_far_as_floors_go(problem, limits(), {});
    planner::improve_first_layout(problem, limits(), solved.answer);
    if (options_.recuts != 0) planner::leave_room_for_retraining(window, problem, limits(), solved.answer);
    return solved;
  }

  /// The part of the previous plan that is still to come: the search begins with it, so that plans improve from one to
  /// the next.
  [[nodiscard]] planner::Schedule left_of_last(const planner::Problem& problem, Instant acts_at) const {
    return planner::carried_over(problem, last_, static_cast<int>(acts_at.second() - last_begins_.second()));
  }

  /// Fills in the actions that begin now, the floors and the reason for unmet ones.
  void fill(Plan& plan, const Snapshot& snapshot, const planner::Moment& moment, const planner::Problem& problem,
            const SolvedWindow& solved, const std::vector<double>& gains) {
    for (std::uint32_t gpu = 0; gpu < problem.gpus.size(); ++gpu) {
      const auto& changes = solved.answer.schedule.gpus[gpu];
      if (!changes.empty() && changes.front().slot == 0) {
        change_gpu({gpu}, snapshot, problem, changes.front().to, gains[gpu], plan);
      } else if (snapshot.is_before_first_layout() && !problem.gpus[gpu].pins.empty()) {
        change_gpu({gpu}, snapshot, problem, pins_alone(problem, problem.gpus[gpu]), 0, plan);
      }
    }
    note_ready_times(problem, solved.answer, moment.begins);
    if (plan.actions.empty()) return;
    plan.floors = planned_floors(scenario_, snapshot, moment, plan);
    const bool is_short = std::ranges::any_of(
        plan.floors, [](const PlannedFloor& floor) { return floor.planned < floor.needed * (1 - 1e-9); });
    if (!is_short) return;
    const bool is_first = snapshot.is_before_first_layout();
    plan.unmet_floors = why_floors_are_unmet(moment, is_first);
    // A search that ended at its limit may have missed a plan that the checker finds: then nothing is changed.
    const bool is_proven = std::holds_alternative<ProvenConflict>(*plan.unmet_floors);
    if (is_proven || is_first) return;
    if (find_breach(scenario_, snapshot, plan, moment.begins)) plan.actions.clear();
  }

  /// Why some floors are unmet by a plan of this moment.
  [[nodiscard]] UnmetFloors why_floors_are_unmet(const planner::Moment& moment, bool is_first) {
    const MomentQuestion question = question_of(moment, is_first);
    const ConflictSearchResult feasibility = feasibility_of(question);
    if (const auto* conflict = std::get_if<Conflict>(&feasibility); conflict != nullptr && has_floor(*conflict)) {
      return ProvenConflict{.constraints = conflict->constraints, .is_minimal = conflict->is_minimal};
    }
    const auto until = end_of_changes(moment);
    if (until && std::holds_alternative<CanBeMet>(feasibility)) return ChangeUnderWay{.until = *until};
    return FloorsNotDecided{};
  }

  /// Whether all constraints can be kept. The search is repeated only when the last one is old, as it solves many
  /// problems; in between, one question decides whether its answer holds at this moment, too.
  [[nodiscard]] ConflictSearchResult feasibility_of(const MomentQuestion& question) {
    constexpr Micros kKept = Micros::seconds(60);
    const bool is_recent = feasibility_ && question.moment.begins < feasibility_at_ + kKept;
    if (!is_recent) {
      feasibility_at_ = question.moment.begins;
      feasibility_ = find_moment_conflict(question);
      return *feasibility_;
    }
    if (question.moment.begins == feasibility_at_) return *feasibility_;
    const auto* conflict = std::get_if<Conflict>(&*feasibility_);
    if (conflict != nullptr) {
      if (ask_moment(question, conflict->constraints) == Finding::kCannotBeMet) return *conflict;
      return NotDecided{};
    }
    if (ask_moment(question, constraints_of(scenario_)) == Finding::kCanBeMet) return CanBeMet{};
    return NotDecided{};
  }

  [[nodiscard]] MomentQuestion question_of(const planner::Moment& moment, bool is_first) const {
    return {.scenario = scenario_,
            .frame = frame_,
            .moment = moment,
            .nodes_max = kFeasibilityNodes,
            .is_first_layout = is_first};
  }

  [[nodiscard]] std::string why_infeasible(const planner::Moment& moment) const {
    const ConflictSearchResult found = find_moment_conflict(question_of(moment, true));
    const auto* conflict = std::get_if<Conflict>(&found);
    return conflict != nullptr ? to_text(scenario_, *conflict)
                               : std::string("found no layout that keeps the constraints of the scenario");
  }

  [[nodiscard]] bool is_time(const Snapshot& snapshot, const Plan& plan, Instant acts_at) {
    const bool is_news = note_retraining(snapshot);
    if (options_.recuts == 0 && !snapshot.is_before_first_layout()) return false;
    if (options_.plans_once_at) {
      if (is_done_ || snapshot.now < *options_.plans_once_at || !plan.actions.empty()) return false;
      is_done_ = true;
      return true;
    }
    if (snapshot.is_before_first_layout() || snapshot.now == options_.plans_also_at) return true;
    return (is_news || snapshot.now >= next_plan_) && !is_frozen(scenario_, acts_at);
  }

  /// Whether a retraining became due or done since the last step.
  bool note_retraining(const Snapshot& snapshot) {
    bool is_news = false;
    for (std::size_t index = 0; index < was_stale_.size(); ++index) {
      const bool is_stale = snapshot.services[index].is_retraining_due;
      is_news = is_news || is_stale != (was_stale_[index] != 0);
      was_stale_[index] = is_stale ? 1 : 0;
    }
    return is_news;
  }

  [[nodiscard]] planner::Moment moment_of(const Snapshot& snapshot, Instant acts_at) {
    planner::Moment moment;
    const std::int64_t rest = std::max<std::int64_t>(1, scenario_.simulated_seconds() - acts_at.second());
    moment.begins = acts_at;
    const std::int64_t window = options_.recuts == 0 ? rest : scenario_.window_seconds;
    moment.slots = static_cast<int>(std::min(window, rest));
    moment.samples = outlook_.samples;
    moment.tail_seconds = std::min(options_.tail_seconds, static_cast<double>(rest - moment.slots));
    moment.seconds_beyond_tail = static_cast<double>(rest - moment.slots) - moment.tail_seconds;
    moment.is_gpu_leaving.assign(scenario_.gpu_count(), 0);
    for (const StandingSlice& standing : snapshot.slices) {
      if (standing.is_leaving) {
        moment.is_gpu_leaving[standing.holding.slice.gpu.index] = 1;
      } else {
        moment.standing.push_back(standing_now(standing, acts_at));
      }
    }
    const Stretch stretch{.from_second = acts_at.second(),
                          .seconds = moment.slots,
                          .tail_seconds = std::max<std::int64_t>(1, static_cast<std::int64_t>(moment.tail_seconds))};
    for (std::uint32_t index = 0; index < scenario_.services.size(); ++index) {
      const ServiceId service{index};
      moment.retraining.push_back(watch_.at(service, acts_at));
      Expected expected = outlook_.expect(service, stretch);
      planner::Outlook& outlook = moment.outlooks.emplace_back();
      outlook.loads = std::move(expected.loads);
      outlook.mean_rate = expected.mean_rate;
      const auto& budget = scenario_.services[index].changes_per_hour;
      if (budget) outlook.changes_left = *budget - changes_in_hour(snapshot.services[index], acts_at);
    }
    return moment;
  }

  [[nodiscard]] planner::StandingNow standing_now(const StandingSlice& standing, Instant acts_at) const {
    planner::StandingNow now;
    now.holding = standing.holding;
    const bool retrains = standing.holding.role == Role::kRetraining;
    now.use = retrains ? planner::kRetraining : (standing.point ? standing.point->variant : 0);
    if (standing.is_ready || standing.holding.services.empty()) return now;
    const auto known = ready_at_.find(standing.holding.slice);
    now.ready_in = Micros::seconds(1);
    if (known != ready_at_.end()) now.ready_in = std::max(now.ready_in, known->second - acts_at);
    return now;
  }

  /// Turns a change that begins now into actions: slices destroyed, slices created, assignments.
  void change_gpu(GpuId gpu, const Snapshot& snapshot, const planner::Problem& problem, const Configuration& to,
                  double gain, Plan& plan) const {
    const Configuration from = standing_on(problem.gpus[gpu.index]);
    const Reason reason = snapshot.is_before_first_layout()
                              ? Reason{.text = "first layout", .numbers = {}}
                              : reason_of(problem, problem.gpus[gpu.index], from, to, gain);
    for (const StandingSlice& standing : snapshot.staying()) {
      if (standing.holding.slice.gpu != gpu) continue;
      const auto site = frame_.site_of(standing.holding.slice);
      if (site && stands_on(to, *site)) continue;
      plan.actions.push_back({.what = DestroySlice{standing.holding.slice}, .reason = reason});
    }
    for (const Piece& piece : to) {
      if (stands_on(from, piece.site)) continue;
      plan.actions.push_back({.what = CreateSlice{frame_.slice_at(gpu, piece.site)}, .reason = reason});
    }
    for (const Piece& piece : to) {
      if (std::ranges::find(from, piece) != from.end()) continue;
      plan.actions.push_back({.what = assignment(gpu, piece), .reason = reason});
    }
  }

  /// The gain of the GPU's change given all others, and the seconds until all of it is ready.
  [[nodiscard]] static Reason reason_of(const planner::Problem& problem, const planner::GpuTerms& gpu,
                                        const Configuration& from, const Configuration& to, double gain) {
    const planner::ModelTerms& model = problem.models[static_cast<std::size_t>(gpu.model)];
    int slots = 0;
    for (const Piece& piece : to) {
      if (std::ranges::find(from, piece) != from.end()) continue;
      slots = std::max(slots, planner::slots_until_ready(problem, model, from, piece));
    }
    const double seconds = gain / value_per_second(problem);
    return {.text = fmt::format(
                "the changes of this GPU gain the worth of {:.2f} s of all requests, after their price and the up to "
                "{} s until its new slices are ready",
                seconds, slots),
            .numbers = {{"gain", gain}, {"gain_seconds", seconds}, {"ready_after_seconds", slots}}};
  }

  /// Notes when the changes that begin now are expected to be ready: events report only when they are.
  void note_ready_times(const planner::Problem& problem, const planner::Answer& answer, Instant acts_at) {
    for (std::uint32_t gpu = 0; gpu < problem.gpus.size(); ++gpu) {
      const auto& changes = answer.schedule.gpus[gpu];
      if (changes.empty() || changes.front().slot != 0) continue;
      const planner::GpuTerms& terms = problem.gpus[gpu];
      const planner::ModelTerms& model = problem.models[static_cast<std::size_t>(terms.model)];
      const Configuration from = standing_on(terms);
      for (const Piece& piece : changes.front().to) {
        if (std::ranges::find(from, piece) != from.end()) continue;
        const int slots = planner::slots_until_ready(problem, model, from, piece);
        ready_at_[frame_.slice_at({gpu}, piece.site)] = acts_at + Micros::seconds(slots);
      }
    }
  }

  [[nodiscard]] AssignSlice assignment(GpuId gpu, const Piece& piece) const {
    AssignSlice assign{.holding = {.slice = frame_.slice_at(gpu, piece.site), .role = Role::kInference, .services = {}},
                       .point = std::nullopt};
    if (piece.service == planner::kNoService) return assign;
    assign.holding.services = {ServiceId{static_cast<std::uint32_t>(piece.service)}};
    if (piece.use == planner::kRetraining) {
      assign.holding.role = Role::kRetraining;
      return assign;
    }
    const planner::ModelIndex model = frame_.model_of_gpu[gpu.index];
    const planner::KindIndex kind =
        frame_.models[static_cast<std::size_t>(model)].sites[static_cast<std::size_t>(piece.site)].kind;
    assign.point = frame_.points[static_cast<std::size_t>(model)][static_cast<std::size_t>(kind)]
                                [static_cast<std::size_t>(piece.service)][static_cast<std::size_t>(piece.use)];
    return assign;
  }

  const Scenario& scenario_;
  PlannerOptions options_;
  OutlookSource outlook_;
  planner::Frame frame_;
  RetrainingWatch watch_;
  Instant next_plan_;
  int turn_ = -1;         ///< number of plans before this one
  bool is_done_ = false;  ///< has planned, where it plans once
  std::vector<char> was_stale_;
  std::map<Slice, Instant> ready_at_;
  std::optional<ConflictSearchResult> feasibility_;  ///< of all constraints, by the last search
  Instant feasibility_at_;
  planner::Schedule last_;  ///< the previous plan
  Instant last_begins_;
};

}  // namespace

Stage planner_stage(const Scenario& scenario, OutlookSource outlook, const PlannerOptions& options) {
  const auto policy = std::make_shared<PlannerPolicy>(scenario, std::move(outlook), options);
  return {.name = "berth",
          .run = [policy](const Snapshot& snapshot, Plan& plan) { return policy->run(snapshot, plan); }};
}

}  // namespace berth
