/// A number that no policy can pass: an upper bound on the goodput of every run of a scenario, whatever is cut, given
/// to whom and when, at whatever operating points and batch sizes, with the arrivals known beforehand.
///
/// Model, proof and what is relaxed: docs/bound.md. In short: time is cut into blocks; work belongs to the time in
/// which its batch runs; prices for each service's work (and for the progress of its retraining) in each block take the
/// problem apart into GPUs, which sell, and services, which buy; whatever the prices are, what all of them gain
/// together is a bound (Lagrangian duality), and a descent looks for prices that make it small. The result does not
/// hang on how well that went: only its tightness does.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "domain/scenario.h"
#include "domain/slice.h"

namespace berth::bound {

/// The requests of the run, known beforehand.
struct KnownArrivals {
  /// Requests of a service in a second.
  std::function<std::int64_t(ServiceId service, std::int64_t second)> count;
  /// Their offsets from its beginning, in microseconds, ascending, as many as `count` says. May be empty: then nothing
  /// is known of what comes within a second, and the bound is less tight.
  std::function<void(ServiceId service, std::int64_t second, std::vector<std::uint32_t>& offsets)> offsets;
};

/// Absent over nothing: no service has a request.
struct Goodputs {
  std::optional<double> goodput;                   ///< over all requests
  std::optional<double> goodput_mean_of_services;  ///< weighted mean over the services that have requests
  friend bool operator==(const Goodputs&, const Goodputs&) = default;
};

struct Bound {
  Goodputs any;              ///< no policy can pass it
  Goodputs without_sharing;  ///< nor can one that gives each slice to one service at a time pass this one; <= any
  friend bool operator==(const Bound&, const Bound&) = default;
};

/// `sharing_factors[k - 1]`: the least factor on latency when k services run on one shared slice; >= 1, ascending, not
/// empty. More services than it names have its last one.
///
/// `progress` may be empty; it hears the share done (0 to 1), and returns false to stop: then there is no bound.
///
/// Deterministic. Memory and time grow slower than the run, as the blocks become longer: docs/bound.md has figures.
[[nodiscard]] std::optional<Bound> goodput_bound(const Scenario& scenario, const KnownArrivals& arrivals,
                                                 std::span<const double> sharing_factors,
                                                 const std::function<bool(double done)>& progress);

}  // namespace berth::bound
