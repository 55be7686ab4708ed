/// A service's `arrivals:`, with the trace that it names.
#pragma once

#include "domain/arrivals.h"
#include "scenario/detail/sources.h"
#include "yaml/reader.h"

namespace berth::scenario::detail {

[[nodiscard]] Arrivals read_arrivals(const yaml::Value& value, Sources& sources);

}  // namespace berth::scenario::detail
