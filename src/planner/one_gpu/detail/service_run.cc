#include "planner/one_gpu/detail/service_run.h"

#include <algorithm>

namespace berth::planner {
namespace {

/// Progress this close to done counts as done soon: sums of single slots differ by rounding.
constexpr double kNearlyDone = kDone - 1e-6;

/// Whether nothing becomes due, done or fresh in (from, to].
bool is_quiet(const RetrainingTerms& terms, const ModelState& state, double progress, SlotIndex from, SlotIndex to) {
  if (state.is_done) return false;
  if (state.is_stale && state.progress + progress >= kNearlyDone) return false;
  const auto due = std::ranges::upper_bound(terms.due_slots, from);
  return due == terms.due_slots.end() || *due > to;
}

}  // namespace

double advance(const GpuCase& gpu_case, const ServiceRun& run, SlotIndex from, SlotIndex to, ModelState& state) {
  const ServiceTerms& terms = gpu_case.problem.services[run.service];
  const Served& served = gpu_case.served[run.service];
  const LevelIndex level = gpu_case.bundles[run.service].level[run.bundle];
  if (!terms.retraining) return served.value(level, true, from, to);
  const double progress = (to - from) * run.progress_rate;
  if (terms.outside_progress.empty() && is_quiet(*terms.retraining, state, progress, from, to)) {
    if (state.is_stale) state.progress += progress;
    return served.value(level, !state.is_stale, from, to);
  }
  double value = 0;
  for (SlotIndex t = from; t < to; ++t) {
    value += served.value(level, !state.is_stale, t, t + 1);
    if (state.is_open()) {
      const double outside = terms.outside_progress.empty() ? 0 : terms.outside_progress[t];
      state.progress += outside + run.progress_rate;
    }
    enter_slot(*terms.retraining, t + 1, state);
  }
  return value;
}

}  // namespace berth::planner
