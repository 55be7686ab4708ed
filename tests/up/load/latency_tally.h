/// The answers to requests of one kind: how long they took and their statuses.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace berth::load {

using Clock = std::chrono::steady_clock;

class LatencyTally {
 public:
  /// An answer. `begin`: when its request was or should have been sent. `is_late`: it came after the end of the
  /// measurement, and counts for the latencies but not for what was done per second.
  void add(int status, Clock::time_point begin, Clock::time_point end, bool is_late);

  /// A request without an answer.
  void add_unanswered() { ++unanswered_count_; }

  /// One JSON object: `succeeded` (2xx), `per_second` of those that are not late, `p50_ms`, `p90_ms`, `p99_ms` and
  /// `max_ms` of the 2xx (null without any), `statuses`, `unanswered`. Sorts: O(n log n).
  [[nodiscard]] std::string json(double seconds) const;

 private:
  std::vector<double> succeeded_ms_;
  std::map<int, std::size_t> status_counts_;
  std::size_t late_count_ = 0;  // of succeeded_ms_
  std::size_t unanswered_count_ = 0;
};

}  // namespace berth::load
