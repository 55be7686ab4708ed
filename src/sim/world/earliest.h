/// The earliest of many times that change one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace berth::sim {

/// A tree of minima over the times of places 0, 1, ..: a change costs O(log places), the earliest time O(1), its place
/// O(log places).
class Earliest {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  /// One more place, whose time is kNever.
  void add_place() {
    if (++place_count_ <= leaf_count()) return;
    std::vector<std::int64_t> leaves(minima_.begin() + static_cast<std::ptrdiff_t>(leaf_count()), minima_.end());
    minima_.assign(4 * leaf_count(), kNever);
    for (std::size_t place = 0; place < leaves.size(); ++place) set(place, leaves[place]);
  }
  /// Requires: place < places.
  void set(std::size_t place, std::int64_t at_us) {
    std::size_t node = leaf_count() + place;
    minima_[node] = at_us;
    while (node > 1) {
      node /= 2;
      const std::int64_t least = std::min(minima_[2 * node], minima_[2 * node + 1]);
      if (minima_[node] == least) return;
      minima_[node] = least;
    }
  }
  [[nodiscard]] std::int64_t at_us() const { return minima_[1]; }
  /// The lowest place with that time. Requires: there is a place.
  [[nodiscard]] std::size_t place() const {
    std::size_t node = 1;
    while (node < leaf_count()) node = minima_[2 * node] == minima_[1] ? 2 * node : 2 * node + 1;
    return node - leaf_count();
  }

 private:
  [[nodiscard]] std::size_t leaf_count() const { return minima_.size() / 2; }

  std::size_t place_count_ = 0;
  std::vector<std::int64_t> minima_ = {kNever, kNever};  ///< a heap-ordered tree; node i has children 2i and 2i + 1
};

}  // namespace berth::sim
