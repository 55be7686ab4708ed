#include "planner/steps.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/ensure.h"
#include "window/check.h"
#include "window/checked_bound.h"

namespace berth::planner {
namespace {

bool has_site(const Configuration& pieces, int site) {
  return std::ranges::any_of(pieces, [&](const Piece& piece) { return piece.site == site; });
}

bool has_piece(const Configuration& pieces, const Piece& wanted) {
  return std::ranges::find(pieces, wanted) != pieces.end();
}

Configuration pieces_at_first(const GpuTerms& gpu) {
  Configuration pieces;
  pieces.reserve(gpu.standing.size());
  for (const StandingPiece& standing : gpu.standing) pieces.push_back(standing.piece);
  return pieces;
}

/// The problem in which what this GPU begins is ready at once: its services start, and its slices are cut, in no time.
double objective_without_waiting(const Problem& problem, const Schedule& schedule, std::size_t gpu) {
  Problem eager = problem;
  eager.destroy_seconds = eager.create_seconds = eager.plumbing_seconds = eager.change_price = 0;
  for (ServiceTerms& service : eager.services) service.start_seconds = 0;
  Schedule alone{.gpus = std::vector<std::vector<Change>>(problem.gpus.size())};
  alone.gpus[gpu] = schedule.gpus[gpu];
  // What the others do stays as slow as it is: only the difference that this GPU makes is taken.
  return evaluate(eager, alone).objective - evaluate(problem, alone).objective;
}

/// Adds the steps of one change.
void add_change(std::vector<Step>& steps, const Step& base, const Configuration& from, const Configuration& to) {
  Step step = base;
  for (const Piece& piece : from) {
    step.type = StepType::kDestroy;
    step.piece = piece;
    if (!has_site(to, piece.site)) steps.push_back(step);
  }
  for (const Piece& piece : to) {
    step.type = StepType::kCreate;
    step.piece = piece;
    if (!has_site(from, piece.site)) steps.push_back(step);
  }
  for (const Piece& piece : to) {
    step.type = StepType::kAssign;
    step.piece = piece;
    if (!has_piece(from, piece)) steps.push_back(step);
  }
}

/// What the plan would lose if the GPU were left alone; nothing where floors or others need its changes.
void tell_of_gpu(const Problem& problem, const Answer& answer, int gpu, StepReason& reason) {
  Schedule without = answer.schedule;
  without.gpus[static_cast<std::size_t>(gpu)].clear();
  reason.is_of_gpu = true;
  reason.gain.reset();
  if (find_fault(problem, without)) return;
  reason.objective_instead = evaluate(problem, without).objective;
  reason.gain = answer.objective - reason.objective_instead;
}

/// What the plan would lose if the step were forbidden. Returns the best answer without it.
Answer tell_of_step(const Problem& problem, const Answer& answer, const Step& step, const SearchLimits& limits,
                    StepReason& reason) {
  Answer other = solve_without(problem, answer.schedule, step.gpu, step.piece, ban_of(step.type), limits);
  reason.gain.reset();
  if (other.is_infeasible) return other;
  reason.gain = answer.objective - other.objective;
  reason.gain_slack = std::max(0.0, other.bound - other.objective);
  reason.objective_instead = other.objective;
  for (const Step& each : steps_of(problem, other.schedule)) {
    if (each.gpu == step.gpu && each.type != StepType::kKeep) reason.instead.push_back(each);
  }
  return other;
}

/// What a slice that stays brings: the objective without its rate.
double worth_of_kept(const Problem& problem, const Answer& answer, const Step& step) {
  if (step.piece.service == kNobody) return 0;
  return answer.objective - evaluate(without_rates(problem, step.gpu, step.piece.site), answer.schedule).objective;
}

/// The reasons of an answer's steps, and what came up beside them.
struct Told {
  std::vector<ReasonedStep> steps;
  Answer best_other;       ///< the best that forgoes a step; is_infeasible: nobody looked, or there is none
  std::int64_t nodes = 0;  ///< of all searches
};

void note(Told& told, Answer other) {
  told.nodes += other.nodes;
  if (other.is_infeasible) return;
  if (told.best_other.is_infeasible || other.objective > told.best_other.objective) told.best_other = std::move(other);
}

Told tell(const Problem& problem, const Answer& answer, const SearchLimits& limits) {
  Told told;
  told.best_other.is_infeasible = true;
  int looked = 0;
  int costed_gpu = -1;
  double cost = 0;
  for (const Step& step : steps_of(problem, answer.schedule)) {
    StepReason& reason = told.steps.emplace_back(ReasonedStep{.step = step, .reason = {}}).reason;
    if (step.type == StepType::kKeep) {
      reason.gain = worth_of_kept(problem, answer, step);
      continue;
    }
    if (costed_gpu != step.gpu) {
      costed_gpu = step.gpu;
      cost = objective_without_waiting(problem, answer.schedule, static_cast<std::size_t>(step.gpu));
    }
    reason.cost = cost;
    if (looked++ < kReasonedSteps) {
      note(told, tell_of_step(problem, answer, step, limits, reason));
    } else {
      tell_of_gpu(problem, answer, step.gpu, reason);
    }
  }
  return told;
}

bool is_better(const Problem& problem, const Answer& other, const Answer& answer) {
  constexpr double kRounding = 1e-9;  // of the objective: sums in another order differ by so much
  if (other.is_infeasible || find_fault(problem, other.schedule)) return false;
  return other.objective > answer.objective + kRounding * std::abs(answer.objective);
}

}  // namespace

Ban ban_of(StepType type) {
  ENSURE(type != StepType::kKeep);
  if (type == StepType::kDestroy) return Ban::kDestroy;
  return type == StepType::kCreate ? Ban::kCut : Ban::kBegin;
}

std::vector<ReasonedStep> reasons_of(const Problem& problem, const Answer& answer, const SearchLimits& limits) {
  return tell(problem, answer, limits).steps;
}

ReasonedAnswer best_with_reasons(const Problem& problem, Answer answer, const SearchLimits& limits) {
  Told told = tell(problem, answer, limits);
  for (int better = 0; better < kBetterAnswers && is_better(problem, told.best_other, answer); ++better) {
    answer.schedule = std::move(told.best_other.schedule);
    answer.objective = evaluate(problem, answer.schedule).objective;
    answer.bound = checked_bound(answer.bound, answer.objective);
    answer.nodes += told.nodes;
    told = tell(problem, answer, limits);
  }
  return {.answer = std::move(answer), .steps = std::move(told.steps)};
}

std::vector<Step> steps_of(const Problem& problem, const Schedule& schedule) {
  std::vector<Step> steps;
  for (std::size_t gpu = 0; gpu < problem.gpus.size(); ++gpu) {
    Step base;
    base.gpu = static_cast<int>(gpu);
    Configuration from = pieces_at_first(problem.gpus[gpu]);
    Configuration kept = from;
    for (const Change& change : schedule.gpus[gpu]) {
      base.slot = change.slot;
      add_change(steps, base, from, change.to);
      std::erase_if(kept, [&](const Piece& piece) { return !has_piece(change.to, piece); });
      from = change.to;
    }
    base.slot = 0;
    base.type = StepType::kKeep;
    for (const Piece& piece : kept) {
      base.piece = piece;
      steps.push_back(base);
    }
  }
  return steps;
}

}  // namespace berth::planner
