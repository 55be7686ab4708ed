/// How long spot stays available or unavailable: learned during a run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::purchase {

/// Ages of a spell are divided into classes: the first tick, then up to half an hour, one hour, two, and so on.
inline constexpr std::size_t kAgeClasses = 8;
using ByAge = std::array<double, kAgeClasses>;

/// The classes of age for ticks of some length.
class AgeScale {
 public:
  /// Requires: tick_seconds > 0.
  explicit AgeScale(std::int64_t tick_seconds);

  /// The class of a spell that has lasted `age` ticks, this one included. Requires: age >= 1.
  [[nodiscard]] std::size_t class_of(std::int64_t age) const;
  /// How many ticks a class has; the last one has no end: 0.
  [[nodiscard]] std::int64_t width(std::size_t age_class) const { return widths_[age_class]; }
  /// A typical age in the class, in hours.
  [[nodiscard]] double typical_hours(std::size_t age_class) const;
  [[nodiscard]] double tick_hours() const { return tick_hours_; }

 private:
  std::array<std::int64_t, kAgeClasses> firsts_{};  ///< the age, less one, with which a class begins
  std::array<std::int64_t, kAgeClasses> widths_{};
  double tick_hours_ = 0;
};

/// The probability that a spell ends with its next tick, by the class of its age.
struct Hazards {
  ByAge away{};       ///< spot becomes available
  ByAge available{};  ///< spot becomes unavailable
};

/// Learns the hazards of one market tick by tick.
///
/// The model: a spell of age t hours ends at the rate h / (1 + t / s) per hour, so its length is Pareto II (Lomax)
/// distributed: most spells are short and old ones last. The initial rate h and the time s are unknown, separately for
/// spells of availability and of absence. Their prior is uniform over a grid of logarithms (docs/reference/purchase.md
/// says where it comes from); the estimate is the mean over the posterior, in which each tick counts half: successive
/// spells of a market are not independent. O(cells) per tick for the estimate; only counts are kept.
class SpellLearner {
 public:
  explicit SpellLearner(std::int64_t tick_seconds);

  /// The next tick, in order from the first one.
  void observe(bool is_available);

  /// The age of the current spell in ticks, this one included; 0 before the first tick.
  [[nodiscard]] std::int64_t age() const { return age_; }
  [[nodiscard]] const AgeScale& scale() const { return scale_; }
  [[nodiscard]] Hazards hazards() const;

 private:
  /// The ticks that spells of a kind have lasted, and how many of these were the last of a spell, by age.
  struct Counts {
    ByAge ticks{};
    ByAge ends{};
  };

  [[nodiscard]] ByAge estimate(const Counts& counts) const;

  AgeScale scale_;
  std::vector<ByAge> cells_;      ///< the hazards in each cell of the grid
  std::array<Counts, 2> counts_;  ///< of absence, of availability
  bool is_available_ = false;
  std::int64_t age_ = 0;
};

}  // namespace berth::purchase
