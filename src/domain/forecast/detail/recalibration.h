/// Learns how the levels of a forecast differ from the counts that followed, and corrects them.
#pragma once

#include <array>
#include <cstddef>

#include "domain/forecast/detail/grid.h"

namespace berth::forecast::detail {

/// The bins of the histogram below end at the grid's levels, at three more points between each two, and at 0 and 1.
inline constexpr std::size_t kBinsBetweenLevels = 4;
inline constexpr std::size_t kBinCount = (kGridLevels.size() + 1) * kBinsBetweenLevels;

/// A fading histogram of where counts fell in the distributions forecast for them (the probability integral transform;
/// a count owns an interval of it, and its weight is spread evenly over that interval). A forecast whose levels are
/// correct has a flat histogram; this one begins flat.
class Recalibration {
 public:
  /// Remembers about the later half of the first `memory` judgements, then about the last `memory`. Requires: memory >=
  /// 1, prior_weight > 0.
  Recalibration(double memory, double prior_weight);

  /// The count that followed a forecast made with `spread`, before any recalibration.
  void learn(const Spread& spread, double count);
  /// The spread with its levels corrected.
  [[nodiscard]] Spread applied_to(const Spread& spread) const;

  /// The histogram, which is flat in many situations. The positions are derived from it.
  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.learned_);
    if (self.learned_ == 0) return;
    archive(self.weight_, self.mass_, self.total_);
    if constexpr (Archive::kReads) self.place_levels();
  }

 private:
  /// The current position of a level: between two of the grid's levels, or beyond the last one by their spacing.
  struct LevelPosition {
    std::size_t above = 1;
    double part = 0;
  };
  void place_levels();

  double memory_;
  double learned_ = 0;
  double weight_ = 1;  ///< of the next judgement: newer ones weigh more, instead of older ones less
  std::array<double, kBinCount> mass_{};
  double total_ = 0;
  std::array<LevelPosition, kGridLevels.size()> positions_{};
};

}  // namespace berth::forecast::detail
