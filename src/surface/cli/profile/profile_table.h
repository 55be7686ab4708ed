/// A run of `berth profile` for people.
#pragma once

#include <string>

#include "domain/values/profile_run.h"

namespace berth::cli {

/// The model, the machine, a row per point, and remarks on what needs one.
[[nodiscard]] std::string profile_table(const ProfileRun& run, const std::string& database, bool has_colour);

}  // namespace berth::cli
