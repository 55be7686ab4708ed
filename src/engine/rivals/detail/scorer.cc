#include "engine/rivals/detail/scorer.h"

#include <algorithm>

namespace berth::partition::detail {

std::vector<std::vector<Slice>> slices_by_service(const FleetView& fleet, const FleetPlan& plan) {
  std::vector<std::vector<Slice>> slices(fleet.service_count);
  for (const Holding& holding : layout_of(fleet, plan)) slices[holding.services.front().index].push_back(holding.slice);
  return slices;
}

bool Scorer::is_starved(const std::vector<Slice>& slices) const {
  return search_.serves_every_service && slices.empty();
}

Scorer::Key Scorer::key_of(int service, const std::vector<Slice>& slices) const {
  Key key = {service};
  for (const Slice& slice : slices) {
    key.push_back(fleet_.model_of[slice.gpu.index] * (UINT16_MAX + 1) + slice.profile.index);
  }
  return key;
}

bool Scorer::is_unknown(int service, const std::vector<Slice>& slices) const {
  return !is_starved(slices) && !services_.contains(key_of(service, slices));
}

std::optional<Worth> Scorer::service_worth(int service, const std::vector<Slice>& slices) {
  if (is_starved(slices)) return Worth{1, 0, 0};
  const Key key = key_of(service, slices);
  auto found = services_.find(key);
  if (found == services_.end()) {
    if (evaluations_left() <= 0) return std::nullopt;
    ++evaluations_;
    const double score = search_.score_service({static_cast<std::uint32_t>(service)}, slices);
    found = services_.emplace(key, search_.weights[service] * score).first;
  }
  return Worth{0, found->second, static_cast<int>(slices.size())};
}

std::optional<Worth> Scorer::plan_worth(const FleetPlan& plan) {
  pieces_tried_ += std::max(fleet_.gpu_count(), owned_count(plan));
  Worth total;
  Key key;
  const auto slices = slices_by_service(fleet_, plan);
  for (int service = 0; service < fleet_.service_count; ++service) {
    total.owned += static_cast<int>(slices[service].size());
    total.uncovered += is_starved(slices[service]) ? 1 : 0;
  }
  if (search_.is_separable) {
    // Summed from the last service on, as in best_assignment: equal plans have bitwise equal sums.
    for (int service = fleet_.service_count; service-- > 0;) {
      const auto worth = service_worth(service, slices[service]);
      if (!worth) return std::nullopt;
      total.value = worth->value + total.value;
    }
    return total;
  }
  for (int gpu = 0; gpu < fleet_.gpu_count(); ++gpu) {
    key.push_back(plan[gpu].partition);
    key.insert(key.end(), plan[gpu].owners.begin(), plan[gpu].owners.end());
  }
  auto found = layouts_.find(key);
  if (found == layouts_.end()) {
    if (evaluations_left() <= 0) return std::nullopt;
    ++evaluations_;
    found = layouts_.emplace(key, search_.score_layout(layout_of(fleet_, plan))).first;
  }
  total.value = found->second;
  return total;
}

}  // namespace berth::partition::detail
