/// Measures one service: counts, latencies, and one record for each second of arrival, closed when its last request is
/// settled.
///
/// Seconds of which nothing is settled are stored as ranges, whose counts are read from the arrivals again: a queue
/// that grows for days costs as much as a short one.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/core/instant.h"
#include "domain/trace/arrival_stream.h"
#include "domain/values/event.h"
#include "domain/values/request_counts.h"
#include "domain/values/series.h"
#include "domain/values/slice.h"
#include "sim/world/journal.h"
#include "sim/world/latency_histogram.h"

namespace berth::sim {

/// Answers with one latency.
struct LatencyCount {
  std::int64_t latency_us = 0;
  std::int64_t count = 0;
  friend bool operator==(const LatencyCount&, const LatencyCount&) = default;
};

/// What happened in a second beyond what the engine sees: for the figures of a running world.
struct MeasuredSecond {
  ServiceSecond seen;
  std::vector<SettledRequests> settled;                ///< in this second, also requests of earlier ones; in no order
  std::vector<LatencyCount> latencies;                 ///< of all answers, in no order
  std::optional<std::int64_t> batches = std::nullopt;  ///< begun; absent where it serves by rates
};

/// Sums over the whole run.
struct ServiceTotals : RequestCounts {
  std::int64_t accuracy_sum_micro = 0;
};

class ServiceMeter {
 public:
  /// `journal` may be empty. Both references must outlive the meter.
  ServiceMeter(ServiceId service, const ArrivalStream& arrivals, const JournalSink& journal)
      : service_(service), arrivals_(arrivals), journal_(journal) {}

  /// `count` requests arrive in `second`, as `arrivals` says. Requires: seconds come in order, count > 0.
  void expect(std::int64_t second, std::int64_t count);

  /// Settles `count` requests of one arrival second as answered in time, each with an accuracy of `accuracy_micro`
  /// millionths.
  void settle_in_time(std::int64_t second, std::int64_t count, std::int64_t accuracy_micro, Instant at);
  void settle_late(std::int64_t second, std::int64_t count, Instant at);
  void settle_dropped(std::int64_t second, std::int64_t count, Instant at);
  void add_latency(std::int64_t latency_us, std::int64_t count = 1) {
    latencies_.add(latency_us, count);
    if (keeps_recent_) recent_latencies_.push_back({.latency_us = latency_us, .count = count});
  }

  /// A batch begins. Where a service serves by rates nothing calls this.
  void add_batch() { ++recent_batches_; }

  /// To be called before the arrivals change: open seconds keep their numbers of requests. O(open seconds).
  void keep_counts();
  /// Starts again for another service at this place. Requires: all requests are settled.
  void restart();

  /// Ends the run: requests that are not settled are unfinished.
  void finish(Instant at);

  /// The events since the last call, as the record that the engine sees.
  [[nodiscard]] ServiceSecond take_second(std::int64_t second, std::int64_t arrivals, std::int64_t queued);

  /// From now on keeps the extra fields of MeasuredSecond for `measure_second`, which must then be called.
  void keep_recent() { keeps_recent_ = true; }
  /// take_second, with the extra fields. `knows_batches`: add_batch is called for each. Requires: keep_recent.
  [[nodiscard]] MeasuredSecond measure_second(std::int64_t second, std::int64_t arrivals, std::int64_t queued,
                                              bool knows_batches = true);

  [[nodiscard]] const ServiceTotals& totals() const { return totals_; }
  [[nodiscard]] const LatencyHistogram& latencies() const { return latencies_; }
  /// Stored entries: the arriving second, those of which some requests are settled (all, while an older second is
  /// open), and the ranges between them.
  [[nodiscard]] std::size_t open_count() const { return open_.size(); }

 private:
  static constexpr std::size_t kSettledSecondsMax = 1024;  ///< far more than a reader looks back
  /// Seconds that are not closed, or closed while an older one is not: one with its record, or `record.second` to
  /// `last_second` of which nothing is settled.
  struct Open {
    SecondRecord record;
    std::int64_t last_second = 0;
    bool is_range = false;
    bool keeps_count = false;  ///< its number of requests cannot be read from the arrivals again
  };

  [[nodiscard]] SecondRecord new_record(std::int64_t second, std::int64_t count) const;
  void fold_last();
  [[nodiscard]] SecondRecord& record_of(std::int64_t second);
  [[nodiscard]] SecondRecord& take_out(std::size_t range, std::int64_t second);
  void close_if_settled(SecondRecord& record, Instant at);
  void leave_unfinished(SecondRecord& record, Instant at);
  void note_settled(const SettledRequests& settled);
  void shorten_settled();

  ServiceId service_;
  const ArrivalStream& arrivals_;
  const JournalSink& journal_;
  std::deque<Open> open_;  ///< by second; closed ones leave from the front
  ServiceTotals totals_;
  ServiceTotals reported_;  ///< totals that take_second has reported
  LatencyHistogram latencies_;
  bool keeps_recent_ = false;
  std::vector<LatencyCount> recent_latencies_;
  std::int64_t recent_batches_ = 0;
  std::vector<SettledRequests> recent_settled_;  ///< the first may be a sum of older ones
};

}  // namespace berth::sim
