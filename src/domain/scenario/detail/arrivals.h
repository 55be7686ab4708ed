/// A service's `arrivals:`, with the trace that it names.
#pragma once

#include "base/yaml/reader.h"
#include "domain/scenario/detail/sources.h"
#include "domain/values/arrivals.h"

namespace berth::scenario::detail {

[[nodiscard]] Arrivals read_arrivals(const yaml::Value& value, Sources& sources);

}  // namespace berth::scenario::detail
