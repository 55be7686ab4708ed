#include "scenario/service_object.h"

#include <algorithm>

#include "scenario/detail/services.h"

namespace berth::scenario {

ServiceSpec read_service_object(const yaml::Value& spec, const Scenario& scenario,
                                std::span<const Pin> pins_of_others) {
  detail::Occupied pinned;
  for (const Pin& pin : pins_of_others) pinned[pin.slice.gpu].push_back({pin.slice.start, pin.slice.profile});
  for (auto& [gpu, state] : pinned) std::ranges::sort(state);
  return detail::read_unnamed_service(spec, scenario, pinned);
}

}  // namespace berth::scenario
