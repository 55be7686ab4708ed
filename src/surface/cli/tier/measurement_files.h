/// The files of measurements on tiers that the verbs read.
#pragma once

#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "tier/readers/tier_source.h"
#include "tier/values/tier_table.h"

namespace berth::cli {

/// The tiers of that file; without one (an empty path) those of the source. Requires: a path, or a source with tiers.
[[nodiscard]] Result<std::vector<tier::Tier>> tiers_to_read(tier::TierSource source, const std::string& tiers_path,
                                                            const Files& files);

/// Reads what a source publishes, with these tiers; rows of others are counted. `path` is the file, or the folder that
/// has it: of gavel and miso the folder of the file, of sia that of `traces` or `traces` itself, of parvagpu that of
/// `prof_data` or `prof_data` itself.
[[nodiscard]] Result<tier::TierTable> read_measurements(tier::TierSource source, const std::string& path,
                                                        const std::vector<tier::Tier>& tiers, const Files& files);

}  // namespace berth::cli
