#include "domain/scenario/service_object.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "domain/scenario/detail/readiness_rules.h"
#include "domain/scenario/detail/running_rules.h"
#include "domain/scenario/detail/services.h"
#include "domain/scenario/detail/tier_rules.h"

namespace berth::scenario {

namespace {

detail::Occupied occupied_by(std::span<const Pin> pins) {
  detail::Occupied pinned;
  for (const Pin& pin : pins) pinned[pin.slice.gpu].push_back({pin.slice.start, pin.slice.profile});
  for (auto& [gpu, state] : pinned) std::ranges::sort(state);
  return pinned;
}

}  // namespace

ServiceSpec read_service_object(const yaml::Value& spec, const Scenario& scenario,
                                std::span<const Pin> pins_of_others) {
  detail::Occupied pinned = occupied_by(pins_of_others);
  detail::Sources none;
  return detail::read_unnamed_service(spec, scenario, none, pinned);
}

ServiceSpec read_accepted_service_object(const yaml::Value& spec, const Scenario& scenario) {
  detail::Occupied pinned;
  detail::Sources none;
  none.table_rows_max = std::numeric_limits<std::int64_t>::max();
  none.variants_max = std::numeric_limits<std::int64_t>::max();
  return detail::read_unnamed_service(spec, scenario, none, pinned);
}

TierRule read_accepted_tier_rule(const yaml::Value& spec, const Scenario& scenario, const ServiceSpec& rest) {
  return detail::read_tier_rule(spec, scenario, rest);
}

Running read_accepted_running(const yaml::Value& spec) { return detail::read_running(spec); }

Readiness read_accepted_readiness(const yaml::Value& spec, const Scenario& scenario, const ServiceSpec& rest) {
  return detail::read_readiness(spec, scenario, rest);
}

ServiceObject read_service_object(const yaml::Value& spec, const Scenario& scenario,
                                  std::span<const Pin> pins_of_others, const FindBlobRows& find_rows) {
  detail::Occupied pinned = occupied_by(pins_of_others);
  detail::Sources sources(spec.path(), find_rows);
  ServiceObject object;
  object.spec = detail::read_unnamed_service(spec, scenario, sources, pinned);
  object.blobs = sources.blobs();
  object.excessive = std::move(sources.excessive);
  return object;
}

}  // namespace berth::scenario
