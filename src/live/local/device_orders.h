/// Between a session and the GPU agent: sends the changes that the session wants as orders, and reports their outcomes
/// to it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/ports/gpu_hands.h"
#include "domain/values/gpu.h"
#include "live/session/device_intent.h"

namespace berth::live {

class Session;

class DeviceOrders {
 public:
  struct Gpu {
    std::string uuid;
    GpuModel model;
  };
  /// GPUs by GpuId. `hands` is borrowed; null: nothing can be changed. `is_dry_run`: changes are recorded, and not
  /// carried out.
  DeviceOrders(std::vector<Gpu> gpus, GpuHands* hands, bool is_dry_run)
      : gpus_(std::move(gpus)), hands_(hands), is_dry_run_(is_dry_run) {}

  /// Sends the orders that the session wants and has recorded.
  void give(Session& session);
  /// Orders that a GPU's MIG mode is turned on, once that is recorded. Returns whether it was.
  bool turn_mig_on(Session& session, std::uint32_t gpu);
  [[nodiscard]] bool is_mig_mode_open(std::uint32_t gpu) const;
  /// Reports to the session which orders ended, and which wait for a process that uses an instance. Returns the GPUs on
  /// which orders ended, with the reading after the last of them; nothing: the GPU could not be read.
  [[nodiscard]] std::map<std::uint32_t, std::optional<GpuReading>> take(Session& session);

  /// Orders that have not ended.
  [[nodiscard]] std::size_t open_count() const { return open_.size() + open_modes_.size(); }

 private:
  struct Open {
    DeviceIntent intent;
    bool is_given_up = false;  ///< the session has recorded it as failed, but the device continues
  };
  [[nodiscard]] DeviceOrder order_of(const DeviceIntent& intent) const;
  /// Returns the GPU of the order that ended, if it is one of ours.
  [[nodiscard]] std::optional<std::uint32_t> take_end(Session& session, const DeviceEnd& ended);
  std::uint32_t take_action_end(Session& session, const DeviceEnd& ended);
  std::uint32_t take_mode_end(Session& session, const DeviceEnd& ended);
  /// Logs an event of the GPU.
  void tell_delayed(Session& session, const DeviceEnd& delayed) const;

  std::vector<Gpu> gpus_;
  GpuHands* hands_;
  bool is_dry_run_;
  std::map<std::uint64_t, Open> open_;                 ///< by number of the intent
  std::map<std::uint64_t, std::uint32_t> open_modes_;  ///< by intent: GPUs whose MIG mode is being turned on
};

}  // namespace berth::live
