/// Which multisets of kinds of slices one GPU of a model can hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/window/problem.h"

namespace berth::planner {

/// A position in a table of several dimensions, from ints and indices known to be >= 0.
[[nodiscard]] constexpr std::size_t ix(int index) { return static_cast<std::size_t>(index); }

/// The number of a room, see Rooms.
using RoomIndex = Index<struct RoomTag>;
inline constexpr RoomIndex kNoRoom(-1);
/// Means no kind of slice.
inline constexpr KindIndex kNoKind(-1);
/// The empty room.
inline constexpr RoomIndex kEmptyRoom(0);

/// The multisets ("rooms") by number; 0 is the empty one, and a part of a room has a smaller number. Built by
/// enumerating all sets of sites that do not clash: a few hundred for today's GPUs.
class Rooms {
 public:
  explicit Rooms(const ModelTerms& model);

  [[nodiscard]] int count() const { return static_cast<int>(counts_.size() / ix(kinds_)); }
  [[nodiscard]] int kinds() const { return kinds_; }
  [[nodiscard]] int count_of(RoomIndex room, KindIndex kind) const { return counts_[ix(room) * ix(kinds_) + ix(kind)]; }
  /// The room with one more of a kind, or kNoRoom.
  [[nodiscard]] RoomIndex add(RoomIndex room, KindIndex kind) const { return add_[ix(room) * ix(kinds_) + ix(kind)]; }
  /// The union of two rooms, or kNoRoom. O(1) for up to kTableMax rooms, else O(kinds + pieces).
  [[nodiscard]] RoomIndex join(RoomIndex a, RoomIndex b) const {
    return joined_.empty() ? add_all(a, b) : joined_[ix(a) * ix(count()) + ix(b)];
  }
  /// Rooms to which nothing can be added.
  [[nodiscard]] const std::vector<RoomIndex>& maximal() const { return maximal_; }

 private:
  [[nodiscard]] RoomIndex add_all(RoomIndex a, RoomIndex b) const;
  static constexpr int kTableMax = 256;

  int kinds_;
  std::vector<std::uint8_t> counts_;  ///< [room x kinds + kind]
  std::vector<RoomIndex> add_;        ///< [room x kinds + kind]
  std::vector<RoomIndex> maximal_;
  std::vector<RoomIndex> joined_;  ///< [room x rooms + room]
};

}  // namespace berth::planner
