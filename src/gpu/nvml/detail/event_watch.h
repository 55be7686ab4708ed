/// The events of one GPU: foreign MIG changes, and XIDs.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "domain/ports/gpu_library.h"
#include "gpu/nvml/detail/functions.h"

namespace berth::edges::detail {

/// Thread-safe. Of several waits at once, one gets an event.
class EventWatch {
 public:
  /// `functions` must outlive it.
  explicit EventWatch(const Functions& functions) : functions_(functions) {}
  EventWatch(const EventWatch&) = delete;
  EventWatch& operator=(const EventWatch&) = delete;
  ~EventWatch();

  /// Waits for at most `millis_max`. Events are collected from the first wait on. If the GPU has no events, or this
  /// caller may not see them, it sleeps.
  [[nodiscard]] GpuAnswer<std::optional<GpuNotice>> wait(nvml_abi::Device device, std::uint32_t millis_max);

 private:
  /// Null: there are no events.
  [[nodiscard]] GpuAnswer<nvml_abi::EventSet> events_of(nvml_abi::Device device);
  [[nodiscard]] GpuAnswer<nvml_abi::EventSet> register_events(nvml_abi::Device device) const;

  const Functions& functions_;
  std::mutex mutex_;
  std::optional<nvml_abi::EventSet> set_;  ///< from the first request on
};

}  // namespace berth::edges::detail
