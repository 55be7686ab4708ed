#include "engine/loop/window_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/loop/constraints.h"
#include "engine/loop/gain_text.h"
#include "engine/loop/only_slices.h"
#include "engine/loop/planned_floors.h"
#include "engine/loop/planner_policy.h"
#include "engine/loop/promises.h"
#include "engine/loop/static_conflict.h"
#include "planner/many_gpus/prune.h"
#include "planner/plan/first_layout.h"
#include "planner/plan/keep_places.h"
#include "planner/plan/solve.h"
#include "planner/window/carry.h"
#include "planner/window/check.h"
#include "planner/window/window.h"

namespace berth {
namespace {

using planner::Configuration;
using planner::Piece;

/// Nodes for each question of whether some constraints can be kept together: more than a plan has, so that few
/// questions stay undecided.
constexpr std::int64_t kFeasibilityNodes = 20'000;

/// A change waits for the next plan if that loses less than this share of what a GPU answers meanwhile, on average.
constexpr double kWaitLossMin = 0.001;

/// An answer, and whether it keeps all floors.
struct SolvedWindow {
  planner::Answer answer;
  bool has_unmet_floors = false;
};

/// The inference pieces of a service that stand.
int pieces_standing(const planner::Problem& problem, planner::ServiceIndex service) {
  int count = 0;
  for (const planner::GpuTerms& gpu : problem.gpus) {
    for (const planner::StandingPiece& standing : gpu.standing) {
      count += standing.piece.service == service && standing.piece.use != planner::kRetraining ? 1 : 0;
    }
  }
  return count;
}

/// Solves the problem. If the floors cannot all be met, they are lowered together, step by step, until they can;
/// numbers of slices at once to what stands, so that no other service loses one. The search begins with `known`.
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
    for (std::size_t i = 0; i < floors.size(); ++i) {
      planner::ServiceTerms& service = problem.services[i];
      const double lowered = floors[i] * step / kSteps;
      service.floor_rate = !service.counts_slices || step == 0
                               ? lowered
                               : std::min<double>(floors[i], pieces_standing(problem, planner::ServiceIndex(i)));
    }
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

/// The pinned slices of a GPU: they exist from the first layout on, even if they gain nothing.
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

/// Whether all constraints can be kept at the question's moment. The search is repeated only when the last one is old,
/// as it solves many problems; in between, one question decides whether its answer holds at this moment, too.
class FeasibilitySearch {
 public:
  FeasibilitySearch(const MomentQuestion& question, std::optional<FoundFeasibility>& known)
      : question_(question), known_(known) {}

  [[nodiscard]] ConflictSearchResult run() {
    constexpr Micros kKept = Micros::seconds(60);
    const Instant now = question_.moment.begins;
    if (!known_ || now >= known_->at + kKept) {
      known_ = {.at = now, .result = find_moment_conflict(question_)};
      return known_->result;
    }
    if (now == known_->at) return known_->result;
    if (const auto* conflict = std::get_if<Conflict>(&known_->result)) {
      if (ask_moment(question_, conflict->constraints) == Finding::kCannotBeMet) return *conflict;
      return NotDecided{};
    }
    if (ask_moment(question_, constraints_of(question_.scenario)) == Finding::kCanBeMet) return CanBeMet{};
    return NotDecided{};
  }

 private:
  const MomentQuestion& question_;
  std::optional<FoundFeasibility>& known_;
};

/// An allocation as a piece, if its slice is a site of the frame.
std::optional<Piece> piece_of(const planner::Frame& frame, const Allocation& allocation) {
  const auto site = frame.site_of(allocation.holding.slice);
  if (!site) return std::nullopt;
  Piece piece{.site = *site};
  if (allocation.holding.services.empty()) return piece;
  piece.service = planner::ServiceIndex(allocation.holding.services.front().index);
  const bool retrains = allocation.holding.role == Role::kRetraining;
  piece.use = retrains ? planner::kRetraining : (allocation.point ? allocation.point->variant : 0);
  return piece;
}

class WindowSolver {
 public:
  WindowSolver(const WindowQuestion& question, const planner::Moment& moment, const Snapshot& snapshot,
               Solution& solution)
      : question_(question),
        scenario_(*question.scenario),
        options_(question.options),
        frame_(*question.frame),
        moment_(moment),
        snapshot_(snapshot),
        solution_(solution),
        plan_(solution.plan) {
    solution_.feasibility = question.feasibility;
  }

