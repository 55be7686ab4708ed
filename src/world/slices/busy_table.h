/// Which slices are running something now (a batch, a retraining): read for interference, integrated for utilisation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "domain/values/slice.h"
#include "world/slices/slice_index.h"

namespace berth::world {

/// SM-time is summed in doubles: exact while SMs x microseconds stay below 2^53, else to 16 digits.
class BusyTable {
 public:
  BusyTable(std::uint32_t gpu_count, std::size_t service_count)
      : busy_slices_(gpu_count, 0), sm_us_by_service_(service_count, 0) {}

  /// Makes a place for one more service.
  void add_service() { sm_us_by_service_.push_back(0); }

  /// Adds a slice with that many SMs. Requires: its index is the next one, or that of a slice on which nothing runs any
  /// more.
  void add(SliceIndex slice, GpuId gpu, int sms) {
    ENSURE(slice.value <= slices_.size());
    if (slice.value == slices_.size()) slices_.emplace_back();
    SliceRuns& own = slices_[slice.value];
    ENSURE(own.runs.empty());
    own.gpu = gpu;
    own.sequence = sequence_++;
    own.sms = static_cast<double>(sms);
  }

  /// A service begins (ends) running something on the slice. Requires: it was not (was) running anything there.
  void begin(SliceIndex slice, ServiceId service, std::int64_t now_us) {
    SliceRuns& own = slices_[slice.value];
    if (own.runs.empty()) {
      own.since_us = now_us;
      ++busy_slices_[own.gpu.index];
    }
    own.runs.emplace_back(service, now_us);
  }
  void end(SliceIndex slice, ServiceId service, std::int64_t now_us) {
    SliceRuns& own = slices_[slice.value];
    std::size_t run = 0;
    while (run < own.runs.size() && own.runs[run].first != service) ++run;
    ENSURE(run < own.runs.size());
    sm_us_by_service_[service.index] += own.sms * static_cast<double>(now_us - own.runs[run].second);
    own.runs[run] = own.runs.back();
    own.runs.pop_back();
    if (own.runs.empty()) {
      sm_us_ += own.sms * static_cast<double>(now_us - own.since_us);
      --busy_slices_[own.gpu.index];
    }
  }
  /// A share (0 to 1) of a span was busy: for serving by rates, which has no single batches. Does not count as running.
  void add_share(SliceIndex slice, ServiceId service, double share, std::int64_t span_us) {
    const double sm_us = share * slices_[slice.value].sms * static_cast<double>(span_us);
    sm_us_ += sm_us;
    sm_us_by_service_[service.index] += sm_us;
  }
  /// Ends everything that is still running at the end of the run, in the order in which slices were added: additions of
  /// doubles show their order.
  void finish(std::int64_t end_us) {
    std::vector<std::uint32_t> running;
    for (std::uint32_t slice = 0; slice < slices_.size(); ++slice) {
      if (!slices_[slice].runs.empty()) running.push_back(slice);
    }
    std::sort(running.begin(), running.end(),
              [this](std::uint32_t a, std::uint32_t b) { return slices_[a].sequence < slices_[b].sequence; });
    for (const std::uint32_t slice : running) {
      while (!slices_[slice].runs.empty()) end({slice}, slices_[slice].runs.back().first, end_us);
    }
  }

  /// How many other slices of its GPU are busy.
  [[nodiscard]] int others_busy(SliceIndex slice) const {
    const SliceRuns& own = slices_[slice.value];
    return busy_slices_[own.gpu.index] - (own.runs.empty() ? 0 : 1);
  }
  /// How many services are running something on the slice.
  [[nodiscard]] int running(SliceIndex slice) const { return static_cast<int>(slices_[slice.value].runs.size()); }

  /// SM-microseconds in which something ran, up to what has ended; a slice counts once for any number of services.
  [[nodiscard]] double sm_us() const { return sm_us_; }
  /// The same up to now, including what still runs. O(slices).
  [[nodiscard]] double sm_us_until(std::int64_t now_us) const {
    double sm_us = sm_us_;
    for (const SliceRuns& own : slices_) {
      if (!own.runs.empty()) sm_us += own.sms * static_cast<double>(now_us - own.since_us);
    }
    return sm_us;
  }
  /// The same for one service; on shared slices the services' times overlap.
  [[nodiscard]] double sm_us_of(ServiceId service) const { return sm_us_by_service_[service.index]; }

 private:
  struct SliceRuns {
    GpuId gpu;
    std::uint64_t sequence = 0;  ///< orders slices by creation
    double sms = 0;
    std::vector<std::pair<ServiceId, std::int64_t>> runs;  ///< services that run something, since when (us)
    std::int64_t since_us = 0;
  };
  std::vector<SliceRuns> slices_;  ///< by SliceIndex
  std::uint64_t sequence_ = 0;
  std::vector<int> busy_slices_;  ///< by GPU
  std::vector<double> sm_us_by_service_;
  double sm_us_ = 0;
};

}  // namespace berth::world
