#include "edges/otlp/telemetry.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

namespace berth::edges {
namespace {

/// The wall clock now, which then never is set back.
std::function<std::int64_t()> steady_wall_clock() {
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  const auto began = std::chrono::steady_clock::now();
  const std::int64_t wall_us = duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  return [began, wall_us] {
    return wall_us + duration_cast<microseconds>(std::chrono::steady_clock::now() - began).count();
  };
}

OtlpExporterOptions exporter_options(OtelOptions otel, TelemetryOptions options) {
  const auto add = [&otel](const std::string& name, std::string value) {
    const bool is_there = std::ranges::any_of(otel.resource, [&](const auto& pair) { return pair.first == name; });
    if (!is_there) otel.resource.emplace_back(name, std::move(value));
  };
  add("service.version", options.version);
  add("service.instance.id", fmt::format("{:016x}{:016x}", random_seed(), random_seed()));
  OtlpExporterOptions made;
  constexpr std::int64_t kMicrosPerMs = 1000;
  made.metrics_interval = Micros(otel.metrics_interval_ms * kMicrosPerMs);
  made.otel = std::move(otel);
  made.version = std::move(options.version);
  made.limits_callers = options.limits_callers;
  made.now_us = steady_wall_clock();
  made.warn = std::move(options.warn);
  return made;
}

}  // namespace

Environment process_environment() {
  return [](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

Result<std::unique_ptr<Telemetry>> Telemetry::open(const Environment& environment, TelemetryOptions options) {
  auto reading = read_otel_options(environment, options.service_name);
  if (!reading) return pass_on(reading.error());
  for (const std::string& warning : reading->warnings) options.warn(warning);
  if (reading->options.is_off()) return nullptr;
  return std::make_unique<Telemetry>(std::move(reading->options), std::move(options));
}

Telemetry::Telemetry(OtelOptions otel, TelemetryOptions options)
    : exporter_(exporter_options(std::move(otel), std::move(options)), client_) {}

}  // namespace berth::edges
