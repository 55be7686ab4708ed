/// An upper bound on the goodput of every run of a scenario: for any layout and any owners at any time, for any
/// operating points and batch sizes, with the arrivals known in advance.
///
/// Model, proof and relaxations: docs/explanation/bound.md. In short: time is divided into blocks; work belongs to the
/// time in which its batch runs; prices for each service's work (and for the progress of its retraining) in each block
/// decompose the problem into GPUs, which sell, and services, which buy; for any prices, their total gain is a bound
/// (Lagrangian duality), and a descent searches for prices that make it small. The result is valid whatever that search
/// finds; only its tightness depends on it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "domain/values/scenario.h"
#include "domain/values/slice.h"

namespace berth::bound {

/// The requests of the run, known in advance.
struct KnownArrivals {
  /// Requests of a service in a second.
  std::function<std::int64_t(ServiceId service, std::int64_t second)> count;
  /// Their offsets from the beginning of the second, in microseconds, ascending, as many as `count` says. The function
  /// may be empty: then arrivals within a second are unknown, and the bound is less tight.
  std::function<void(ServiceId service, std::int64_t second, std::vector<std::uint32_t>& offsets)> offsets;
};

/// Absent if no service has a request.
struct Goodputs {
  std::optional<double> goodput;                   ///< over all requests
  std::optional<double> goodput_mean_of_services;  ///< weighted mean over the services that have requests
  friend bool operator==(const Goodputs&, const Goodputs&) = default;
};

struct Bound {
  Goodputs any;              ///< no policy can exceed it
  Goodputs without_sharing;  ///< for policies that give each slice to one service at a time; <= any
  friend bool operator==(const Bound&, const Bound&) = default;
};

/// `sharing_factors[k - 1]`: the least factor on latency when k services run on one shared slice; >= 1, ascending, not
/// empty. More services than it has entries get the last one.
///
/// `progress` may be empty; it is called with the share done (0 to 1) and returns false to stop: then there is no
/// bound.
///
/// Deterministic. Memory and time grow more slowly than the run, because the blocks become longer: see
/// docs/explanation/bound.md.
[[nodiscard]] std::optional<Bound> goodput_bound(const Scenario& scenario, const KnownArrivals& arrivals,
                                                 std::span<const double> sharing_factors,
                                                 const std::function<bool(double done)>& progress);

}  // namespace berth::bound
