/// The sample buffers that clients have allocated for GPM.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "gpu/nvml_sim/gpm.h"

namespace berth::edges {

/// Thread-safe. A buffer is known by its number, from 1.
class GpmSamples {
 public:
  /// Allocates a buffer without a sample. Nothing: there are kSamplesMax already.
  [[nodiscard]] std::optional<std::uint64_t> allocate();
  /// False: no such buffer.
  [[nodiscard]] bool free(std::uint64_t sample);
  [[nodiscard]] bool has(std::uint64_t sample);
  /// Puts a sample into a buffer. False: no such buffer.
  [[nodiscard]] bool put(std::uint64_t sample, const nvml_sim::GpmReading& reading);
  /// The sample in a buffer; nothing: no such buffer, or it is empty.
  [[nodiscard]] std::optional<nvml_sim::GpmReading> get(std::uint64_t sample);

  void clear();
  /// Held around a fork.
  std::mutex& mutex() { return mutex_; }

 private:
  static constexpr std::size_t kSamplesMax = 65'536;
  std::mutex mutex_;
  std::uint64_t made_ = 0;
  std::map<std::uint64_t, std::optional<nvml_sim::GpmReading>> samples_;
};

}  // namespace berth::edges
