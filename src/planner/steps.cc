#include "planner/steps.h"

#include <algorithm>

#include "planner/check.h"

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
  eager.destroy_seconds = eager.create_seconds = eager.plumbing_seconds = 0;
  for (ServiceTerms& service : eager.services) service.start_seconds = 0;
  Schedule alone{.gpus = std::vector<std::vector<Change>>(problem.gpus.size())};
  alone.gpus[gpu] = schedule.gpus[gpu];
  // What the others do stays as slow as it is: only the difference that this GPU makes is taken.
  return evaluate(eager, alone).objective - evaluate(problem, alone).objective;
}

StepReason reason_of(const Problem& problem, const Schedule& schedule, std::size_t gpu, double objective) {
  StepReason reason;
  Schedule without = schedule;
  without.gpus[gpu].clear();
  reason.alternative = evaluate(problem, without).objective;
  reason.gain = objective - reason.alternative;
  if (!schedule.gpus[gpu].empty()) reason.cost = objective_without_waiting(problem, schedule, gpu);
  return reason;
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

}  // namespace

std::vector<Step> steps_of(const Problem& problem, const Schedule& schedule) {
  const double objective = evaluate(problem, schedule).objective;
  std::vector<Step> steps;
  for (std::size_t gpu = 0; gpu < problem.gpus.size(); ++gpu) {
    Step base;
    base.gpu = static_cast<int>(gpu);
    if (!schedule.gpus[gpu].empty()) base.reason = reason_of(problem, schedule, gpu, objective);
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
