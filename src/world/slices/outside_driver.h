/// Creations and destructions carried out by devices outside this process: the driver of slices on real GPUs.
///
/// It calls no device. `live::Session::take_device_intents` records the actions collected here as intents of the
/// journal, and `live/local/device_orders.h` makes orders of them, which the GPU agent (`gpu/hands`) carries out by
/// NVML in `gpu/device/verbs.h`. The results come back the same way (`SliceTable::end_device_action`), and `gpu/watch`
/// reads what exists on each GPU (`SliceTable::observe`).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/core/ensure.h"
#include "domain/ports/slice_driver.h"

namespace berth::world {

/// Which services have a process on each of their slices.
enum class ProgramsOf : std::uint8_t {
  kRun,  ///< those with `run`
  kAll,  ///< each, as where a slice of a service is a pod of a cluster
};

class OutsideDriver : public SliceDriver {
 public:
  explicit OutsideDriver(ProgramsOf programs = ProgramsOf::kRun) : programs_(programs) {}

  [[nodiscard]] std::optional<ActionTime> begin(const DeviceAction& action) override {
    collected_.push_back(action);
    return std::nullopt;
  }
  void resume(const DeviceAction& action) override { collected_.push_back(action); }
  /// Must not be called: actions have no simulated time here.
  [[nodiscard]] ActionResult end(const DeviceAction& /*action*/) override {
    ENSURE(false && "an action outside has no time");
    return {};
  }
  [[nodiscard]] bool can_devices_differ() const override { return true; }
  [[nodiscard]] bool has_programs() const override { return true; }
  [[nodiscard]] bool runs(const ServiceSpec& service) const override {
    return programs_ == ProgramsOf::kAll || SliceDriver::runs(service);
  }

  /// Actions that were begun and not taken yet, in the order in which each GPU must get them. Those on a GPU that was
  /// lost since are no longer awaited (SliceTable::awaits).
  [[nodiscard]] const std::vector<DeviceAction>& collected() const { return collected_; }
  void forget_collected() { collected_.clear(); }

 private:
  ProgramsOf programs_;
  std::vector<DeviceAction> collected_;
};

}  // namespace berth::world