  void run() {
    const bool is_first = question_.is_first_layout;
    if (is_first) {
      if (const auto conflict = find_static_conflict(scenario_)) {
        solution_.infeasible = with_names(scenario_, conflict->as_conflict());
        return;
      }
    }
    planner::Problem problem = planner::make_problem(scenario_, frame_, moment_);
    problem.change_price =
        options_.gain_min_seconds * value_per_second(problem) / static_cast<double>(problem.gpus.size());
    planner::Schedule known;
    SolvedWindow solved = is_first ? solve_first(problem) : solve_window(problem, known);
    std::vector<double> gains(problem.gpus.size());
    if (!is_first && !solved.answer.is_infeasible) {
      planner::Pruned pruned = planner::without_low_value_changes(problem, std::move(solved.answer));
      if (options_.loads_are_forecasts) {
        const int wait = std::max(1, options_.period_seconds);
        const double loss_min =
            kWaitLossMin * wait * value_per_second(problem) / static_cast<double>(problem.gpus.size());
        pruned =
            planner::with_changes_postponed(problem, std::move(pruned), {.wait_slots = wait, .loss_min = loss_min});
      }
      solved.answer = std::move(pruned.answer);
      gains = std::move(pruned.gains);
    }
    if (solved.answer.is_infeasible) {
      if (is_first) solution_.infeasible = why_infeasible();
      return;
    }
    fill(problem, solved, gains);
    if (options_.record) record(std::move(problem), std::move(solved), known);
  }

 private:
  [[nodiscard]] planner::SearchLimits limits() const {
    return {.nodes_max = options_.nodes_max, .gap = options_.gap, .turn = question_.turn};
  }

  /// Solves the problem, and sets what the search began with. Where services with a warm pool would lose their only
  /// slices while they have requests, those stay if that costs less than the cold starts and no floor is lower for it;
  /// the problem is then the one with these slices pinned.
  [[nodiscard]] SolvedWindow solve_window(planner::Problem& problem, planner::Schedule& known) const {
    const bool has_pools = std::ranges::any_of(
        scenario_.services, [](const ServiceSpec& spec) { return spec.ready.warm_pool.has_value(); });
    known = left_of_previous(problem);
    if (!has_pools) return solve_as_far_as_floors_go(problem, limits(), known);
    const std::vector<OnlySlice> only = only_slices(scenario_, snapshot_, problem);
    planner::Problem kept = with_slices_kept(problem, only);
    SolvedWindow solved = solve_and_keep_places(problem, known);
    const double cold_cost = cost_of(lost_slices(only, solved.answer.schedule), problem);
    if (solved.answer.is_infeasible || cold_cost <= 0) return solved;
    planner::Schedule kept_known = left_of_previous(kept);
    SolvedWindow with = solve_and_keep_places(kept, kept_known);
    const bool keeps_floors =
        std::ranges::equal(kept.services, problem.services, std::greater_equal(), &planner::ServiceTerms::floor_rate,
                           &planner::ServiceTerms::floor_rate);
    if (with.answer.is_infeasible || !keeps_floors || with.answer.objective + cold_cost < solved.answer.objective) {
      return solved;
    }
    problem = std::move(kept);
    known = std::move(kept_known);
    return with;
  }

  [[nodiscard]] SolvedWindow solve_and_keep_places(planner::Problem& problem, const planner::Schedule& known) const {
    SolvedWindow solved = solve_as_far_as_floors_go(problem, limits(), known);
    solved.answer = planner::with_places_kept(problem, std::move(solved.answer));
    return solved;
  }

  /// What it costs to lose the slices, as an objective: a second of a GPU is worth what one answers on average.
  [[nodiscard]] static double cost_of(const std::vector<OnlySlice>& lost, const planner::Problem& problem) {
    double seconds = 0;
    for (const OnlySlice& each : lost) seconds += each.cold_gpu_seconds;
    return seconds * value_per_second(problem) / static_cast<double>(problem.gpus.size());
  }

