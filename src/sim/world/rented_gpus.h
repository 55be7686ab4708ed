/// Which GPUs of the fleet are rented: ordered, present, or being returned; and how long they were paid for.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/scenario.h"
#include "sim/world/journal.h"

namespace berth::sim {

/// How many GPUs were paid for from an instant on.
struct RentedCount {
  Instant from;
  std::int64_t gpus = 0;
  friend bool operator==(const RentedCount&, const RentedCount&) = default;
};

/// A GPU can hold slices `provision_seconds` after its order; it is paid for from the order until it is returned. A
/// released GPU is returned when it holds no slice. Without `provision_seconds` all GPUs are always present.
class RentedGpus {
 public:
  /// Those below `at_start` are present at second 0. Keeps a reference to `journal`, which may be empty.
  RentedGpus(const Scenario& scenario, std::optional<std::uint32_t> at_start, const JournalSink& journal);

  /// Whether the fleet may grow and shrink.
  [[nodiscard]] bool is_elastic() const { return provision_.has_value(); }
  [[nodiscard]] bool is_here(GpuId gpu) const { return states_[gpu.index] == State::kHere; }
  [[nodiscard]] bool is_absent(GpuId gpu) const { return states_[gpu.index] == State::kAbsent; }
  /// Those released and still present, ascending.
  [[nodiscard]] const std::set<GpuId>& leaving() const { return leaving_; }

  /// Requires: is_elastic, the GPU is absent.
  void order(GpuId gpu, Instant now);
  /// Returns whether it is returned at once: it was not present yet. Requires: is_elastic, the GPU is not absent.
  [[nodiscard]] bool release(GpuId gpu, Instant now);
  /// To be called when a released GPU is empty.
  void give_back(GpuId gpu, Instant now);

  /// When the next ordered GPU arrives.
  [[nodiscard]] Instant next_time() const { return arrivals_.empty() ? Instant::never() : arrivals_.begin()->first; }
  /// Those that arrive now.
  [[nodiscard]] std::vector<GpuId> take_arrived(Instant now);

  /// GPU-microseconds paid up to `now`.
  [[nodiscard]] std::int64_t paid_us(Instant now) const;
  /// In order of time, the first from second 0; instants are distinct.
  [[nodiscard]] const std::vector<RentedCount>& counts() const { return counts_; }

 private:
  enum class State : std::uint8_t { kAbsent, kOrdered, kHere };

  void count(GpuId gpu, bool is_on, Instant now);

  std::optional<Micros> provision_;
  const JournalSink& journal_;
  std::vector<State> states_;                     ///< by GpuId
  std::set<std::pair<Instant, GpuId>> arrivals_;  ///< of the ordered ones
  std::set<GpuId> leaving_;
  std::vector<RentedCount> counts_;
};

}  // namespace berth::sim
