#include "gpu/nvml_sim_library/gpm_samples.h"

namespace berth::edges {

using nvml_sim::GpmReading;

std::optional<std::uint64_t> GpmSamples::allocate() {
  const std::lock_guard lock(mutex_);
  if (samples_.size() >= kSamplesMax) return std::nullopt;
  samples_.emplace(++made_, std::nullopt);
  return made_;
}

bool GpmSamples::free(std::uint64_t sample) {
  const std::lock_guard lock(mutex_);
  return samples_.erase(sample) == 1;
}

bool GpmSamples::has(std::uint64_t sample) {
  const std::lock_guard lock(mutex_);
  return samples_.contains(sample);
}

bool GpmSamples::put(std::uint64_t sample, const GpmReading& reading) {
  const std::lock_guard lock(mutex_);
  const auto found = samples_.find(sample);
  if (found == samples_.end()) return false;
  found->second = reading;
  return true;
}

std::optional<GpmReading> GpmSamples::get(std::uint64_t sample) {
  const std::lock_guard lock(mutex_);
  const auto found = samples_.find(sample);
  return found == samples_.end() ? std::nullopt : found->second;
}

void GpmSamples::clear() {
  const std::lock_guard lock(mutex_);
  samples_.clear();
}

}  // namespace berth::edges
