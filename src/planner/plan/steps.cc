#include "planner/plan/steps.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/sort_stably.h"
#include "planner/window/check.h"
#include "planner/window/checked_bound.h"

namespace berth::planner {
namespace {

bool has_site(const Configuration& pieces, SiteIndex site) {
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

/// The steps of one GPU.
std::vector<Step> steps_of_gpu(const Problem& problem, GpuIndex gpu, const std::vector<Change>& changes) {
  std::vector<Step> steps;
  Step base;
  base.gpu = gpu;
  Configuration from = pieces_at_first(problem.gpus[static_cast<std::size_t>(gpu)]);
  Configuration kept = from;
  for (const Change& change : changes) {
    base.slot = change.slot;
    add_change(steps, base, from, change.to);
    std::erase_if(kept, [&](const Piece& piece) { return !has_piece(change.to, piece); });
    from = change.to;
  }
  base.slot = SlotIndex(0);
  base.type = StepType::kKeep;
  for (const Piece& piece : kept) {
    base.piece = piece;
    steps.push_back(base);
  }
  return steps;
}

/// The reasons of an answer's steps, one after the other.
class Reasoning {
 public:
  Reasoning(const Problem& problem, const Answer& answer, const ReasonOptions& options)
      : problem_(problem), answer_(answer), options_(options), what_ifs_(problem, answer.schedule) {}

  Reasons run() {
    look_at_gpus();
    compute_reasons();
    keep_largest();
    if (best_other_ && !find_fault(problem_, *best_other_)) {
      const double objective = evaluate(problem_, *best_other_).objective;
      if (objective > answer_.objective) reasons_.better_found = objective;
    }
    return std::move(reasons_);
  }

 private:
  /// The figures that are fast to compute: for each slice that is kept, and for each GPU that changes.
  void look_at_gpus() {
    std::optional<GpuWorth> of_gpu;
    GpuIndex gpu{-1};
    for (const Step& step : steps_of(problem_, answer_.schedule)) {
      ReasonedStep& reasoned = reasons_.steps.emplace_back();
      reasoned.step = step;
      if (step.type == StepType::kKeep) {
        reasoned.kept_worth = what_ifs_.worth_of_piece(step.gpu, step.piece);
        continue;
      }
      if (step.gpu != gpu) of_gpu = what_ifs_.worth_of_changes(step.gpu);
      gpu = step.gpu;
      reasoned.of_gpu = of_gpu;
      order_.push_back(reasons_.steps.size() - 1);
    }
    const std::vector<double> likely = likely_gains();
    sort_stably(order_, [&](std::size_t i) { return std::pair(rank_of(i), likely[i]); }, std::greater<>());
  }

  /// An estimate that orders the steps of one GPU: the contribution of the pieces that begin by a step, or in the room
  /// that it makes. Pieces of a later change also count for the steps of an earlier one.
  std::vector<double> likely_gains() {
    std::vector<double> likely(reasons_.steps.size());
    for (std::size_t begin = 0; begin < order_.size();) {
      const GpuIndex gpu = reasons_.steps[order_[begin]].step.gpu;
      std::size_t end = begin;
      while (end < order_.size() && reasons_.steps[order_[end]].step.gpu == gpu) ++end;
      const std::span own = std::span(order_).subspan(begin, end - begin);
      for (const std::size_t assigned : own) {
        const Step& step = reasons_.steps[assigned].step;
        if (step.type != StepType::kAssign) continue;
        const double worth = what_ifs_.worth_of_piece(gpu, step.piece);
        for (const std::size_t i : own) likely[i] += serves(reasons_.steps[i].step, step) ? worth : 0;
      }
      begin = end;
    }
    return likely;
  }

  /// Whether an assigned piece needs `step`, a step of the same GPU.
  [[nodiscard]] bool serves(const Step& step, const Step& assigned) const {
    if (step.slot > assigned.slot) return false;
    if (step.type == StepType::kAssign) return step.piece == assigned.piece && step.slot == assigned.slot;
    if (step.type == StepType::kCreate) return step.piece.site == assigned.piece.site;
    const GpuTerms& gpu = problem_.gpus[static_cast<std::size_t>(step.gpu)];
    const ModelTerms& model = problem_.models[static_cast<std::size_t>(gpu.model)];
    const std::uint64_t clashes = model.sites[static_cast<std::size_t>(step.piece.site)].clashes;
    return step.piece.site != assigned.piece.site && (clashes >> assigned.piece.site & 1) != 0;
  }

  [[nodiscard]] double rank_of(std::size_t i) const { return reasons_.steps[i].of_gpu->rank; }

  void compute_reasons() {
    const std::size_t count = std::min(options_.count, order_.size());
    const std::size_t what_ifs_max = std::min(order_.size(), 2 * count);
    for (const std::size_t i : order_) {
      if (largest_.size() == count && (count == 0 || largest_.front() >= rank_of(i))) return;
      if (reasons_.what_ifs == what_ifs_max) {
        reasons_.are_largest = false;
        return;
      }
      if (options_.progress &&
          !options_.progress(static_cast<double>(reasons_.what_ifs) / static_cast<double>(what_ifs_max))) {
        reasons_.is_stopped = true;
        return;
      }
      ++reasons_.what_ifs;
      reasons_.steps[i].reason = reason_of(reasons_.steps[i].step);
      note_gain(gain_of(i), count);
    }
  }

  /// The gain of a step with a reason; that of a step without an alternative is infinite.
  [[nodiscard]] double gain_of(std::size_t i) const {
    return reasons_.steps[i].reason->gain.value_or(std::numeric_limits<double>::infinity());
  }

  /// Keeps the `count` largest gains, the smallest of them in front.
  void note_gain(double gain, std::size_t count) {
    largest_.push_back(gain);
    std::ranges::push_heap(largest_, std::ranges::greater());
    if (largest_.size() <= count) return;
    std::ranges::pop_heap(largest_, std::ranges::greater());
    largest_.pop_back();
  }

  StepReason reason_of(const Step& step) {
    StepReason reason;
    reason.gain.reset();
    std::optional<Alternative> other = what_ifs_.without(step.gpu, step.piece, ban_of(step.type), options_.limits);
    if (!other) return reason;
    // A schedule without the step is a schedule of the problem, so the answer's bound also bounds it.
    (void)checked_bound(answer_.bound, other->objective);
    reason.gain = answer_.objective - other->objective;
    if (other->bound) reason.gain_slack = std::max(0.0, *other->bound - other->objective);
    reason.objective_instead = other->objective;
    reason.instead = steps_of_gpu(problem_, step.gpu, other->changes);
    std::erase_if(reason.instead, [](const Step& each) { return each.type == StepType::kKeep; });
    if (other->better && other->objective > best_objective_) {
      best_objective_ = other->objective;
      best_other_ = std::move(other->better);
    }
    return reason;
  }

  /// Drops the reasons beyond the wanted number.
  void keep_largest() {
    std::vector<std::size_t> computed;
    std::ranges::copy_if(order_, std::back_inserter(computed),
                         [&](std::size_t i) { return reasons_.steps[i].reason.has_value(); });
    sort_stably(computed, [&](std::size_t i) { return gain_of(i); }, std::greater<>());
    reasons_.computed = std::min(computed.size(), options_.count);
    for (std::size_t k = reasons_.computed; k < computed.size(); ++k) reasons_.steps[computed[k]].reason.reset();
  }

  const Problem& problem_;
  const Answer& answer_;
  const ReasonOptions& options_;
  WhatIfs what_ifs_;
  Reasons reasons_;
  std::vector<std::size_t> order_;  ///< steps that change something, the most promising first
  std::vector<double> largest_;     ///< the largest gains, a heap
  std::optional<Schedule> best_other_;
  double best_objective_ = -std::numeric_limits<double>::infinity();
};

}  // namespace

Ban ban_of(StepType type) {
  ENSURE(type != StepType::kKeep);
  if (type == StepType::kDestroy) return Ban::kDestroy;
  return type == StepType::kCreate ? Ban::kAnyBegin : Ban::kBegin;
}

std::vector<Step> steps_of(const Problem& problem, const Schedule& schedule) {
  std::vector<Step> steps;
  for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
    const std::vector<Step> own = steps_of_gpu(problem, gpu, schedule.gpus[static_cast<std::size_t>(gpu)]);
    steps.insert(steps.end(), own.begin(), own.end());
  }
  return steps;
}

Reasons reasons_of(const Problem& problem, const Answer& answer, const ReasonOptions& options) {
  return Reasoning(problem, answer, options).run();
}

}  // namespace berth::planner
