/// The fewest GPUs whose slices have the capacities that services need.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "domain/values/packing.h"
#include "domain/values/scenario.h"
#include "domain/values/slice.h"

namespace berth::elastic {

struct PackedCapacity {
  std::int64_t gpus = 0;
  bool is_proven_fewest = false;  ///< within the budget of the search
  std::vector<Holding> layout;    ///< sorted by slice, for inference
};

/// Which of its measured points a service uses on a slice.
enum class SlicePoints : std::uint8_t {
  kDefault,  ///< used when no other point is chosen (domain/profile/operating_point.h)
  kPlanned,  ///< as plans choose them (planner/window/frame.h)
};

/// Unlike in `berth pack`, each service has its own rules for its points. Answers are cached: capacities are rounded up
/// to 1/64 of that of the service's largest slice. Requires: one GPU model.
class CapacityPacking {
 public:
  CapacityPacking(const Scenario& scenario, SlicePoints points);

  /// The requests per second of a GPU partitioned for the service alone; 0: no slice can serve it.
  [[nodiscard]] double gpu_capacity(ServiceId service);
  /// `requests_per_second` by ServiceId; services that no slice can serve are ignored.
  [[nodiscard]] const PackedCapacity& pack(const std::vector<double>& requests_per_second);

 private:
  PackingProblem problem_;
  std::vector<double> steps_;  ///< by service, in requests per second; 0: no slice can serve it
  std::map<std::vector<std::int64_t>, PackedCapacity> packed_;
};

}  // namespace berth::elastic
