/// Runs of `berth profile` for programs.
#pragma once

#include <string>

#include "base/json/writer.h"
#include "domain/values/profile_run.h"

namespace berth::cli {

/// An object with all that is known of the run; null for what is not. A point that does not fit has no times.
void write_profile_run(json::Writer& out, const ProfileRun& run);

/// `{"berth":1,"database":PATH,"run":{...}}`.
[[nodiscard]] std::string profile_json(const ProfileRun& run, const std::string& database);

}  // namespace berth::cli
