/// The four models that forecast the mean of a second; their spread is learned elsewhere.
#pragma once

#include <array>
#include <cstdint>

#include "domain/forecast/detail/arrival_memory.h"
#include "domain/forecast/detail/fading_mean.h"
#include "domain/forecast/detail/horizons.h"

namespace berth::forecast::detail {

/// How many judgements the models remember.
inline constexpr int kLossMemory = 3000;
inline constexpr int kSlopeMemory = 10'000;

/// The current level relative to the long-term one: below, at, above, far above. Errors are learned for each, because
/// errors before a possible burst differ from those before its possible end.
inline constexpr std::size_t kSituationCount = 4;
[[nodiscard]] std::size_t situation_of(double level, double base);

/// The input of every model for the forecast of a second: the levels so far, and the seasons' swings at that second.
struct View {
  std::size_t lead = 0;  ///< the class of lead times
  std::size_t situation = 0;
  double last = 0;
  std::array<double, kSpanCount> level{};
  std::array<double, kPeriodCount> swing_now{};
  std::array<double, kPeriodCount> swing_then{};
  std::array<std::array<double, kSpanCount>, kPeriodCount> swing_mean{};
  std::array<double, kPeriodCount> season_last{};  ///< the same second of the last cycle, or negative
};

/// Requires: memory is not empty, second > memory.last_second().
[[nodiscard]] View view_of(const ArrivalMemory& memory, std::int64_t second);
/// Changes a view to that of another second of the same memory.
void look_at(const ArrivalMemory& memory, std::int64_t second, View& view);

/// The last second's count.
class Naive {
 public:
  [[nodiscard]] double guess(const View& view) const { return view.last; }
};

/// The count of the last cycle's same slot, in the season that was best so far.
class SeasonalNaive {
 public:
  void learn(const View& view, double count);
  [[nodiscard]] double guess(const View& view) const;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.loss_);
  }

 private:
  std::array<FadingMean<kLossMemory>, kPeriodCount> loss_;
};

/// Exponential smoothing: a level, and the swing of a season as far as it has been confirmed; the span and the season
/// are learned for each lead.
class Smoothing {
 public:
  void learn(const View& view, double count);
  [[nodiscard]] double guess(const View& view) const;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.leads_);
    for (const Lead& lead : self.leads_) {
      archive.require(lead.best.span < kSpanCount && lead.best.period <= kPeriodCount);
    }
  }

 private:
  struct Choice {
    std::size_t span = 2;
    std::size_t period = kPeriodCount;  ///< kPeriodCount: none
  };
  [[nodiscard]] double mean_of(const View& view, Choice choice) const;

  struct Lead {
    std::array<std::array<FadingMean<kLossMemory>, kPeriodCount + 1>, kSpanCount> loss;
    std::array<std::array<FadingSlope<kSlopeMemory>, kPeriodCount>, kSpanCount> gain;
    Choice best;
  };
  std::array<Lead, kLeadCount> leads_;
};

/// A level that returns to its base, as fast as it did before in the same situation (below, at, above, far above it).
class Bursty {
 public:
  void learn(const View& view, double count);
  [[nodiscard]] double guess(const View& view) const;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.leads_);
  }

 private:
  /// Both relative to the base.
  struct Deviation {
    double base_then = 0;
    double unit = 1;
    double now = 0;
    std::size_t situation = 0;
  };
  /// A regression line from current deviations to future ones.
  struct Line {
    double weight = 0;
    double x = 0;
    double y = 0;
    double xx = 0;
    double xy = 0;
    void learn(double now, double then);
    [[nodiscard]] double at(double now, double slope_prior) const;
  };
  struct Lead {
    FadingSlope<kSlopeMemory> swing_gain;
    std::array<std::array<Line, kSituationCount>, 2> lines;
    std::array<FadingMean<kLossMemory>, 2> loss;
  };
  [[nodiscard]] Deviation deviation_of(const View& view, std::size_t span) const;
  [[nodiscard]] double mean_of(const View& view, std::size_t span) const;

  std::array<Lead, kLeadCount> leads_;
};

}  // namespace berth::forecast::detail
