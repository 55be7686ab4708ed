/// The placement that the driver chooses if the caller names none.
#pragma once

#include <optional>
#include <vector>

#include "domain/mig/geometry.h"
#include "domain/values/gpu.h"

namespace berth::nvml_sim {

/// Placements of a profile that could be added to the instances on a GPU, by start. Instances share the engines of the
/// GPU, and no engine is given twice: next to `+me.all` only `-me` fits.
[[nodiscard]] std::vector<mig::Placement> fitting_placements(const GpuModel& model, const mig::State& state,
                                                             ProfileId profile, bool is_before_r510);

/// Of the placements that fit, the one that blocks the fewest placements of any profile; ties: the lowest. Nothing:
/// none fits. This rule reproduces every sequence that NVIDIA's guide lists for the A100; other models are unverified.
[[nodiscard]] std::optional<mig::Placement> chosen_placement(const GpuModel& model, const mig::State& state,
                                                             ProfileId profile, bool is_before_r510);

}  // namespace berth::nvml_sim
