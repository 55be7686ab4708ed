#include "serving/warm_study/rules.h"

#include <algorithm>
#include <cstddef>

#include "base/core/ensure.h"
#include "base/core/whole_division.h"

namespace berth::warm {
namespace {

/// The minutes after an invoked one in which an app is loaded, first and last.
struct StayAfter {
  std::int64_t first = 1;
  std::int64_t last = 0;
};

/// The gaps of an app, counted by length below a range.
class GapHistogram {
 public:
  explicit GapHistogram(std::int64_t range_minutes) : counts_(static_cast<std::size_t>(range_minutes)) {}

  /// Requires: gap > 0.
  void add(std::int64_t gap);
  [[nodiscard]] StayAfter stay() const;

 private:
  [[nodiscard]] std::int64_t range() const { return std::ssize(counts_); }
  /// The smallest gap that at least so many percent of the counted ones do not exceed.
  [[nodiscard]] std::int64_t gap_at(std::int64_t percent) const;

  std::vector<std::int64_t> counts_;  ///< by gap
  std::int64_t inside_ = 0;           ///< their sum
  std::int64_t squares_ = 0;          ///< the sum of their squares
  std::int64_t outside_ = 0;
  std::int64_t minutes_ = 0;  ///< of all gaps
};

void GapHistogram::add(std::int64_t gap) {
  minutes_ += gap;
  if (gap >= range()) {
    ++outside_;
    return;
  }
  std::int64_t& count = counts_[static_cast<std::size_t>(gap)];
  squares_ += 2 * count + 1;
  ++count;
  ++inside_;
}

std::int64_t GapHistogram::gap_at(std::int64_t percent) const {
  constexpr std::int64_t kHundred = 100;
  std::int64_t below = 0;
  for (std::int64_t gap = 0; gap < range(); ++gap) {
    below += counts_[static_cast<std::size_t>(gap)];
    if (kHundred * below >= percent * inside_ && below > 0) return gap;
  }
  ENSURE(false);
  return 0;
}

StayAfter GapHistogram::stay() const {
  if (outside_ > inside_) {  // the mean less and plus 15 %
    const std::int64_t hundred_gaps = 100 * (inside_ + outside_);
    return {.first = std::max<std::int64_t>(1, floor_divide(85 * minutes_, hundred_gaps)),
            .last = ceil_divide(115 * minutes_, hundred_gaps)};
  }
  const bool is_peaked = range() * squares_ > 5 * inside_ * inside_;  // the coefficient of variation is above 2
  if (!is_peaked) return {.first = 1, .last = range()};
  return {.first = std::max<std::int64_t>(1, floor_divide(9 * gap_at(5), 10)),
          .last = ceil_divide(11 * (gap_at(99) + 1), 10)};
}

/// Loaded after each invoked minute as `stay_after` says, which gets the gap before it (0: none); until the next one,
/// that one included.
template <class Stay>
LoadedMinutes loaded_after_each(const AppCounts& app, std::int64_t trace_minutes, Stay stay_after) {
  LoadedMinutes loaded;
  std::int64_t before = -1;
  for (std::size_t i = 0; i < app.invoked.size(); ++i) {
    const std::int64_t minute = app.invoked[i].minute;
    const std::int64_t next = i + 1 < app.invoked.size() ? app.invoked[i + 1].minute : trace_minutes - 1;
    const StayAfter stay = stay_after(before < 0 ? 0 : minute - before);
    loaded.add({.from = minute + stay.first, .to = std::min(minute + stay.last, next) + 1});
    before = minute;
  }
  return loaded;
}

}  // namespace

LoadedMinutes loaded_for(const AppCounts& app, std::int64_t trace_minutes, std::int64_t keep_minutes) {
  return loaded_after_each(app, trace_minutes,
                           [&](std::int64_t) { return StayAfter{.first = 1, .last = keep_minutes}; });
}

LoadedMinutes loaded_by_histogram(const AppCounts& app, std::int64_t trace_minutes, std::int64_t range_minutes) {
  GapHistogram gaps(range_minutes);
  return loaded_after_each(app, trace_minutes, [&](std::int64_t gap) {
    if (gap > 0) gaps.add(gap);
    return gaps.stay();
  });
}

LoadedMinutes loaded_at_best(const AppCounts& app, const Prices& prices) {
  LoadedMinutes loaded;
  const std::int64_t cold_seconds = kSecondsPerMinute * prices.cold_minutes;
  const std::int64_t no_stay = std::min(prices.load_seconds, cold_seconds);
  std::int64_t before = -1;
  for (const InvokedMinute& each : app.invoked) {
    const std::int64_t stay_seconds = kSecondsPerMinute * (each.minute - before - 1);
    if (before >= 0 && stay_seconds <= no_stay) {
      loaded.add({.from = before + 1, .to = each.minute + 1});
    } else if (prices.load_seconds <= cold_seconds) {
      loaded.add({.from = each.minute, .to = each.minute + 1});
    }
    before = each.minute;
  }
  return loaded;
}

}  // namespace berth::warm
