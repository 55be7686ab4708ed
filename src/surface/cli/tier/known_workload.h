/// The workload that `berth tier predict` answers for, with what was measured of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "tier/values/tier_table.h"

namespace berth::cli {

/// From a csv of docs/reference/tier.md with the rows of one workload, or the one that `name` names as WORKLOAD or
/// GROUP/WORKLOAD. Errors: those of the reader; another kind than the target's; several workloads, or none of that
/// name. Requires: `tiers` are sorted by price.
[[nodiscard]] Result<tier::TierWorkload> read_known_workload(const std::string& path,
                                                             const std::optional<std::string>& name,
                                                             const std::vector<tier::Tier>& tiers, tier::TierKind kind,
                                                             const Files& files);

/// From a database of `berth profile`: the model of that name. Errors: those of the store; no such model; no point on
/// any of the tiers. Of jobs the fastest size counts.
[[nodiscard]] Result<tier::TierWorkload> read_profiled_workload(const std::string& db, const std::string& name,
                                                                const std::vector<tier::Tier>& tiers,
                                                                tier::TierKind kind);

}  // namespace berth::cli
