/// A forecaster's memory of the arrivals: levels over several spans of time, and profiles of the minute, the hour and
/// the day. About 40 KiB for any arrivals.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/core/archive.h"

namespace berth::forecast::detail {

/// How long the levels look back: time constants of exponential means, in seconds.
inline constexpr std::array<double, 6> kSpans = {4, 15, 60, 240, 960, 7200};
inline constexpr std::size_t kSpanCount = kSpans.size();

/// A season: its length, and the length of its slots.
struct Period {
  std::int64_t seconds = 1;
  std::int64_t slot_seconds = 1;
  double fade_min = 0;  ///< the smallest weight of a new cycle in the profile
};
/// The week has no entry: the table does not distinguish its days.
inline constexpr std::array<Period, 3> kPeriods = {{{60, 1, 0.05}, {3600, 10, 0.1}, {86'400, 30, 0.2}}};
inline constexpr std::size_t kPeriodCount = kPeriods.size();

/// The profile of one season: the mean requests per second by slot, over the cycles seen.
class Season {
 public:
  explicit Season(Period period);

  void observe(std::int64_t second, double requests);
  /// How far the profile at that second is above the profile's mean; 0 for a slot that was never seen completely.
  [[nodiscard]] double swing_at(std::int64_t second) const;
  /// The mean requests per second of the slot's last cycle, negative if it was never seen.
  [[nodiscard]] double last_at(std::int64_t second) const;

  /// Without the period, which does not change. Runs, because most slots of a day keep their initial values for a long
  /// time.
  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(runs_of(self.profile_), runs_of(self.last_), runs_of(self.cycles_), self.profile_sum_, self.seen_count_,
            self.open_slot_, self.open_sum_, self.open_count_);
  }

 private:
  [[nodiscard]] std::size_t slot_of(std::int64_t second) const;
  void close_slot();

  Period period_;
  std::vector<float> profile_;
  std::vector<float> last_;
  std::vector<std::uint16_t> cycles_;
  double profile_sum_ = 0;
  std::size_t seen_count_ = 0;
  std::int64_t open_slot_ = -1;  ///< counted from second 0, or -1
  double open_sum_ = 0;
  std::int64_t open_count_ = 0;
};

class ArrivalMemory {
 public:
  ArrivalMemory();

  /// Requires: second > last_second(), requests >= 0.
  void observe(std::int64_t second, std::int64_t requests);

  [[nodiscard]] bool is_empty() const { return seen_seconds_ == 0; }
  /// Requires: not empty.
  [[nodiscard]] std::int64_t last_second() const { return last_second_; }
  [[nodiscard]] double last_requests() const { return last_requests_; }
  [[nodiscard]] std::int64_t seen_seconds() const { return seen_seconds_; }

  /// The mean requests per second over a span, 0 when empty.
  [[nodiscard]] double level(std::size_t span) const { return ratio(total_[span], span); }
  /// The mean swing of a season over a span.
  [[nodiscard]] double swing(std::size_t span, std::size_t period) const { return ratio(swings_[period][span], span); }
  [[nodiscard]] const Season& season(std::size_t period) const { return seasons_[period]; }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.weight_, self.total_, self.swings_, self.seasons_, self.seen_seconds_, self.last_second_,
            self.last_requests_);
  }

 private:
  [[nodiscard]] double ratio(double total, std::size_t span) const {
    return weight_[span] > 0 ? total / weight_[span] : 0;
  }

  std::array<double, kSpanCount> weight_{};
  std::array<double, kSpanCount> total_{};
  std::array<std::array<double, kSpanCount>, kPeriodCount> swings_{};
  std::array<Season, kPeriodCount> seasons_;
  std::int64_t seen_seconds_ = 0;
  std::int64_t last_second_ = -1;
  double last_requests_ = 0;
};

}  // namespace berth::forecast::detail
