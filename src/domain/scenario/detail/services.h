/// The list of services.
#pragma once

#include <vector>

#include "base/yaml/reader.h"
#include "domain/scenario/detail/fleet.h"
#include "domain/scenario/detail/sources.h"
#include "domain/values/scenario.h"

namespace berth::scenario::detail {

/// The services of the list's items, no two of one name. Requires: the scenario's fleet is read.
[[nodiscard]] std::vector<ServiceSpec> read_services(const std::vector<yaml::Value>& items, const Scenario& scenario,
                                                     Sources& sources);

/// A service of an API: without name and tenant, with rows in place of paths, perhaps without arrivals. Its pins are
/// added to those of other services in `pinned`. Requires: the sources have no files.
[[nodiscard]] ServiceSpec read_unnamed_service(const yaml::Value& value, const Scenario& scenario, Sources& sources,
                                               Occupied& pinned);

}  // namespace berth::scenario::detail
