/// What warm pools did in a run, from its journal: requests that met no ready slice, and what idle slices cost.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/instant.h"
#include "domain/values/scenario.h"
#include "sim/measure/result.h"
#include "sim/world/journal.h"

namespace berth::measure {

/// Counts for each service with a warm pool. A request is cold if no inference slice of its service serves at the
/// beginning of the second in which it arrives. A slice is idle from its creation to the beginning of its destruction,
/// except while its service has load: from the beginning of each second with requests until all of that second's
/// requests are settled, at least for that second. Memory does not depend on the length of the run.
class WarmMeter {
 public:
  /// `scenario` must outlive it.
  explicit WarmMeter(const Scenario& scenario);

  void add(const sim::JournalRecord& record);
  /// Writes the figures of the services, and their sums, at the end of the run. Nothing where no service has a pool.
  void finish_into(PolicyResult& result);

 private:
  /// The slices of a service from an instant on.
  struct Held {
    Instant from;
    std::int64_t serving = 0;
    Decimal usd_per_hour;
  };
  struct Pool {
    bool has_pool = false;
    std::deque<Held> held = {{}};  ///< ascending; the last ones before what is counted, and all later ones
    Instant counted_until;
    std::int64_t cold_requests = 0;
    Decimal usd_hours_us;  ///< USD per hour x microseconds
  };
  struct Owner {
    std::vector<ServiceId> services;
    bool is_serving = false;
  };

  void add_slice(const world::SliceRecord& record);
  void add_second(const sim::SecondRecord& record);
  void change(const world::SliceRecord& record, const Owner& owner, int sign);
  static void count_idle(Pool& pool, Instant until);
  static void forget_before(Pool& pool, Instant at);

  const Scenario& scenario_;
  std::vector<Pool> pools_;  ///< [service]
  std::map<Slice, Owner> owners_;
  bool is_used_ = false;
};

}  // namespace berth::measure