  /// Turns the problem into that of the first layout, and solves it.
  [[nodiscard]] SolvedWindow solve_first(planner::Problem& problem) const {
    const planner::Problem window = problem;
    problem = planner::first_layout_problem(window);
    SolvedWindow solved = solve_as_far_as_floors_go(problem, limits(), {});
    planner::improve_first_layout(problem, limits(), solved.answer);
    planner::Answer spare = solved.answer;
    if (options_.recuts != 0) planner::leave_room_for_retraining(window, problem, limits(), solved.answer);
    const bool has_prices =
        std::ranges::any_of(scenario_.services, [](const ServiceSpec& spec) { return spec.tier.is_auto; });
    if (!options_.loads_are_forecasts || has_prices) return solved;
    const auto with_spare = planner::add_spare_capacity(problem, limits(), guessed(), spare);
    if (!with_spare) return solved;
    if (options_.recuts != 0) planner::leave_room_for_retraining(window, *with_spare, limits(), spare);
    if (planner::is_worth_as_much(window, problem, limits(), spare.schedule, solved.answer.schedule)) {
      solved.answer = std::move(spare);
      solved.answer.objective = planner::evaluate(problem, solved.answer.schedule).objective;
    }
    return solved;
  }

  /// [service]: nothing is known of its load.
  [[nodiscard]] std::vector<char> guessed() const {
    std::vector<char> guesses;
    guesses.reserve(moment_.outlooks.size());
    for (const planner::Outlook& outlook : moment_.outlooks) guesses.push_back(outlook.is_guess ? 1 : 0);
    return guesses;
  }

  /// The remaining part of the previous plan: the search begins with it, so that successive plans improve.
  [[nodiscard]] planner::Schedule left_of_previous(const planner::Problem& problem) const {
    const std::int64_t later = moment_.begins.second() - question_.previous_begins.second();
    return planner::carried_over(problem, *question_.previous, static_cast<int>(later));
  }

  /// The objective of changing nothing in the window.
  [[nodiscard]] static double stay_objective(const planner::Problem& problem) {
    const planner::Schedule stay{.gpus = std::vector<std::vector<planner::Change>>(problem.gpus.size())};
    return planner::evaluate(problem, stay).objective;
  }

  /// Passes the problem and its answer to the observer, with the reason for unmet floors even if nothing is changed.
  void record(planner::Problem problem, SolvedWindow solved, const planner::Schedule& known) {
    if (solved.has_unmet_floors && !plan_.unmet_floors) plan_.unmet_floors = why_floors_are_unmet();
    const double stays_at = stay_objective(problem);
    options_.record({.made_at = snapshot_.now,
                     .acts_at = moment_.begins,
                     .expires_at = *plan_.expires_at,
                     .frame = frame_,
                     .problem = std::move(problem),
                     .answer = std::move(solved.answer),
                     .limits = limits(),
                     .known = known,
                     .stay_objective = stays_at,
                     .unmet_floors = plan_.unmet_floors});
  }

  /// Fills in the plan: the actions that begin now, later changes, the floors and the reason for unmet ones.
  void fill(const planner::Problem& problem, const SolvedWindow& solved, const std::vector<double>& gains) {
    for (std::uint32_t gpu = 0; gpu < problem.gpus.size(); ++gpu) {
      const auto& changes = solved.answer.schedule.gpus[gpu];
      for (const planner::Change& change : changes) note_ahead({gpu}, change);
      if (!changes.empty() && changes.front().slot == 0) {
        note_ready_times({gpu}, problem, changes.front().to);
        change_gpu({gpu}, problem, changes.front().to, gains[gpu]);
      } else if (question_.is_first_layout && !problem.gpus[gpu].pins.empty()) {
        change_gpu({gpu}, problem, pins_alone(problem, problem.gpus[gpu]), 0);
      }
    }
    plan_.objective = solved.answer.objective;
    if (!question_.is_first_layout && !plan_.actions.empty()) {
      plan_.promised_gain = solved.answer.objective - stay_objective(problem);
    }
    plan_.bound = solved.answer.bound;
    plan_.expires_at = moment_.begins + Micros::seconds(options_.period_seconds);
    if (!plan_.actions.empty()) check_floors();
    if (plan_.promised_gain && !plan_.actions.empty()) {
      solution_.promises = promises_of(frame_, problem, solved.answer.schedule);
      for (Promise& promise : solution_.promises) count_on_expected_loads(promise, moment_.outlooks);
    }
    solution_.floors = plan_.actions.empty() ? planned_floors(scenario_, snapshot_, moment_, plan_) : plan_.floors;
    if (!question_.is_first_layout && !scenario_.speeds.empty()) retune();
  }

