/// States of GPUs as the mig verbs show them.
#pragma once

#include <string>
#include <vector>

#include "base/core/result.h"
#include "base/json/writer.h"
#include "domain/mig/geometry.h"
#include "domain/values/gpu.h"

namespace berth::cli {

/// The model that --gpu names; the error names the option.
[[nodiscard]] Result<GpuModel> gpu_option(const std::string& name);

/// Writes [{"profile":"1g.10gb","start":0},...].
void write_state(json::Writer& json, const GpuModel& model, const mig::State& state);

/// A character for each unit: the number of compute slices where an instance begins, - where it continues, . where
/// there is none: "1...3---". A GPU that is not partitioned is "full".
[[nodiscard]] std::string unit_strip(const GpuModel& model, const mig::State& state);

/// The rows `aligned` (text_table.h), each followed by a left-aligned text. Requires: as many texts as rows.
[[nodiscard]] std::string with_last_column(const std::vector<std::vector<std::string>>& rows,
                                           const std::vector<std::string>& texts);

}  // namespace berth::cli
