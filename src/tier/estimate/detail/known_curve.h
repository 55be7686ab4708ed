/// A workload's throughput on one tier by batch and processes, also between and beyond the points that are known.
#pragma once

#include <span>
#include <vector>

#include "tier/values/tier_table.h"

namespace berth::tier {

/// One size of work on a slice.
struct WorkSize {
  int batch = 1;
  int processes = 1;
  friend bool operator==(const WorkSize&, const WorkSize&) = default;
};

class KnownCurve {
 public:
  /// Requires: points is not empty.
  explicit KnownCurve(std::span<const TierPoint> points);

  /// Of the points with the same number of processes, else with the next smaller one, else of all: between two batches
  /// linear in the logarithms; beyond the largest it stays, below the smallest it falls with the batch.
  [[nodiscard]] double per_second(WorkSize size) const;
  /// Of log throughput by log batch, up to this batch; up to the next one where there is no smaller one. NaN: one
  /// point.
  [[nodiscard]] double slope(WorkSize size) const;
  /// log(throughput / the most with as many processes). NaN where there is one point.
  [[nodiscard]] double saturation(WorkSize size) const;
  /// log(largest batch with as many processes / batch).
  [[nodiscard]] double headroom(WorkSize size) const;
  /// Median over the points of latency / (rows at once / throughput): 1 where latency is the time of a batch. 1 where
  /// there is no latency.
  [[nodiscard]] double latency_factor() const { return latency_factor_; }
  /// batch x processes of the largest point.
  [[nodiscard]] double rows_max() const;
  [[nodiscard]] std::vector<WorkSize> sizes() const;
  /// The size with the most throughput; the first of equal ones.
  [[nodiscard]] WorkSize best() const;

 private:
  struct Point {
    WorkSize size;
    double per_second = 0;
  };
  /// By batch.
  [[nodiscard]] std::span<const Point> of_processes(int processes) const;

  std::vector<Point> points_;  ///< sorted by processes, then batch
  double latency_factor_ = 1;
};

}  // namespace berth::tier
