/// How a running engine predicts rows, as its configuration states it: among the recorded files of a world, so that a
/// world that continues decides as before.
#pragma once

#include <map>
#include <string>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "domain/values/scenario.h"
#include "live/folder/up_request.h"

namespace berth::live {

/// Names of recorded files that no scenario can have: `tier_sure` as text, and the content of `tier_model`.
inline constexpr const char* kTierSureFile = "berth:tier-sure";
inline constexpr const char* kTierModelFile = "berth:tier-model";

/// The files for what the request states; none if it states nothing. Error: the model's file cannot be read.
[[nodiscard]] Result<std::map<std::string, std::string>> tier_files(const UpRequest& request, const Files& files);

/// Replaces the scenario's settings by those of the files, if they are there. Error: damaged content.
[[nodiscard]] Result<void> put_tier_settings(Scenario& scenario, const std::map<std::string, std::string>& files);

}  // namespace berth::live
