/// A periodic load: the factor of each part of a period, relative to the period's mean.
#pragma once

#include <cstdint>
#include <vector>

#include "purchase/scale/detail/recent_sums.h"

namespace berth::scale::detail {

/// The period and the length of its parts, in seconds. Requires: the period is a multiple of the part.
struct SeasonShape {
  std::int64_t period = 0;
  std::int64_t part = 0;

  [[nodiscard]] std::size_t part_count() const { return static_cast<std::size_t>(period / part); }
  /// The part that a second is in; periods begin at second 0 of the run.
  [[nodiscard]] std::size_t part_of(std::int64_t second) const {
    const std::int64_t phase = second % period;
    return static_cast<std::size_t>((phase < 0 ? phase + period : phase) / part);
  }
};

/// Learns the factor of each part. All are 1 until a whole period is known.
class Season {
 public:
  explicit Season(SeasonShape shape) : shape_(shape), parts_(shape.part_count()) {}

  [[nodiscard]] const SeasonShape& shape() const { return shape_; }
  /// Learns from the second before sums.next(). Requires: called after each second.
  void observe(const RecentSums& sums);
  /// The factor of a second.
  [[nodiscard]] double factor(std::int64_t second) const { return parts_[shape_.part_of(second)].factor; }
  /// The mean factor of [from, to).
  [[nodiscard]] double mean_factor(std::int64_t from, std::int64_t to) const;

 private:
  struct Part {
    double factor = 1;
    double periods = 0;  ///< learned from
  };

  SeasonShape shape_;
  std::vector<Part> parts_;
};

}  // namespace berth::scale::detail
