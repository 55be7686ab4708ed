/// The parts of a GPU that a slice has.
#pragma once

#include <string_view>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "tier/hardware/gpu_figures.h"

namespace berth::tier {

/// Shares of one GPU, each above 0, at most 1.
struct SliceShare {
  Decimal compute = Decimal(1);  ///< of the compute slices: 1/7 for 1g
  Decimal memory = Decimal(1);   ///< of the placement units, which are parts of memory and bandwidth: 1/8 for 1g
  [[nodiscard]] Decimal larger() const { return compute < memory ? memory : compute; }
};

/// Of a profile of a model ("1g.10gb", "full"). Error: a profile that the model does not have.
[[nodiscard]] Result<SliceShare> slice_share(const GpuFigures& gpu, std::string_view profile);

/// Memory of a profile: the profile's own where it is known, else its share. Error as above.
[[nodiscard]] Result<Decimal> slice_memory_mib(const GpuFigures& gpu, std::string_view profile);

}  // namespace berth::tier
