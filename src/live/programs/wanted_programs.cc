#include "live/programs/wanted_programs.h"

#include <utility>

#include "domain/profile/at_speed.h"
#include "domain/profile/operating_point.h"
#include "live/session/object_names.h"

namespace berth::live {
namespace {

/// The time of a batch of n at index n - 1.
std::vector<std::int64_t> batch_times_of(const ServiceSpec& spec, const GpuModel& model,
                                         const world::ProgramSlice& on) {
  const auto point = profile::point_for(spec, model, on.slice.profile, on.point);
  return point ? profile::latencies_us(*point, Decimal(1)) : std::vector<std::int64_t>();
}

/// Of batches of 1, 2, 4 .. and the largest.
std::vector<BatchLatency> latencies_of(const std::vector<std::int64_t>& batch_us) {
  std::vector<BatchLatency> latencies;
  for (std::size_t batch = 1; batch <= batch_us.size(); batch *= 2) {
    latencies.push_back({.batch = static_cast<std::int64_t>(batch), .latency = Micros(batch_us[batch - 1])});
  }
  if (batch_us.empty() || latencies.back().batch == std::ssize(batch_us)) return latencies;
  latencies.push_back({.batch = std::ssize(batch_us), .latency = Micros(batch_us.back())});
  return latencies;
}

}  // namespace

std::vector<WantedProgram> wanted_programs(const Scenario& scenario, const std::vector<world::ProgramSlice>& slices,
                                           const DeviceUuid& uuid_of) {
  std::vector<WantedProgram> programs;
  for (const world::ProgramSlice& on : slices) {
    const ServiceSpec& spec = std::as_const(scenario.services)[on.service.index];
    WantedProgram& wanted = programs.emplace_back();
    wanted.on = on;
    wanted.service = spec.name;
    wanted.order.tenant = spec.tenant;
    wanted.order.slice = place_name(scenario, on.slice);
    wanted.order.generation = on.generation;
    if (!on.exists || on.is_leaving || !spec.running.program) continue;
    const auto uuid = uuid_of(on.slice);
    if (!uuid) continue;
    wanted.is_startable = true;
    wanted.order.template_name = spec.running.program->template_name;
    wanted.order.parameters = spec.running.program->parameters;
    wanted.order.device_uuid = *uuid;
    wanted.batch_us = batch_times_of(spec, scenario.model_of(on.slice.gpu), on);
    wanted.latencies = latencies_of(wanted.batch_us);
  }
  return programs;
}

std::vector<ProgramService> program_services(const Scenario& scenario) {
  std::vector<ProgramService> services;
  for (const ServiceSpec& spec : scenario.services) {
    if (spec.is_absent || !spec.running.program) continue;
    services.push_back({.tenant = spec.tenant,
                        .name = spec.name,
                        .target = spec.target,
                        .answer = std::max(spec.target, spec.ready.answer.value_or(spec.target))});
  }
  return services;
}

}  // namespace berth::live
