#include "planner/one_gpu/detail/gpu_case.h"

#include <algorithm>
#include <cmath>

#include "base/core/ensure.h"

namespace berth::planner {

int slots_of_seconds(double seconds) { return static_cast<int>(std::floor(seconds + 0.5 + 1e-9)); }

GpuCase::GpuCase(const Problem& whole)
    : problem(whole), model(whole.models[whole.gpus.front().model]), gpu(whole.gpus.front()), rooms(model) {
  ENSURE(whole.gpus.size() == 1);
  first_slot = gpu.free_from;
  for (const StandingPiece& standing : gpu.standing) first_slot = std::max(first_slot, SlotIndex(standing.ready_in));
  first_slot = std::min(first_slot, end());
  retraining_start_slots = slots_of_seconds(whole.plumbing_seconds);
  served.reserve(whole.services.size());
  bundles.reserve(whole.services.size());
  for (const ServiceIndex service : indices_of<ServiceIndex>(whole.services)) {
    const ServiceTerms& terms = whole.services[service];
    served.emplace_back(whole, service);
    bundles.push_back(make_bundles(model, rooms, terms, service, served.back()));
    start_slots.push_back(slots_of_seconds(whole.plumbing_seconds + terms.start_seconds));
  }
  for (const ServiceIndex service : indices_of<ServiceIndex>(whole.services)) {
    const ServiceTerms& terms = whole.services[service];
    const bool waits = terms.retraining && (terms.retraining->swap_slots > 0 || terms.retraining->fresh_in > 0);
    const bool loses = std::ranges::any_of(
        terms.variants, [](const VariantTerms& variant) { return variant.accuracy_after < variant.accuracy_before; });
    loses_by_swap.push_back(waits && loses ? 1 : 0);
    const bool prefers_unfinished =
        terms.retraining && terms.retraining->progress_value > terms.retraining->fresh_value;
    const bool keeps = terms.retraining && terms.retraining->keeps_unfinished && !terms.retraining->due_slots.empty();
    loses_by_done.push_back(loses || prefers_unfinished || keeps ? 1 : 0);
    for (const KindIndex kind : Indices<KindIndex>(rooms.kinds())) {
      const double slots = model.rates[kind][service].retraining_slots;
      progress_rates.push_back(may_be_stale(terms) && !terms.retrains_elsewhere && slots > 0 ? 1 / slots : 0);
    }
  }
  standing_progress.resize(whole.services.size());
  for (const StandingPiece& standing : gpu.standing) {
    const Piece& piece = standing.piece;
    if (piece.service == kNoService || piece.use != kRetraining) continue;
    const double slots = model.rates[model.sites[piece.site].kind][piece.service].retraining_slots;
    if (whole.services[piece.service].retrains_elsewhere && slots > 0) {
      standing_progress[piece.service] += 1 / slots;
    }
  }
}

bool GpuCase::is_due_within(ServiceIndex service, SlotIndex after, SlotIndex until) const {
  const std::optional<RetrainingTerms>& retraining = problem.services[service].retraining;
  if (!retraining) return false;
  const auto due = std::ranges::upper_bound(retraining->due_slots, after);
  return due != retraining->due_slots.end() && *due <= until;
}

double GpuCase::outside_progress(ServiceIndex service, SlotIndex slot) const {
  const std::vector<double>& outside = problem.services[service].outside_progress;
  return (outside.empty() ? 0 : outside[slot]) + standing_progress[service];
}

bool GpuCase::keeps_floor(ServiceIndex service, double rate) const {
  const ServiceTerms& terms = problem.services[service];
  // The tolerance of check.h.
  return !has_rate_floor(terms) || rate + terms.outside_floor_rate >= terms.floor_rate * (1 - 1e-9);
}

}  // namespace berth::planner
