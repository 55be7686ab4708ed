/// How long batches of a model take: measured when it is loaded, corrected while it serves, jitter included.
#pragma once

#include <span>
#include <vector>

#include "serving/dispatch/latency_table.h"

namespace berth::serving {

/// A measured batch.
struct LatencyPoint {
  RowCount rows = 1;
  Micros time;
};

/// Keeps a mean for each power of two of rows and each measured batch size; between them the time is linear. A batch
/// corrects the means next to its size, and half as much all others: what slows down one size mostly slows down all,
/// and sizes that never run must not keep a correction that is not theirs. A single batch moves a mean by at most
/// 1/16.
///
/// The table is the mean with slack for jitter: a factor that one batch in ten exceeds, learned from all sizes
/// together by stochastic approximation (Robbins and Monro 1951), at most `1 + kSlackMax`. More slack costs more
/// requests than it saves: with a deviation of 10 % and 1.5 times the goodput of cases A to F of
/// docs/reference/serve.md, 79.7 % are in time with one batch in ten, 78.5 % with one in a hundred, 77.0 % without
/// slack. Times do not decrease with the rows.
class LatencyEstimate {
 public:
  static constexpr double kSlackMax = 0.5;

  /// Points in any order; of several with the same rows the median counts. Beyond the largest measured size the time
  /// grows as it does before it, in proportion to the rows if there is one size only. Requires: at least one point,
  /// all of 1 to `rows_max` rows, times of at least 0 (0 counts as 1 microsecond).
  LatencyEstimate(std::span<const LatencyPoint> points, RowCount rows_max);

  /// Learns from a batch. True if `table()` changed, which it does only if it would differ by more than 3 %, or after
  /// 100 batches by more than 0.5 %. O(log rows_max) without a change, O(rows_max) with one. Requires: 1 <= rows <=
  /// rows_max, time of at least 0.
  bool learn(RowCount rows, Micros time);

  [[nodiscard]] const LatencyTable& table() const { return table_; }
  /// By which share the table is above the means now; 0 to kSlackMax.
  [[nodiscard]] double slack() const { return slack_; }

 private:
  /// A batch size with a mean.
  struct Knot {
    RowCount rows = 1;
    double mean_us = 1;
    double table_us = 1;  ///< what the table was built from
  };

  [[nodiscard]] static std::vector<Knot> knots_of(std::span<const LatencyPoint> points, RowCount rows_max);
  [[nodiscard]] bool has_moved() const;
  [[nodiscard]] LatencyTable build_table();
  void learn_mean(RowCount rows, double ratio);
  void learn_slack(double ratio);

  RowCount rows_max_;
  std::vector<Knot> knots_;  ///< by rows: the first has 1, the last `rows_max_`
  double slack_ = 0.05;
  int batches_since_table_ = 0;
  LatencyTable table_;
};

}  // namespace berth::serving
