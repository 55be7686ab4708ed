/// ParvaGPU's published profiles of inference on MIG slices.
#pragma once

#include <string>
#include <vector>

#include "base/core/result.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

/// A file `prof_data/MODEL.csv`.
struct ParvagpuFile {
  std::string model;
  std::string file;  ///< for messages
  std::string text;
};

/// `Mig instance,Batch size,Workload Number,Throughput,Latency`: throughput is per process, latency in seconds. Rows
/// with more than three processes are not used; where both figures are 0, nothing was measured. Errors are
/// FILE:LINE:COLUMN, wanted, found. Requires: `tiers` and models have different names.
[[nodiscard]] Result<TierTable> read_parvagpu(const std::vector<ParvagpuFile>& files, const std::vector<Tier>& tiers);

}  // namespace berth::tier
