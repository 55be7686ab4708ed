/// The gaps between the invoked minutes of one key: those seen, recent ones heavier, with the spread that they show.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "serving/warm/parameters.h"

namespace berth::warm {

/// How much of the remembered weight says that a gap ends after so many minutes, and how much that it has not ended
/// before.
struct GapWeights {
  double ends_now = 0;
  double not_before = 0;
};

/// The narrowest range that holds at least four fifths of the last gaps, in minutes; for reasons in words.
struct UsualGap {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::size_t inside = 0;
  std::size_t of = 0;

  friend bool operator==(const UsualGap&, const UsualGap&) = default;
};

/// Regular value without pointers. A remembered gap g stands for all gaps within its spread, with a weight that falls
/// linearly to both sides. The spread is kSpreads times the mean distance from a new gap to the nearest one seen
/// before, so it is 0 for a strict period, and wide for random times; it is at most half of g.
class GapMemory {
 public:
  /// Requires: minutes > 0. Beyond kGapMinutesMax, gaps count as that long.
  void add(std::int64_t minutes);
  /// O(different gaps). Requires: minutes > 0.
  [[nodiscard]] GapWeights at(std::int64_t minutes) const;

  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Requires: count() > 0.
  [[nodiscard]] std::int64_t last() const { return last_; }
  /// Nothing before the first gap.
  [[nodiscard]] std::optional<UsualGap> usual() const;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.gaps_, self.recent_, self.gap_count_, self.last_, self.count_, self.distance_sum_,
            self.distance_weight_);
    archive.require(self.gap_count_ <= kGapsMax && self.count_ >= 0);
  }

 private:
  struct WeighedGap {
    std::int32_t minutes = 0;
    float weight = 0;
  };

  [[nodiscard]] double spread() const;
  void observe_distance(std::int32_t minutes);
  void remember(std::int32_t minutes);

  std::array<WeighedGap, kGapsMax> gaps_{};
  std::array<std::int32_t, kRecentGapsMax> recent_{};  ///< a ring
  std::uint32_t gap_count_ = 0;                        ///< of `gaps_`
  std::int32_t last_ = 0;
  std::int64_t count_ = 0;
  double distance_sum_ = 0;  ///< decayed, with its weight
  double distance_weight_ = 0;
};

inline constexpr std::int64_t kGapMinutesMax = std::int64_t{1} << 20;

}  // namespace berth::warm
