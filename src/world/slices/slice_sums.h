/// The sums over time of what slices allocate, for the figures of a run.
///
/// Only changes cost time: a GPU's share of a rate is replaced when the GPU changes, and a service's sums advance when
/// its rates change. That gives the same sums as adding up each instant, because whole numbers and Decimals are exact
/// in any order, and so are doubles of SM-microseconds below 2^53 (83 million seconds of a GPU of 108 SMs) while the
/// SMs are whole. A slice whose SMs its holders cannot share in whole numbers is the exception: the services that held
/// one are summed in the order of GPUs, at each instant.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/instant.h"
#include "domain/values/scenario.h"

namespace berth::world {

struct SliceSums {
  std::vector<std::int64_t> gpu_us_by_entry;  ///< GPUs that hold a slice, by fleet entry
  double allocated_sm_us = 0;                 ///< of slices that services hold, and of foreign ones
  std::vector<double> allocated_sm_us_by_service;
  std::vector<std::int64_t> lost_us_by_service;
  std::vector<std::vector<Decimal>> gpu_us_by_service;  ///< [service][fleet entry]: its share, by SMs, of GPUs it holds
  std::vector<std::int64_t> changes_by_service;
  std::int64_t changes = 0;
};

/// What one holder of an existing slice has.
struct HeldPart {
  ServiceId service;
  int sms = 0;  ///< of the slice
  int holder_count = 1;
  bool is_first_holder = true;  ///< of the slice, whose SMs count once
  bool is_lost = false;         ///< the slice does not work for its holders
  friend bool operator==(const HeldPart&, const HeldPart&) = default;
};

/// What a GPU holds.
struct HeldGpu {
  bool has_slices = false;
  std::vector<HeldPart> parts;   ///< of slices with holders, in the order of their starts, then of services
  std::int64_t foreign_sms = 0;  ///< of foreign slices
  friend bool operator==(const HeldGpu&, const HeldGpu&) = default;
};

class SliceSumsMeter {
 public:
  /// Keeps a reference to `scenario`.
  explicit SliceSumsMeter(const Scenario& scenario);

  /// Makes a place for one more service.
  void add_service();
  /// Sets what the GPU holds from the instant reached on. O(parts of the GPU); O(parts of the fleet) if one of its
  /// services has held a part of a slice that is not a whole number of SMs.
  void set_gpu(GpuId gpu, HeldGpu held);
  /// Advances to `now`. Requires: set_gpu was called for each change before. O(fleet entries).
  void advance(Instant now);
  [[nodiscard]] Instant reached() const { return reached_; }
  /// Counts a slice of these services that was created or destroyed.
  void count_change(const std::vector<ServiceId>& services);

  /// Completes the sums up to the instant reached. O(services).
  void settle();
  /// As of the last `settle`.
  [[nodiscard]] const SliceSums& sums() const { return sums_; }

 private:
  /// The rates at which the sums of a service grow.
  struct Rates {
    double sms = 0;
    std::int64_t lost = 0;
    std::vector<Decimal> gpus;  ///< by fleet entry
    Instant settled_until;
  };

  void settle(ServiceId service);
  void add(const HeldGpu& held, std::uint32_t entry, int sign);
  void note_fractions(const HeldGpu& held);
  void add_up_fractions();

  std::vector<std::uint32_t> entry_of_gpu_;
  std::vector<HeldGpu> gpus_;
  std::vector<std::int64_t> gpus_by_entry_;  ///< that hold slices
  std::int64_t sms_ = 0;                     ///< of slices with holders, and of foreign ones
  std::vector<Rates> rates_;                 ///< by service
  /// Services that have held a part that is not a whole number of SMs, with the rate of their SMs.
  std::map<ServiceId, double> fractions_;
  bool are_fractions_stale_ = false;
  Instant reached_;
  SliceSums sums_;
};

}  // namespace berth::world
