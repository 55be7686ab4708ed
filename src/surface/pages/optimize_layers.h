/// The parts of the page of `berth optimize` within a variant: the error of each layer, and the channels that are left.
#pragma once

#include <cstddef>
#include <string>

#include "models/optimize/findings.h"

namespace berth::report {

/// The maximum number of variants shown, and of rows of a table.
inline constexpr std::size_t kLayeredVariantsMax = 6;
inline constexpr std::size_t kLayerRowsMax = 5;
inline constexpr std::size_t kChannelRowsMax = 40;

/// For each variant with layers, the recommended one first: a bar for each, and a table of those with the largest
/// error. Empty: there is none.
[[nodiscard]] std::string layers_section(const models::Findings& findings);

/// The channels of each group before and after; variants that keep the same ones share a table. Empty: nothing was
/// pruned.
[[nodiscard]] std::string channels_section(const models::Findings& findings);

}  // namespace berth::report
