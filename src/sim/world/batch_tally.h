/// Counts the batches of services that are not known on all GPU models (TierRule::known_on): once a service has run
/// enough of them on a model, its rows there count as measured.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "domain/values/event.h"
#include "domain/values/scenario.h"
#include "domain/values/slice.h"

namespace berth::sim {

/// So many batches on GPUs of a model measure a service there.
inline constexpr std::int64_t kMeasuringBatches = 200;
/// The count of a model whose rows are known.
inline constexpr double kKnownBatches = std::numeric_limits<double>::infinity();

class BatchTally {
 public:
  /// `scenario` must outlive it.
  explicit BatchTally(const Scenario& scenario);

  /// Reads what the service's spec says now, and counts anew.
  void read_spec(ServiceId service);
  /// Whether batches of the service are counted. For most services none is.
  [[nodiscard]] bool counts(ServiceId service) const {
    return service.index < is_counted_.size() && is_counted_[service.index];
  }
  /// The service has run batches, or a share of one, on a GPU. Requires: counts(service).
  void add(ServiceId service, GpuId gpu, double batches);
  /// What was measured since the last call, in order of time. A model is reported once for each spec.
  [[nodiscard]] std::vector<TierMeasured> take_measured() { return std::exchange(measured_, {}); }

  /// The service's batches by model, but of models that are known by its spec; kMeasuringBatches where it was reported.
  [[nodiscard]] std::map<std::string, double> counted(ServiceId service) const;
  /// Goes on from such counts. A model with kMeasuringBatches is reported with its next batch, in case that the former
  /// report was lost; one with more never.
  void restore(ServiceId service, const std::map<std::string, double>& counted);

 private:
  const Scenario& scenario_;
  std::vector<bool> is_counted_;                                 ///< by service
  std::map<std::pair<ServiceId, std::string>, double> batches_;  ///< by model; of known and reported ones infinite
  std::vector<TierMeasured> measured_;
};

}  // namespace berth::sim
