#include "live/programs/device_file.h"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "domain/profile/operating_point.h"

namespace berth::live {

std::optional<std::string> device_file(const ServiceSpec& service, const GpuModel& model,
                                       const world::ProgramSlice& on) {
  const auto point = profile::point_for(service, model, on.slice.profile, on.point);
  if (!point) return std::nullopt;
  const MigProfile* profile = on.slice.profile.is_full() ? nullptr : &model.profiles[on.slice.profile.index];
  const std::int64_t memory_mib = profile == nullptr ? model.memory_mib : profile->memory_mib.value_or(0);
  std::string rows;
  const std::vector<std::int64_t> latencies = profile::latencies_us(*point, Decimal(1));
  for (std::size_t i = 0; i < latencies.size(); ++i) {
    constexpr std::int64_t kPerMs = 1000;
    rows += fmt::format("{}[{}, {}.{:03}]", i == 0 ? "" : ", ", i + 1, latencies[i] / kPerMs, latencies[i] % kPerMs);
  }
  return fmt::format(
      "berth: 1\nname: \"{} {}, simulated\"\norigin: \"the profile of {}/{}\"\nlanes: {}\nmemory: {}MiB\n"
      "batch_max: {}\nload: {{seconds: {}.{:06}, bytes_per_second: 1000000000000}}\n"
      "models:\n  \"*\": {{latency_ms: [{}], bytes: 1}}\n",
      model.name, profile_name(model, on.slice.profile), service.tenant, service.name, point->processes,
      memory_mib > 0 ? memory_mib : 1024, point->batch, service.start.count() / kMicrosPerSecond,
      service.start.count() % kMicrosPerSecond, rows);
}

}  // namespace berth::live