  /// The search moves slices between services, not between points of one: where a speed factor makes another point the
  /// best, slices that stay move there. Another batch limit takes no time; another number of processes restarts a
  /// slice, so of each service one at a time does.
  void retune() {
    std::set<GpuId> changed;
    for (const Action& action : plan_.actions) changed.insert(slice_of(action.what).gpu);
    std::set<ServiceId> restarting;
    for (const StandingSlice& standing : snapshot_.staying()) {
      if (!standing.is_ready) restarting.insert(standing.holding.services.begin(), standing.holding.services.end());
    }
    const bool is_alone = plan_.actions.empty();
    for (const StandingSlice& standing : snapshot_.staying()) {
      const GpuId gpu = standing.holding.slice.gpu;
      if (changed.contains(gpu) || !snapshot_.is_open(gpu) || !standing.is_ready) continue;
      const auto assign = retuned(standing);
      if (!assign) continue;
      const bool restarts = !standing.point || standing.point->processes != assign->point->processes;
      if (restarts && !restarting.insert(assign->holding.services.front()).second) continue;
      plan_.actions.push_back(
          {.what = *assign, .reason = {.text = "the best point by the measured speed factor", .numbers = {}}});
    }
    if (is_alone && !plan_.actions.empty() && solution_.floors) plan_.floors = *solution_.floors;
  }

  /// The slice at the best point for its service, if that has a speed factor and is at another one.
  [[nodiscard]] std::optional<AssignSlice> retuned(const StandingSlice& standing) const {
    const Holding& holding = standing.holding;
    if (standing.is_foreign || holding.role != Role::kInference || holding.services.size() != 1) return std::nullopt;
    if (!has_speed(scenario_.speeds, holding.services.front())) return std::nullopt;
    const auto piece = piece_of(frame_, standing.allocation());
    if (!piece) return std::nullopt;
    AssignSlice assign = assignment(holding.slice.gpu, *piece);
    if (!assign.point || assign.point == standing.point) return std::nullopt;
    return assign;
  }

  void check_floors() {
    plan_.floors = planned_floors(scenario_, snapshot_, moment_, plan_);
    const bool is_short = std::ranges::any_of(
        plan_.floors, [](const PlannedFloor& floor) { return floor.planned < floor.needed * (1 - 1e-9); });
    if (!is_short) return;
    plan_.unmet_floors = why_floors_are_unmet();
    // A search that ended at its limit may have missed a plan that the checker would find, so nothing is changed.
    const bool is_proven = std::holds_alternative<ProvenConflict>(*plan_.unmet_floors);
    if (is_proven || question_.is_first_layout) return;
    if (find_breach(scenario_, snapshot_, plan_, moment_.begins)) plan_.actions.clear();
  }

  /// Why some floors are unmet by a plan of this moment.
  [[nodiscard]] UnmetFloors why_floors_are_unmet() {
    const ConflictSearchResult found =
        FeasibilitySearch(moment_question(question_.is_first_layout), solution_.feasibility).run();
    if (const auto* conflict = std::get_if<Conflict>(&found); conflict != nullptr && has_floor(*conflict)) {
      return ProvenConflict{.constraints = conflict->constraints, .is_minimal = conflict->is_minimal};
    }
    const auto until = end_of_changes(moment_);
    if (until && std::holds_alternative<CanBeMet>(found)) return ChangeUnderWay{.until = *until};
    return FloorsNotDecided{};
  }

  [[nodiscard]] MomentQuestion moment_question(bool is_first) const {
    return {.scenario = scenario_,
            .frame = frame_,
            .moment = moment_,
            .nodes_max = kFeasibilityNodes,
            .is_first_layout = is_first};
  }

  [[nodiscard]] std::string why_infeasible() const {
    const ConflictSearchResult found = find_moment_conflict(moment_question(true));
    const auto* conflict = std::get_if<Conflict>(&found);
    return conflict != nullptr ? to_text(scenario_, *conflict)
                               : std::string("found no layout that keeps the constraints of the scenario");
  }

