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

/// Of the PCIe bus, in bytes per second. Absent: not known.
struct PcieTraffic {
  std::optional<double> sent = std::nullopt;
  std::optional<double> received = std::nullopt;
  friend bool operator==(const PcieTraffic&, const PcieTraffic&) = default;
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
  /// The traffic of the whole GPU in the time of its last measure(). Nothing is known where GPM does not say.
  [[nodiscard]] PcieTraffic pcie() const;
  /// Whether the GPU was found to have GPM.
  [[nodiscard]] bool is_in_use() const { return is_supported_ == true; }
  /// Megabytes per second over all NVLinks between this call and the last one, by what they carried so far. Nothing at
  /// the first call, within 0.1 s of the last one (then the answer is repeated), and if the counter went back.
  [[nodiscard]] std::optional<double> nvlink_rate(std::uint64_t kib, Clock::time_point now);
  /// Forgets all instances except these: a later one with the same id is another.
  void keep_only(const std::vector<GpuInstanceSeen>& instances);

 private:
  struct Metered {
    SampleBuffer last;   ///< holds a sample
    SampleBuffer spare;  ///< for the next one
    Clock::time_point at;
    GpuActivity activity = {};
    PcieTraffic pcie = {};
  };
  struct LinkCount {
    std::uint64_t kib = 0;
    Clock::time_point at;
    std::optional<double> rate = std::nullopt;
  };
  /// No instance: the whole GPU.
  using Subject = std::optional<std::uint32_t>;

  [[nodiscard]] bool is_supported(nvml_abi::Device device);
  [[nodiscard]] GpuActivity measure(nvml_abi::Device device, Subject subject, Clock::time_point now);
  [[nodiscard]] GpuActivity begin(nvml_abi::Device device, Subject subject, Clock::time_point now);
  [[nodiscard]] bool take(nvml_abi::Device device, Subject subject, const SampleBuffer& into) const;
  void compare(Metered& metered, bool is_whole_gpu) const;

  const Functions& functions_;
  std::optional<bool> is_supported_;  ///< absent: not known yet
  std::map<Subject, Metered> metered_;
  std::optional<LinkCount> links_;  ///< of the last question
};

}  // namespace berth::edges::detail
