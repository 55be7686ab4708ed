/// Measures one service: counts, latencies, and one record for each second of arrival, closed when its last request is
/// settled.
#pragma once

#include <cstdint>
#include <deque>

#include "base/instant.h"
#include "domain/event.h"
#include "domain/request_counts.h"
#include "domain/slice.h"
#include "sim/journal.h"
#include "sim/latency_histogram.h"

namespace berth::sim {

/// Sums over the whole run.
struct ServiceTotals : RequestCounts {
  std::int64_t accuracy_sum_micro = 0;
};

class ServiceMeter {
 public:
  /// `journal` may be empty; it must outlive the meter.
  ServiceMeter(ServiceId service, const JournalSink& journal) : service_(service), journal_(journal) {}

  /// `count` requests arrive in `second`. Requires: seconds come in order, count > 0.
  void expect(std::int64_t second, std::int64_t count);

  /// Settles `count` requests of one arrival second as answered in time, each with an accuracy of `accuracy_micro`
  /// millionths.
  void settle_in_time(std::int64_t second, std::int64_t count, std::int64_t accuracy_micro, Instant at);
  void settle_late(std::int64_t second, std::int64_t count, Instant at);
  void settle_dropped(std::int64_t second, std::int64_t count, Instant at);
  void add_latency(std::int64_t latency_us, std::int64_t count = 1) { latencies_.add(latency_us, count); }

  /// Ends the run: requests that are not settled are unfinished.
  void finish(Instant at);

  /// The events since the last call, as the record that the engine sees.
  [[nodiscard]] ServiceSecond take_second(std::int64_t second, std::int64_t arrivals, std::int64_t queued);

  [[nodiscard]] const ServiceTotals& totals() const { return totals_; }
  [[nodiscard]] const LatencyHistogram& latencies() const { return latencies_; }

 private:
  [[nodiscard]] SecondRecord& record_of(std::int64_t second);
  void close_if_settled(SecondRecord& record, Instant at);

  ServiceId service_;
  const JournalSink& journal_;
  std::deque<SecondRecord> open_;  ///< by second; closed ones leave from the front
  ServiceTotals totals_;
  ServiceTotals reported_;  ///< totals that take_second has reported
  LatencyHistogram latencies_;
};

}  // namespace berth::sim