  /// Turns a change that begins now into actions: slices destroyed, slices created, assignments.
  void change_gpu(GpuId gpu, const planner::Problem& problem, const Configuration& to, double gain) {
    const Configuration from = standing_on(problem.gpus[gpu.index]);
    const Reason reason = question_.is_first_layout ? Reason{.text = "first layout", .numbers = {}}
                                                    : reason_of(problem, problem.gpus[gpu.index], from, to, gain);
    for (const StandingSlice& standing : snapshot_.staying()) {
      if (standing.holding.slice.gpu != gpu || standing.is_foreign) continue;
      const auto site = frame_.site_of(standing.holding.slice);
      if (site && stands_on(to, *site)) continue;
      plan_.actions.push_back({.what = DestroySlice{standing.holding.slice}, .reason = reason});
    }
    for (const Piece& piece : to) {
      if (stands_on(from, piece.site)) continue;
      plan_.actions.push_back({.what = CreateSlice{frame_.slice_at(gpu, piece.site)}, .reason = reason});
    }
    for (const Piece& piece : to) {
      if (std::ranges::find(from, piece) != from.end()) continue;
      plan_.actions.push_back({.what = assignment(gpu, piece), .reason = reason});
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
    return {.text = fmt::format("the changes of this GPU gain the worth of {} of all requests, after their price and "
                                "the up to {} s until its "
                                "new slices are ready",
                                gain_text(seconds), slots),
            .numbers = {{"gain", gain}, {"gain_seconds", seconds}, {"ready_after_seconds", slots}}};
  }

  /// Records when the changes that begin now are expected to be ready: events report only when they are ready.
  void note_ready_times(GpuId gpu, const planner::Problem& problem, const Configuration& to) {
    const planner::GpuTerms& terms = problem.gpus[gpu.index];
    const planner::ModelTerms& model = problem.models[static_cast<std::size_t>(terms.model)];
    const Configuration from = standing_on(terms);
    for (const Piece& piece : to) {
      if (std::ranges::find(from, piece) != from.end()) continue;
      const int slots = planner::slots_until_ready(problem, model, from, piece);
      solution_.ready.push_back(
          {.slice = frame_.slice_at(gpu, piece.site), .at = moment_.begins + Micros::seconds(slots)});
    }
  }

  void note_ahead(GpuId gpu, const planner::Change& change) {
    ChangeAhead ahead{.gpu = gpu, .after_seconds = change.slot, .to = {}};
    ahead.to.reserve(change.to.size());
    for (const Piece& piece : change.to) ahead.to.push_back(assignment(gpu, piece));
    plan_.ahead.push_back(std::move(ahead));
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

  const WindowQuestion& question_;
  const Scenario& scenario_;
  const PlannerOptions& options_;
  const planner::Frame& frame_;
  const planner::Moment& moment_;
  const Snapshot& snapshot_;
  Solution& solution_;
  Plan& plan_;
};

}  // namespace

void solve(const WindowQuestion& question, const Snapshot& snapshot, Solution& solution) {
  planner::Moment moment = question.moment;
  solution.mean_rates.reserve(moment.outlooks.size());
  for (std::uint32_t index = 0; index < moment.outlooks.size(); ++index) {
    Expected expected = question.expect({index}, question.stretch);
    moment.outlooks[index].loads = std::move(expected.loads);
    moment.outlooks[index].mean_rate = expected.mean_rate;
    moment.outlooks[index].is_guess = expected.is_guess;
    moment.outlooks[index].raised = expected.raised;
    solution.mean_rates.push_back(expected.mean_rate);
  }
  WindowSolver(question, moment, snapshot, solution).run();
}

planner::Schedule schedule_of(const planner::Frame& frame, const std::vector<ChangeAhead>& ahead) {
  planner::Schedule schedule;
  schedule.gpus.resize(frame.model_of_gpu.size());
  for (const ChangeAhead& change : ahead) {
    planner::Change planned{.slot = planner::SlotIndex(change.after_seconds), .to = {}};
    for (const Allocation& allocation : change.to) {
      if (const auto piece = piece_of(frame, allocation)) planned.to.push_back(*piece);
    }
    schedule.gpus[change.gpu.index].push_back(std::move(planned));
  }
  return schedule;
}

}  // namespace berth
