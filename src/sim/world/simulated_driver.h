/// Creations and destructions in the times of a scenario, with injected faults: the driver of simulated slices.
#pragma once

#include <optional>

#include "domain/ports/slice_driver.h"
#include "domain/values/scenario.h"
#include "sim/world/fault_book.h"

namespace berth::sim {

class SimulatedDriver : public SliceDriver {
 public:
  /// References must outlive the driver. `faults`: the pending ones; it uses them up.
  SimulatedDriver(const Scenario& scenario, FaultBook& faults) : scenario_(scenario), faults_(faults) {}

  /// `change_time` of the scenario, or of a fault: after kActionTimeMax the action times out.
  [[nodiscard]] std::optional<ActionTime> begin(const DeviceAction& action) override;
  void resume(const DeviceAction& /*action*/) override {}
  [[nodiscard]] ActionResult end(const DeviceAction& action) override;
  [[nodiscard]] bool can_devices_differ() const override { return false; }

 private:
  const Scenario& scenario_;
  FaultBook& faults_;
};

}  // namespace berth::sim
