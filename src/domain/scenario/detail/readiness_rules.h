/// The keys of a service that say how soon it answers after a time without load (domain/values/readiness.h).
#pragma once

#include "base/core/instant.h"
#include "base/yaml/reader.h"
#include "domain/values/scenario.h"

namespace berth::scenario::detail {

/// `start_seconds: {runtime, model}`.
struct StartParts {
  Micros runtime;
  Micros model;
};
/// Requires: a map.
[[nodiscard]] StartParts read_start_parts(const yaml::Value& start);

/// `warm_pool`, `answer_seconds`, and the model's part of `start_seconds`, of a service whose other fields are read.
/// Requires: the scenario's fleet is read.
[[nodiscard]] Readiness read_readiness(const yaml::Value& service, const Scenario& scenario, const ServiceSpec& spec);

}  // namespace berth::scenario::detail
