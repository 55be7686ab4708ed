/// A simulated policy: what it would have cost and missed on the same load.
#pragma once

#include <cstdint>
#include <deque>

#include "purchase/scale/run.h"

namespace berth::scale::detail {

/// The largest of the needs of the last seconds. Amortised O(1).
class HeldNeed {
 public:
  explicit HeldNeed(std::int64_t seconds) : seconds_(seconds) {}

  /// Adds the need of a second, which is later than all before; returns the largest of (second - seconds, second].
  std::int64_t add(std::int64_t second, std::int64_t need) {
    while (!largest_.empty() && largest_.back().need <= need) largest_.pop_back();
    largest_.push_back({.second = second, .need = need});
    while (largest_.front().second <= second - seconds_) largest_.pop_front();
    return largest_.front().need;
  }

 private:
  struct Entry {
    std::int64_t second = 0;
    std::int64_t need = 0;
  };

  std::int64_t seconds_ = 0;
  std::deque<Entry> largest_;  ///< descending needs
};

/// Simulates a policy alongside the run, and sums up the last hours: costs and misses fade.
class Shadow {
 public:
  Shadow(const Problem& problem, std::int64_t first, std::int64_t ready)
      : service_(problem, first, ready), held_(problem.start_seconds + 1) {}

  /// One second, with the replicas needed `start_seconds` after it.
  void step(std::int64_t second, std::int64_t need) {
    static_cast<void>(service_.begin());
    service_.end(held_.add(second, need));
  }

  /// Fades the sums, then adds the results since the last call if `counts`.
  void account(double fade, bool counts) {
    const double weight = counts ? 1 : 0;
    const RunResult& now = service_.result();
    cost_ = cost_ * fade + weight * static_cast<double>(now.replica_seconds - accounted_.replica_seconds);
    requests_ = requests_ * fade + weight * static_cast<double>(now.requests - accounted_.requests);
    missed_ = missed_ * fade + weight * static_cast<double>(service_.missed() - accounted_missed_);
    accounted_ = now;
    accounted_missed_ = service_.missed();
  }

  [[nodiscard]] double cost() const { return cost_; }
  [[nodiscard]] double requests() const { return requests_; }
  [[nodiscard]] double missed() const { return missed_; }

 private:
  Service service_;
  HeldNeed held_;
  RunResult accounted_;
  std::int64_t accounted_missed_ = 0;
  double cost_ = 0;
  double requests_ = 0;
  double missed_ = 0;
};

}  // namespace berth::scale::detail
