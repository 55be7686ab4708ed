/// The list of services.
#pragma once

#include <vector>

#include "domain/scenario.h"
#include "scenario/detail/sources.h"
#include "yaml/reader.h"

namespace berth::scenario::detail {

/// Requires: the scenario's fleet is read.
[[nodiscard]] std::vector<ServiceSpec> read_services(const yaml::Value& value, const Scenario& scenario,
                                                     Sources& sources);

}  // namespace berth::scenario::detail
