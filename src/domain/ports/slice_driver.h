/// Carries out the creations and destructions of the table of slices (world/slices/slice_table.h).
///
/// `sim/world/simulated_driver.h` takes the times of a scenario, with injected faults. `world/slices/outside_driver.h`
/// collects actions for devices outside of the process: real GPUs, in `berth up --world local`.
#pragma once

#include <optional>

#include "base/core/instant.h"
#include "domain/values/device_action.h"
#include "domain/values/service.h"

namespace berth {

/// How long an action takes that a driver has begun.
struct ActionTime {
  Micros duration;
  bool times_out = false;  ///< it takes longer, and fails after `duration`: `end` is not called
};

class SliceDriver {
 public:
  virtual ~SliceDriver() = default;

  /// Begins an action. Absent: how long it takes is not known; its result is reported to the table when there is one
  /// (SliceTable::end_device_action).
  [[nodiscard]] virtual std::optional<ActionTime> begin(const DeviceAction& action) = 0;
  /// An action that a process before this one had begun, and that has not ended. Where `begin` gave its time, the table
  /// remembers how much of it is left.
  virtual void resume(const DeviceAction& action) = 0;
  /// The time of an action that `begin` has given is over: its result.
  [[nodiscard]] virtual ActionResult end(const DeviceAction& action) = 0;
  /// Whether slices appear and disappear on devices without the table: others use them, and a GPU that was lost may
  /// come back as it was. A plan may then not fit the slices that exist when it takes effect.
  [[nodiscard]] virtual bool can_devices_differ() const = 0;
  /// Whether services with `run` have a process on each of their slices: it is ready, and is gone, when the table is
  /// told so (SliceTable::program_ready, program_gone), not after times of the scenario.
  [[nodiscard]] virtual bool has_programs() const { return false; }
  /// Whether a service has such processes (SliceDriver::has_programs).
  [[nodiscard]] virtual bool runs(const ServiceSpec& service) const { return service.running.program.has_value(); }
};

}  // namespace berth
