/// The published measurements of training jobs: Gavel's, Sia's and MISO's. Errors are FILE:LINE:COLUMN, wanted, found:
/// a number out of range, a repeated row. A rate or time of 0 is no row. Requires: `tiers` have different names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

/// Gavel's JSON: steps per second by tier, by job and scale factor, by what runs beside it. Read are the entries `null`
/// (nothing runs beside it) of scale factor 1. A job is named `MODEL (batch size N)`; without that its batch is 1.
[[nodiscard]] Result<TierTable> read_gavel(std::string_view text, std::string_view file,
                                           const std::vector<Tier>& tiers);

/// MISO's csv `model,batch,mig_slice,median_s_per_iter,...`; the tier is the first two characters of the slice.
[[nodiscard]] Result<TierTable> read_miso(std::string_view text, std::string_view file, const std::vector<Tier>& tiers);

/// A file `traces/APP/placements-TIER.csv` of Sia's.
struct SiaFile {
  std::string app;
  std::string tier;
  std::string file;  ///< for messages
  std::string text;
};

/// Sia's csv `placement,local_bsz,step_time,...` in any order of the columns; rows with placement 1. For each app and
/// each batch measured on any tier there is a workload; on a tier it has the batch of the tier that is nearest by its
/// logarithm, if that differs by less than 0.09 (the smaller of two at the same distance). O(batches^2) per app.
[[nodiscard]] Result<TierTable> read_sia(const std::vector<SiaFile>& files, const std::vector<Tier>& tiers);

}  // namespace berth::tier
