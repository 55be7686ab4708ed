/// Counts outcomes by age in little memory: exact for few of them, in wider time steps for many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace berth::edges::detail {

class AgeCounts {
 public:
  void add(std::int64_t wall_us);
  /// The earliest beginning of a step from which on there are at most `count_max` outcomes. INT64_MIN: there are no
  /// more in all.
  [[nodiscard]] std::int64_t cut_for(std::uint64_t count_max) const;

 private:
  [[nodiscard]] std::int64_t step_of(std::int64_t wall_us) const;
  void widen();

  std::map<std::int64_t, std::uint64_t> counts_;  ///< by the beginning of a step
  std::int64_t width_us_ = 1;
};

}  // namespace berth::edges::detail
