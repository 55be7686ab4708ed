#include "serving/dispatch/preloads.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "serving/dispatch/victims.h"
#include "serving/dispatch/warm_demand.h"

namespace berth::serving {
namespace {

struct ValuedModel {
  ModelIndex index;
  double value = 0;
  double saved = 0;  ///< seconds
};

bool waits_for_load(const ServedModel& model) {
  if (model.load_asked_at || model.leaves_before) return true;
  return !model.queue.empty() && model.residency != Residency::kResident;
}

ValuedModel valued(const DeviceState& device, const WarmDemand& demand, ModelIndex index, Instant now) {
  const ModelTerms& terms = device.model(index).terms;
  return {.index = index, .value = demand.value(index, terms, now), .saved = demand.wait_saved(index, terms, now)};
}

/// `gain`: seconds that it saves. A load that it spares takes no time later, so only the rest of its own delays others.
bool is_worth_it(double gain, Micros load, double needed_per_second) {
  const double seconds = load.to_seconds();
  const double more_loading = std::max(seconds - gain, 0.0);
  return gain >= kPreloadGainMin * seconds + more_loading * needed_per_second * seconds / 2;
}

}  // namespace

std::optional<LoadDecision> choose_preload(const DeviceState& device, const WarmDemand& demand, Instant now) {
  if (device.load() || device.lanes_working() == 0) return std::nullopt;
  if (std::ranges::any_of(device.pending(), [&](ModelIndex index) { return waits_for_load(device.model(index)); })) {
    return std::nullopt;
  }
  const double needed = demand.needed_loads_per_second(now);
  std::vector<ValuedModel> cold;
  std::vector<ValuedModel> resident;
  for (const ModelIndex index : Indices<ModelIndex>(device.models().size())) {
    const ServedModel& model = device.model(index);
    if (model.residency == Residency::kResident) {
      resident.push_back(valued(device, demand, index, now));
    } else if (model.is_offered && device.may_load(index, now)) {
      const ValuedModel candidate = valued(device, demand, index, now);
      if (is_worth_it(candidate.saved, model.terms.load, needed)) cold.push_back(candidate);
    }
  }
  std::ranges::sort(cold, {}, [](const ValuedModel& each) { return std::tuple(-each.value, each.index); });
  std::ranges::sort(resident, {}, [](const ValuedModel& each) { return std::tuple(each.value, each.index); });
  for (const ValuedModel& candidate : cold) {
    std::vector<ModelIndex> order;
    for (const ValuedModel& each : resident) {
      if (each.value < candidate.value) order.push_back(each.index);
    }
    auto victims = victims_of(device, device.model(candidate.index).bytes_to_load(), order, now);
    if (!victims) continue;
    double gain = candidate.saved;
    for (const ModelIndex victim : *victims) gain -= valued(device, demand, victim, now).saved;
    if (!is_worth_it(gain, device.model(candidate.index).terms.load, needed)) continue;
    return LoadDecision{.victims = std::move(*victims), .leaving = {}, .load = candidate.index};
  }
  return std::nullopt;
}

}  // namespace berth::serving
