/// The thief scheduler (Ekya, NSDI'22, algorithm 1): jobs steal quanta of compute from each other while the sum of
/// their services' values grows.
#pragma once

#include <functional>
#include <vector>

namespace berth::partition::detail {

/// Quanta of one service.
struct QuantaShare {
  int inference = 0;
  int retraining = 0;
  friend bool operator==(const QuantaShare&, const QuantaShare&) = default;
};

struct ThiefProblem {
  int quanta = 0;                 ///< of the fleet
  std::vector<char> may_retrain;  ///< [service]: whether its retraining is a job
  std::function<double(int service, const QuantaShare&)> value;
  /// Thefts of up to this many quanta in a row are tried before a victim is left alone: slices have steps, so the first
  /// quanta may gain nothing.
  int look_ahead = 4;
  int rounds_max = 8;
};

/// Begins with equal shares (the first jobs get one more if they do not divide); each job in turn steals from each
/// other job, and the best amount of those tried is kept if it improves the sum. Ends when a round changes nothing.
/// O(rounds x jobs^2 x quanta) values.
[[nodiscard]] std::vector<QuantaShare> steal_quanta(const ThiefProblem& problem);

}  // namespace berth::partition::detail
