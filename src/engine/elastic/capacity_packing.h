/// The fewest GPUs whose slices have the capacities that services want.
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

/// At which of its measured points a service runs on a slice.
enum class SlicePoints : std::uint8_t {
  kDefault,  ///< where nothing else is chosen (domain/profile/operating_point.h)
  kPlanned,  ///< as plans choose them (planner/window/frame.h)
};

/// Unlike in `berth pack`, each service has its own rules for its points. Answers are kept: capacities are rounded up
/// to 1/64 of the largest slice's of the service. Requires: one GPU model.
class CapacityPacking {
 public:
  CapacityPacking(const Scenario& scenario, SlicePoints points);

  /// What a GPU answers per second that is cut for the service alone; 0: no slice can serve it.
  [[nodiscard]] double gpu_capacity(ServiceId service);
  /// `requests_per_second` by ServiceId; of a service that no slice can serve nothing is packed.
  [[nodiscard]] const PackedCapacity& pack(const std::vector<double>& requests_per_second);

 private:
  PackingProblem problem_;
  std::vector<double> steps_;  ///< by service, in requests per second; 0: no slice can serve it
  std::map<std::vector<std::int64_t>, PackedCapacity> packed_;
};

}  // namespace berth::elastic
