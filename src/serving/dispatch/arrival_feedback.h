/// Whether requests to a model come regardless of its answers (an open loop), or wait for them (a closed loop). Only
/// in an open loop does a batch that is held always gain rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "serving/dispatch/request.h"

namespace berth::serving {

/// Compares the rows that arrive while a model answers nothing with what its mean rate would bring. In an open loop
/// they are as many (Poisson arrivals see time averages: Wolff 1982); in a closed one fewer, none once all clients
/// wait. The times without answers are the later half of a hold and then the run of the batch: its requests wait as if
/// they were still held, so that nothing has to be held just to learn.
class ArrivalFeedback {
 public:
  /// Admitted or not.
  void learn_arrival(RowCount rows) { rows_ += rows; }
  /// A batch whose most urgent request is this one is held until `until`.
  void learn_hold(const Request& most_urgent, Instant now, Instant until);
  /// A batch starts, its most urgent request first. Requires: a request.
  void learn_start(std::span<const Request> requests, Instant now);
  /// A batch of the model ended. `rows_per_second`: the mean of arrivals, at all times.
  void learn_end(Instant now, double rows_per_second);

  /// How much of a hold is worthwhile: `kShareMin` to 1; 1 at first.
  [[nodiscard]] double share() const { return share_; }

  static constexpr double kShareMin = 0.01;

 private:
  /// Of the mean rate; with fewer rows the share shrinks. Below 1, so that in an open loop it stays near 1.
  static constexpr double kExpectedMin = 0.85;
  /// By how much a row moves the logarithm of the share.
  static constexpr double kStep = 0.07;

  struct Hold {
    std::int64_t number = 0;  ///< of the most urgent request
    Instant middle;
  };

  /// Since the middle of a hold or the start of a batch nothing was answered.
  struct Silence {
    Instant from;
    std::int64_t rows_before = 0;  ///< that had arrived then
  };

  std::int64_t rows_ = 0;
  double share_ = 1;
  std::optional<Hold> hold_;
  std::optional<Silence> silence_;
};

}  // namespace berth::serving
