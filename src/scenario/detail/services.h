/// The list of services.
#pragma once

#include <vector>

#include "domain/scenario.h"
#include "scenario/detail/sources.h"
#include "yaml/reader.h"

namespace berth::scenario::detail {

/// The services of the list's items, no two of one name. Requires: the scenario's fleet is read.
[[nodiscard]] std::vector<ServiceSpec> read_services(const std::vector<yaml::Value>& items, const Scenario& scenario,
                                                     Sources& sources);

}  // namespace berth::scenario::detail
