/// The arrivals of all services in one run, and before it: readable without simulating anything.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "domain/trace/arrival_stream.h"
#include "domain/values/scenario.h"
#include "domain/values/slice.h"

namespace berth {

/// A pure function of (scenario, seed, second), see ArrivalStream. Copies and constructions cost O(services), not
/// O(arrivals).
using ArrivalStreams = std::deque<ArrivalStream>;  ///< by service; a stream keeps its address

class RunArrivals {
 public:
  /// Keeps references to the arrivals of `scenario`, which must outlive it. `only`: the other services get no requests
  /// (a search in hindsight replays services one by one).
  RunArrivals(const Scenario& scenario, std::uint64_t seed, std::optional<ServiceId> only = std::nullopt,
              Laps laps = Laps::kOne);

  /// Adds a place for one more service, which gets no requests yet.
  void add_place();
  /// Gives the service these requests instead, from a second of the run on. `number` seeds their draws and should
  /// differ each time.
  void begin(ServiceId service, std::shared_ptr<const Arrivals> arrivals, std::uint64_t number, std::int64_t second);
  /// Stops the requests of a service.
  void silence(ServiceId service);
  /// Stops the requests of all services, including those that `begin` adds later.
  void silence_all();

  RunArrivals(const RunArrivals&) = delete;  // streams refer to silence_
  RunArrivals& operator=(const RunArrivals&) = delete;

  /// Requests of a service in a second of the run.
  [[nodiscard]] std::int64_t count(ServiceId service, std::int64_t second) const {
    return streams_[service.index].count(second);
  }
  /// Puts their offsets from the second's beginning into `out`: microseconds, ascending.
  void offsets(ServiceId service, std::int64_t second, std::vector<std::uint32_t>& out) const {
    streams_[service.index].offsets(second, out);
  }
  /// Requests of a service in a second of history (before second 0); nothing if the trace does not reach back to it.
  [[nodiscard]] std::optional<std::int64_t> history(ServiceId service, std::int64_t second) const;
  /// Requests of each service over the run. O(services x seconds).
  [[nodiscard]] std::vector<std::int64_t> totals() const;

  [[nodiscard]] const ArrivalStreams& streams() const { return streams_; }

 private:
  const Scenario& scenario_;
  Arrivals silence_;  ///< of the services that get nothing
  Rng rng_;
  Laps laps_;
  bool is_silent_ = false;  ///< silence_all
  ArrivalStreams streams_;
};

}  // namespace berth
