/// Between a session and those who change GPUs: what the session wants of devices becomes orders, and how they ended is
/// told to it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "domain/gpu.h"
#include "live/session.h"
#include "ports/gpu_hands.h"

namespace berth::edges {

class DeviceOrders {
 public:
  struct Gpu {
    std::string uuid;
    GpuModel model;
  };
  /// GPUs by GpuId. `hands` is borrowed; null: nothing can be changed. `is_dry_run`: what would be done is recorded,
  /// and nothing is done.
  DeviceOrders(std::vector<Gpu> gpus, GpuHands* hands, bool is_dry_run)
      : gpus_(std::move(gpus)), hands_(hands), is_dry_run_(is_dry_run) {}

  /// Gives out what the session wants to be done and has recorded.
  void give(live::Session& session);
  /// Tells the session what has ended. Returns what was read on each GPU after the last order that ended there.
  [[nodiscard]] std::map<std::uint32_t, GpuReading> take(live::Session& session);

  /// Orders that have not ended.
  [[nodiscard]] std::size_t open_count() const { return open_.size(); }

 private:
  [[nodiscard]] DeviceOrder order_of(const live::DeviceIntent& intent) const;
  void end(live::Session& session, const live::DeviceIntent& intent, const DeviceEnd& end);

  std::vector<Gpu> gpus_;
  GpuHands* hands_;
  bool is_dry_run_;
  std::map<std::uint64_t, live::DeviceIntent> open_;  ///< by number
};

}  // namespace berth::edges
