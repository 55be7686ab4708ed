/// The demand of the second one start time ahead, at each margin: from the recent level, a season, and the errors so
/// far.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "purchase/scale/detail/error_law.h"
#include "purchase/scale/detail/recent_sums.h"
#include "purchase/scale/detail/season.h"

namespace berth::scale::detail {

/// The inputs of a predictor.
struct View {
  std::int64_t level_seconds = 0;     ///< the recent level is the mean of this many seconds
  std::optional<SeasonShape> season;  ///< without one, the level is the prediction
  /// If positive, the margins are floors: multiples of the mean of this many seconds, above which only the level
  /// counts; if 0, margins are added to the prediction. A load that jumps between few levels is served best by a
  /// constant number for its usual jumps, and by more only while a larger one lasts.
  std::int64_t floor_seconds = 0;
};

/// The requests per second in one second, as a mean and at each margin.
struct Demand {
  double mean = 0;
  MarginValues at_margin{};
};

/// Predicts the second `lead` ahead of the one that begins, and learns the errors. Measures load in windows as long as
/// a request may wait: within these the queue evens it out.
class Predictor {
 public:
  Predictor(View view, std::int64_t lead_seconds, std::int64_t window_seconds);

  /// Learns from the second before sums.next(), and predicts the second sums.next() + lead.
  [[nodiscard]] Demand step(const RecentSums& sums);

  /// The share of the requests by which windows of a load of `rate` per second exceed each margin, judging by the
  /// errors so far.
  [[nodiscard]] MarginValues shortfalls(double rate) const;

  /// The share of the errors so far that `rate` requests per second would cover if `mean` is predicted.
  [[nodiscard]] double covered(double rate, double mean) const;

 private:
  [[nodiscard]] double predict(const RecentSums& sums) const;
  [[nodiscard]] Demand floors(const RecentSums& sums, double predicted) const;
  void learn(const RecentSums& sums);
  void refresh(std::int64_t second);
  [[nodiscard]] double& pending(std::int64_t second);

  View view_;
  std::int64_t lead_seconds_;
  std::int64_t window_seconds_;
  std::optional<Season> season_;
  std::vector<double> pending_;  ///< predictions whose seconds are not over, by second
  ErrorLaw pooled_;
  std::vector<ErrorLaw> by_part_;  ///< of the season
  MarginValues margins_{};         ///< of errors, for the part below
  std::int64_t margins_until_ = 0;
  bool has_margins_ = false;
};

}  // namespace berth::scale::detail
