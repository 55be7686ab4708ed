/// Profiles as JSON, for programs.
#pragma once

#include <span>

#include "base/json/value.h"
#include "domain/profile_book/in_force.h"
#include "domain/values/profile_run.h"

namespace berth::cli {

/// A model with its places and points. What is not known is null.
[[nodiscard]] json::Value model_json(const profile_book::ModelInForce& model);

/// A run with all its points.
[[nodiscard]] json::Value run_json(const ProfileRun& run);

}  // namespace berth::cli
