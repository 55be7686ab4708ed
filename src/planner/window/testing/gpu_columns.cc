#include "planner/window/testing/gpu_columns.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::planner::testing {
namespace {

/// Beginnings are integral whenever the rest is; the library's cuts are better if it knows that.
constexpr bool kAreBeginsIntegers = true;

}  // namespace

void PieceColumns::add_step(double price, ProgramBuilder& program) {
  present_.push_back(program.add_column({.is_integer = true}));
  for (const BeginWay way : kBeginWays) {
    const double gain = way == BeginWay::kOnSlice ? 0 : -price;
    if (begins_in(way)) begins_[way].push_back(program.add_column({.gain = gain, .is_integer = kAreBeginsIntegers}));
  }
}

LinearSum PieceColumns::present(std::size_t step) const {
  if (step == 0) return constant_sum(terms_.ready_in ? 1 : 0);
  return column_sum(present_column(step));
}

int PieceColumns::present_column(std::size_t step) const {
  ENSURE(step >= 1 && step <= present_.size());
  return present_[step - 1];
}

LinearSum PieceColumns::begins(std::size_t step) const {
  LinearSum sum;
  for (const BeginWay way : kBeginWays) {
    if (begins_in(way)) sum.add(1, begin_column(way, step));
  }
  return sum;
}

int PieceColumns::begin_column(BeginWay way, std::size_t step) const {
  ENSURE(begins_in(way));
  ENSURE(step >= 1 && step <= begins_[way].size());
  return begins_[way][step - 1];
}

GpuColumns::GpuColumns(const Problem& problem, GpuIndex gpu, ProgramBuilder& program)
    : slots_(problem.slots),
      change_slots_(change_slots_of(problem, gpu)),
      cliques_(cliques_of(model_of(problem, gpu))) {
  for (const CandidatePiece& candidate : candidate_pieces_of(problem, gpu)) pieces_.emplace_back(candidate);
  for (std::size_t k = 1; k <= step_count(); ++k) {
    changes_.push_back(program.add_column({.is_integer = true}));
    for (PieceColumns& candidate : pieces_) candidate.add_step(problem.change_price, program);
  }
}

SlotIndex GpuColumns::slot_of(std::size_t step) const {
  ENSURE(step >= 1 && step <= step_count());
  return change_slots_[step - 1];
}

std::size_t GpuColumns::step_at(SlotIndex slot) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(change_slots_, slot) - change_slots_.begin());
}

bool GpuColumns::may_change_in(SlotIndex slot) const { return std::ranges::binary_search(change_slots_, slot); }

int GpuColumns::change_column(std::size_t step) const {
  ENSURE(step >= 1 && step <= step_count());
  return changes_[step - 1];
}

LinearSum GpuColumns::warming(const PieceColumns& candidate, SlotIndex slot, std::size_t step_end) const {
  LinearSum sum;
  for (const BeginWay way : kBeginWays) {
    if (!candidate.begins_in(way)) continue;
    const int delay = *candidate.terms().delays[way];
    for (std::size_t k = 1; k < step_end; ++k) {
      if (slot_of(k) + delay > slot) sum.add(1, candidate.begin_column(way, k));
    }
  }
  return sum;
}

LinearSum GpuColumns::ready(const PieceColumns& candidate, SlotIndex slot) const {
  const std::size_t step = step_at(slot);
  const bool is_tail = slot >= slots_;
  if (!is_tail && slot < candidate.terms().ready_in.value_or(0)) return {};
  LinearSum sum = candidate.present(step);
  if (!is_tail) sum.add(-1, warming(candidate, slot, step + 1));
  return sum;
}

SlotIndex GpuColumns::first_ready(const PieceColumns& candidate) const {
  if (candidate.terms().ready_in) return SlotIndex(*candidate.terms().ready_in);
  if (change_slots_.empty()) return SlotIndex(slots_);
  int delay = slots_;
  for (const BeginWay way : kBeginWays) delay = std::min(delay, candidate.terms().delays[way].value_or(slots_));
  return change_slots_.front() + delay;
}

}  // namespace berth::planner::testing
