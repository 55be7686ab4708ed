/// Collects the journal of a run in a timeline of bounded size, for charts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/scenario.h"
#include "sim/measure/result.h"
#include "sim/world/journal.h"
#include "sim/world/latency_table.h"
#include "world/slices/slice_records.h"

namespace berth::measure {

/// The division of a run into equal bins; the last one may be shorter.
struct TimelineBins {
  std::int64_t bin_seconds = 1;
  std::size_t count = 0;  ///< at most kTimelineBinsMax
};

[[nodiscard]] TimelineBins timeline_bins(const Scenario& scenario);

class TimelineBuilder {
 public:
  /// `scenario` must outlive it.
  TimelineBuilder(const Scenario& scenario, Sharing sharing);

  void add(const sim::JournalRecord& record);
  /// Closes open spans and bins at the end of the run, and returns the timeline.
  [[nodiscard]] Timeline finish();

 private:
  struct ServiceBins {
    std::vector<double> requests;
    std::vector<double> worth;     ///< sum of accuracies
    std::vector<double> capacity;  ///< requests that could be served, summed over the bin
  };
  struct OpenSpan {
    SliceSpan span;
    Instant point_from;  ///< since when it has its operating point, within the span
  };

  void add_slice(const world::SliceRecord& record);
  void add_second(const sim::SecondRecord& record);
  void add_point(const world::PointRecord& record);
  void close(const OpenSpan& open, Instant until);
  void add_capacity(const OpenSpan& open, Instant until);
  [[nodiscard]] std::optional<PointChoice> point_of(const Slice& slice) const;
  [[nodiscard]] std::size_t bin_of(Instant at) const;

  const Scenario& scenario_;
  sim::LatencyTables tables_;
  Instant end_;
  Micros bin_;
  std::vector<ServiceBins> bins_;
  std::map<Slice, OpenSpan> open_;
  std::map<Slice, PointChoice> points_;  ///< of slices that are not at their default one
  Timeline timeline_;
};

}  // namespace berth::measure
