/// The keys of a service that say which program runs on its slices, and on how many (domain/values/running.h).
#pragma once

#include "base/yaml/reader.h"
#include "domain/values/running.h"

namespace berth::scenario::detail {

/// `run` and `replicas` of a service.
[[nodiscard]] Running read_running(const yaml::Value& service);

}  // namespace berth::scenario::detail
