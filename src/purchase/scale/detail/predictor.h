/// The demand of one second a start ahead, at each margin: the recent level, a season, and the errors so far.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "purchase/scale/detail/error_law.h"
#include "purchase/scale/detail/recent_sums.h"
#include "purchase/scale/detail/season.h"

namespace berth::scale::detail {

/// What a predictor looks at.
struct View {
  std::int64_t level_seconds = 0;     ///< the recent level is the mean of so many seconds
  std::optional<SeasonShape> season;  ///< without one, the level is what is predicted
  /// The margins are floors: multiples of the mean of so many seconds, below which no more is wanted than the level; 0:
  /// margins are added to the prediction. A load that jumps between few levels is served best by a constant number for
  /// its usual jumps, and by more only while a larger one lasts.
  std::int64_t floor_seconds = 0;
};

/// Requests per second of one second, as a mean and at each of the margins.
struct Demand {
  double mean = 0;
  MarginValues at_margin{};
};

/// Predicts the second `lead` ahead of the one that begins, and learns how far off that was. What counts is the load of
/// as many seconds as a request may wait: the queue evens out the rest.
class Predictor {
 public:
  Predictor(View view, std::int64_t lead_seconds, std::int64_t window_seconds);

  /// Learns from the second before sums.next(), and predicts the second sums.next() + lead.
  [[nodiscard]] Demand step(const RecentSums& sums);

  /// The share of the requests by which windows of a load of `rate` per second exceed each margin, by the errors so
  /// far.
  [[nodiscard]] MarginValues shortfalls(double rate) const;

  /// The share of the errors so far that requests up to `rate` per second cover, `mean` being predicted.
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
