/// The implementation of the policy `berth`: candidates, each simulated alongside the run, and the choice between them.
/// forecast_policy.h describes the model.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "purchase/scale/detail/predictor.h"
#include "purchase/scale/detail/recent_sums.h"
#include "purchase/scale/detail/shadow.h"
#include "purchase/scale/forecast_policy.h"
#include "purchase/scale/problem.h"
#include "purchase/scale/run.h"

namespace berth::scale::detail {

class Player {
 public:
  /// As ForecastPolicy's.
  Player(const Problem& problem, std::int64_t ready);

  [[nodiscard]] Decision want(const Moment& moment);

 private:
  /// The outcome of a margin over the last hours.
  struct Outcome {
    double cost = 0;    ///< replica-seconds
    double missed = 0;  ///< requests
    double share = 1;   ///< share missed, smoothed and never above that of a smaller margin
  };
  struct Candidate {
    Predictor predictor;
    std::vector<Shadow> shadows;  ///< by margin, as the outcomes
    std::array<Outcome, kMarginCount> outcomes{};
    std::array<std::int64_t, kMarginCount> needs{};
    Demand demand{};
  };
  /// A position between two margins, and its expected outcome.
  struct Place {
    double margin = 0;  ///< index of the margin below, plus the fraction of the way to the next one
    double share = 0;
    double cost = 0;
  };

  void begin(std::int64_t second);
  void finish(std::int64_t second);
  [[nodiscard]] double bounded(double rate, double mean) const;
  [[nodiscard]] bool is_cold(std::int64_t second) const;
  [[nodiscard]] std::int64_t need_of(double rate) const;
  [[nodiscard]] double load_of_last_hour() const;

  void account(std::int64_t second);
  void judge(Candidate& candidate) const;
  void choose_candidate();
  [[nodiscard]] static Place place_for(const Candidate& candidate, double share);
  [[nodiscard]] double share_wanted(const Moment& moment) const;
  [[nodiscard]] double margin_for(const Candidate& candidate, double share) const;

  const Problem& problem_;
  double share_allowed_ = 0;  ///< of requests that may be missed
  std::int64_t ready_ = 0;
  std::int64_t window_seconds_ = 0;
  std::int64_t shadows_first_ = 0;  ///< the second at which the shadows begin
  RecentSums sums_;
  double peak_ = 0;              ///< the largest load of a window, slowly forgotten
  std::int64_t idle_since_ = 0;  ///< the second after the last request
  std::vector<Candidate> candidates_;
  std::size_t chosen_ = 0;
  HeldNeed held_;
};

}  // namespace berth::scale::detail
