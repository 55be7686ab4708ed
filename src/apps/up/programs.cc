#include "apps/up/programs.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "apps/up/up_log.h"
#include "apps/up/up_parts.h"
#include "edges/live_driver/live_driver.h"
#include "edges/state_folder/device_files.h"
#include "edges/state_folder/state_folder.h"
#include "live/local/local_programs.h"
#include "live/local/local_world.h"
#include "surface/api/objects.h"

namespace berth::up {

Result<void> check_programs(const UpParts& parts) {
  if (parts.process_hands == nullptr || parts.world.history) return {};
  for (const ServiceSpec& service : parts.world.scenario.services) {
    if (!service.running.program) continue;
    const auto checked = parts.process_hands->check(api::program_anywhere(service.tenant, *service.running.program));
    if (checked || checked.error().code != ErrorCode::kInvalidInput) continue;
    return invalid(fmt::format("{}: service {} of tenant {}: {}", parts.world.scenario.name, service.name,
                               service.tenant, checked.error().message));
  }
  return {};
}

Result<void> make_programs(UpParts& parts) {
  if (!parts.local || parts.process_hands == nullptr) return {};
  auto key = parts.folder->gateway_key();
  if (!key) return pass_on(key.error());
  parts.gateway_key = *std::move(key);
  constexpr std::int64_t kMicrosPerMilli = 1000;
  live::LocalProgramsOptions options{.epoch_us = parts.world.beginning.epoch_us,
                                     .measures_load = parts.request.measures_load,
                                     .first_table = static_cast<std::uint64_t>(parts.wall.now_us() / kMicrosPerMilli)};
  options.uuid_of = [&parts](const Slice& slice) { return parts.local->uuid_of(slice); };
  if (parts.request.simulated_devices) {
    options.write_device = [folder = *parts.request.simulated_devices](const std::string& name,
                                                                       const std::string& text) {
      return edges::write_device_file(folder, name, text);
    };
  }
  options.warn = [err = parts.outside.err](const std::string& message) { log_warning(err, message); };
  options.wake = [&parts] {
    if (edges::LiveDriver* const driver = parts.waked.load()) driver->wake();
  };
  parts.programs = std::make_unique<live::LocalPrograms>(*parts.process_hands, std::move(options));
  parts.local->use_programs([&parts](const std::string& slice) { return parts.programs->restart(slice); });
  return {};
}

api::GatewaySource gateway_source(UpParts& parts) {
  if (!parts.programs) return {};
  return {.follow = [&parts](live::LineSink sink) { parts.programs->follow(std::move(sink)); },
          .report = [&parts](RequestReport report) { return parts.programs->take_report(std::move(report)); }};
}

live::DeviceSource device_source(UpParts& parts) {
  if (!parts.devices) return {};
  live::DeviceSource source = parts.devices->source(parts.request.has_load || parts.request.measures_load);
  source.is_load_measured = parts.request.measures_load;
  if (!parts.programs) return source;
  source.programs = [&parts](const std::string& tenant, const std::string& service) {
    return parts.programs->programs_of(tenant, service);
  };
  source.why_no_program = [&parts](const ProcessOrder& order) { return parts.programs->why_refused(order); };
  source.separates_users = [&parts] { return parts.programs->separates_users(); };
  source.log = [&parts](const std::string& slice, std::uint64_t generation, std::size_t bytes_max) {
    return parts.programs->read_log(slice, generation, bytes_max);
  };
  return source;
}

}  // namespace berth::up
