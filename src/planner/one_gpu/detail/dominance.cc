#include "planner/one_gpu/detail/dominance.h"

#include <algorithm>

namespace berth::planner {

Dominance::Dominance(const GpuCase& gpu_case, const Labels& labels) : case_(gpu_case), labels_(labels) {
  const auto helps = [](const VariantTerms& variant) { return variant.accuracy_after >= variant.accuracy_before; };
  for (const ServiceTerms& terms : gpu_case.problem.services) {
    after_helps_.push_back(std::ranges::all_of(terms.variants, helps) ? 1 : 0);
  }
}

bool Dominance::covers(const Label& a, const Label& b, SlotIndex t) const {
  double lead = a.value - b.value;
  for (const ServiceIndex service : indices_of<ServiceIndex>(after_helps_)) {
    if (!labels_.retrains(service)) continue;
    const std::optional<double> needed =
        lead_needed(labels_.state_of(a, service), labels_.state_of(b, service), service, t);
    if (!needed) return false;
    lead -= *needed;
  }
  return lead >= 0 && !labels_.has_changed_more(a, b);
}

/// The lead in value that a label needs to be no worse than another with a different state of a service; nothing if it
/// is not known.
std::optional<double> Dominance::lead_needed(const ModelState& a, const ModelState& b, ServiceIndex service,
                                             SlotIndex t) const {
  if (a == b) return 0;
  const RetrainingTerms& terms = *case_.problem.services[service].retraining;
  if (after_helps_[service] == 0) return std::nullopt;
  const bool is_due_later = !terms.due_slots.empty() && terms.due_slots.back() > t;
  // At a due slot unfinished progress that is kept is worth more than a fresh model.
  if (is_due_later && terms.keeps_unfinished) return std::nullopt;
  const double lead = is_due_later ? 0 : std::max(0.0, terms.progress_value);
  if (!a.is_stale) return lead;
  if (a.is_done) {
    if (b.is_open() || (b.is_done && b.fresh_from >= a.fresh_from)) return lead;
    return std::nullopt;
  }
  if (b.is_open() && a.progress >= b.progress) return lead;
  return std::nullopt;
}

}  // namespace berth::planner
