/// A service's measured tables: `profile:` and the training times of `retraining.seconds_on`.
#pragma once

#include <map>

#include "base/core/instant.h"
#include "base/yaml/reader.h"
#include "domain/scenario/detail/sources.h"
#include "domain/values/performance.h"

namespace berth::scenario::detail {

/// `{format: parvagpu, path}` or `{format: csv, path, model}`; without files `{format: csv, model, rows}`.
[[nodiscard]] PerformanceTable read_profile(const yaml::Value& value, Sources& sources);

/// `{1g: 180, .., full: 40}` or `{format: miso, path, model, batch, seconds_7g}`, by compute slices; 0 is `full`.
/// Without files only the former.
[[nodiscard]] std::map<int, Micros> read_seconds_on(const yaml::Value& value, Sources& sources);

}  // namespace berth::scenario::detail
