/// What is worth having loaded in the next minute: at a price of cold starts, or in a memory that is too small for all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::warm {

/// Whether to be loaded in a minute costs less than not to be: the minute is idle with probability 1 - p, and an
/// invocation would be a cold start with probability p. `cold_minutes`: the idle minutes that a cold start is worth.
[[nodiscard]] constexpr bool is_worth_loading(double probability, double cold_minutes) {
  return probability * cold_minutes > 1 - probability;
}

/// What a cold start counts where apps count alike: more, the fewer invocations the app has had. Requires: positive.
[[nodiscard]] double weight_of_app(std::int64_t invocations_so_far);

/// Something that may be loaded. `value`: what having it is expected to save, at least 0.
struct Loadable {
  std::size_t key = 0;
  double value = 0;
  std::int64_t size = 1;  ///< positive
};

/// The most valuable ones per unit of size that fit into `room` together, in that order: one that does not fit is left
/// out, and those after it are tried. Ties: the smaller key. Loses little where sizes are small against the room.
/// O(n log n).
[[nodiscard]] std::vector<std::size_t> most_valuable(std::span<const Loadable> candidates, std::int64_t room);

}  // namespace berth::warm
