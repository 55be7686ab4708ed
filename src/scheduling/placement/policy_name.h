/// The policies of a placement, by name.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace berth::placement {

enum class Policy { kRandom, kDotProduct, kBestFit, kPacking, kClustering, kFgd, kBerth, kFirst, kBest };

/// The name of a policy, such as "dot-product".
[[nodiscard]] std::string_view name_of(Policy policy);

/// The policies that can be compared, in the order of the output: all seven, or `first`, `best` and `berth` if GPUs can
/// be partitioned; without `random` if nothing is random.
[[nodiscard]] std::span<const Policy> policies_for(bool has_cuts, bool is_seeded);

}  // namespace berth::placement
