/// Which multisets of kinds of slices one GPU of a model can hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "window/problem.h"

namespace berth::planner {

/// Index of a container by an int that is known not to be negative.
[[nodiscard]] constexpr std::size_t ix(int index) { return static_cast<std::size_t>(index); }

inline constexpr int kNoRoom = -1;

/// The multisets ("rooms") by number; 0 is the empty one, and a part of a room has a smaller number. Made by going
/// through all sets of sites that do not clash: some hundred for the GPUs of today.
class Rooms {
 public:
  explicit Rooms(const ModelTerms& model);

  [[nodiscard]] int count() const { return static_cast<int>(counts_.size() / ix(kinds_)); }
  [[nodiscard]] int kinds() const { return kinds_; }
  [[nodiscard]] int count_of(int room, int kind) const { return counts_[ix(room) * ix(kinds_) + ix(kind)]; }
  /// The room with one more of a kind, or kNoRoom.
  [[nodiscard]] int add(int room, int kind) const { return add_[ix(room) * ix(kinds_) + ix(kind)]; }
  /// The room of two rooms together, or kNoRoom. O(1) for up to kTableMax rooms, else O(kinds + pieces).
  [[nodiscard]] int join(int a, int b) const {
    return joined_.empty() ? add_all(a, b) : joined_[ix(a) * ix(count()) + ix(b)];
  }
  /// Rooms to which nothing can be added.
  [[nodiscard]] const std::vector<int>& maximal() const { return maximal_; }

 private:
  [[nodiscard]] int add_all(int a, int b) const;
  static constexpr int kTableMax = 256;

  int kinds_;
  std::vector<std::uint8_t> counts_;  ///< [room x kinds + kind]
  std::vector<int> add_;              ///< [room x kinds + kind]
  std::vector<int> maximal_;
  std::vector<int> joined_;  ///< [room x rooms + room]
};

}  // namespace berth::planner
