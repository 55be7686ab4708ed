/// How many requests of a service arrive close together, which limits the batches that can be answered in time.
///
/// A batch that takes `latency` answers in time only requests that arrived in the last `target` - latency before it was
/// taken. Arrivals are counted in bins; a window of w microseconds touches at most steps_of(w) + 1 of them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "planner/goodput_bound/detail/blocks.h"

namespace berth::bound::detail {

class Crowds {
 public:
  /// No limit is known.
  Crowds() = default;
  /// `offsets(second, out)`: microseconds of the requests of a second from its beginning. `bins_max`: the most bins of
  /// a target, > 0. O(requests + seconds x bins per second x bins per target).
  Crowds(Blocks blocks, std::int64_t window_seconds, std::int64_t target_us, int bins_max,
         const std::function<void(std::int64_t, std::vector<std::uint32_t>&)>& offsets);

  [[nodiscard]] bool is_known() const { return bin_us_ > 0; }
  /// Windows up to the target have 0 .. steps_max() steps.
  [[nodiscard]] int steps_max() const { return static_cast<int>(most_.size()) - 1; }
  /// Requires: 0 <= window_us <= target.
  [[nodiscard]] int steps_of(std::int64_t window_us) const {
    return static_cast<int>((window_us + bin_us_ - 1) / bin_us_);
  }
  /// The most requests in a window of this many steps, among the windows that end (the batch is taken) where its work
  /// may lie in the block.
  [[nodiscard]] std::int64_t most(int steps, int block) const {
    return most_[static_cast<std::size_t>(steps)][static_cast<std::size_t>(block)];
  }

 private:
  std::int64_t bin_us_ = 0;
  std::vector<std::vector<std::int64_t>> most_;  ///< [steps][block]
};

}  // namespace berth::bound::detail
