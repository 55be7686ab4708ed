/// How busy a GPU and its GPU instances were between two questions, by NVML's GPU performance monitoring (GPM).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "domain/ports/gpu_library.h"
#include "gpu/nvml/detail/functions.h"

namespace berth::edges::detail {

/// A sample buffer of the library; empty if it gives none.
class SampleBuffer {
 public:
  explicit SampleBuffer(const Functions& functions);
  SampleBuffer(const SampleBuffer&) = delete;
  SampleBuffer& operator=(const SampleBuffer&) = delete;
  SampleBuffer(SampleBuffer&& other) noexcept;
  SampleBuffer& operator=(SampleBuffer&& other) noexcept;
  ~SampleBuffer();

  /// Null: empty.
  [[nodiscard]] nvml_abi::GpmSample get() const { return sample_; }

 private:
  nvml_abi::signatures::nvmlGpmSampleFree free_ = nullptr;
  nvml_abi::GpmSample sample_ = nullptr;
};

/// Remembers the last sample of each device of one GPU. Not thread-safe. `functions` must outlive it, and the library
/// must stay initialised.
class ActivityMeter {
 public:
  using Clock = std::chrono::steady_clock;

  explicit ActivityMeter(const Functions& functions) : functions_(functions) {}

  /// Of the whole GPU. Nothing is known where the model or the driver has no GPM, and at the first call. A call within
  /// 0.1 s of the last sample repeats the answer.
  [[nodiscard]] GpuActivity measure(nvml_abi::Device device, Clock::time_point now);
  /// The same of a GPU instance.
  [[nodiscard]] GpuActivity measure(nvml_abi::Device device, std::uint32_t gpu_instance, Clock::time_point now);
  /// Forgets all instances except these: a later one with the same id is another.
  void keep_only(const std::vector<GpuInstanceSeen>& instances);

 private:
  struct Metered {
    SampleBuffer last;   ///< holds a sample
    SampleBuffer spare;  ///< for the next one
    Clock::time_point at;
    GpuActivity activity = {};
  };
  /// No instance: the whole GPU.
  using Subject = std::optional<std::uint32_t>;

  [[nodiscard]] bool is_supported(nvml_abi::Device device);
  [[nodiscard]] GpuActivity measure(nvml_abi::Device device, Subject subject, Clock::time_point now);
  [[nodiscard]] GpuActivity begin(nvml_abi::Device device, Subject subject, Clock::time_point now);
  [[nodiscard]] bool take(nvml_abi::Device device, Subject subject, const SampleBuffer& into) const;
  [[nodiscard]] GpuActivity compare(const SampleBuffer& first, const SampleBuffer& second) const;

  const Functions& functions_;
  std::optional<bool> is_supported_;  ///< absent: not known yet
  std::map<Subject, Metered> metered_;
};

}  // namespace berth::edges::detail
