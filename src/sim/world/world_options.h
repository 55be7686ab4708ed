/// The options of a simulated world.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "domain/values/scenario.h"
#include "domain/values/serving_modes.h"
#include "sim/world/batch_times.h"
#include "sim/world/service_meter.h"
#include "world/slices/outside_driver.h"

namespace berth::sim {

/// What carries out creations and destructions of slices.
enum class Devices {
  kSimulated,  ///< SimulatedDriver: the scenario's times, with injected faults
  kOutside,    ///< world::OutsideDriver: outside devices, which get World::device_actions
};

struct WorldOptions {
  Sharing sharing = Sharing::kTimeSlices;
  Dispatch dispatch = Dispatch::kPull;
  /// At `fidelity: rates`, serve by rates even those services that are small enough to be served request by request:
  /// fast and approximate.
  bool is_rough = false;
  /// Services get requests and retrain. Without load, nothing is known of them: none of their seconds is reported.
  bool has_load = true;
  Devices devices = Devices::kSimulated;
  world::ProgramsOf programs = world::ProgramsOf::kRun;  ///< with Devices::kOutside
  /// The world does not end with the longest window; windows with `repeat: true` start again.
  bool is_endless = false;
  /// Called with each second of each service, including what the engine does not see. May be empty.
  std::function<void(const MeasuredSecond&)> second_measured = {};
  /// Called after each second with the times of the batches that ended in it (BatchTimes). May be empty.
  std::function<void(const std::vector<BatchTimes>&)> batches_measured = {};
  /// Only GPUs with lower ids are present at second 0, in a fleet that may grow and shrink; absent: all.
  std::optional<std::uint32_t> gpus_at_start = {};
  /// Only this service gets requests and retraining (hindsight searches replay services one by one).
  std::optional<ServiceId> only;
};

}  // namespace berth::sim
