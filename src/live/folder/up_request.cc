#include "live/folder/up_request.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace berth::live {
namespace {

/// Options about real GPUs are meaningless in a world that is simulated, whether stated or by default.
Result<void> check_no_devices(const UpRequest& request) {
  const auto wrong = [](std::string_view option) {
    return invalid(fmt::format("{}: wanted --world local or auto with it, found a simulated world", option));
  };
  if (request.nvml_path) return wrong("--nvml");
  if (request.has_load || request.measures_load) return wrong("--load");
  if (request.manage_gpus) return wrong("--manage-gpus");
  if (request.hands_path) return wrong("--hands");
  if (request.accepts_gap) return wrong("--accept-gap");
  return {};
}

/// Options that are about the GPUs of this machine, or about its gateway.
Result<void> check_cluster(const UpRequest& request) {
  const auto wrong = [](std::string_view option, const std::string& found) {
    return invalid(fmt::format("{}: wanted none in the world of a cluster, found {}", option, found));
  };
  if (request.speed != 1) {
    return invalid(fmt::format("--speed: wanted 1 in the world of a cluster, whose pods take their own time, found {}",
                               request.speed == 0 ? "\"max\"" : fmt::format("{}", request.speed)));
  }
  if (request.measures_load)
    return invalid("--load: wanted simulated or none in the world of a cluster, found \"measured\"");
  if (request.device_metrics) return wrong("--device-metrics", "an address");
  if (request.nvml_path) return wrong("--nvml", *request.nvml_path);
  if (request.hands_path) return wrong("--hands", *request.hands_path);
  return {};
}

}  // namespace

std::string_view word(WorldKind kind) {
  switch (kind) {
    case WorldKind::kSimulated:
      return "simulated";
    case WorldKind::kLocal:
      return "local";
    case WorldKind::kKubernetes:
      return "kubernetes";
  }
  return {};
}

Result<UpRequest> settle_world(UpRequest request, WorldKind kind) {
  if (request.world == WorldKind::kSimulated) {
    if (auto none = check_no_devices(request); !none) return pass_on(none.error());
  }
  const bool is_auto = !request.world.has_value();
  request.world = kind;
  if (kind == WorldKind::kSimulated) {
    if (request.device_metrics) {
      return invalid(is_auto
                         ? "--device-metrics: wanted a GPU in this machine, found none: with --world auto its world "
                           "is a simulated one"
                         : "--device-metrics: wanted the GPUs of this machine (--world local), found a simulated "
                           "world");
    }
    request.has_load = true;
    return request;
  }
  if (!request.is_speed_stated) request.speed = 1;
  if (kind == WorldKind::kKubernetes) {
    if (auto fits = check_cluster(request); !fits) return pass_on(fits.error());
  }
  if (request.speed == 0) {
    return invalid("--speed: wanted a number in a world of real GPUs, which take their own time, found \"max\"");
  }
  if (request.speed != 1 && request.measures_load) {
    return invalid(fmt::format("--speed: wanted 1 with --load measured, found {}", request.speed));
  }
  if (request.speed != 1 && !request.has_load) {
    return invalid(fmt::format(
        "--speed: wanted 1 in a world of real GPUs (with --load simulated, another number), found {}", request.speed));
  }
  return request;
}

bool has_real_time(const UpRequest& request) { return request.world != WorldKind::kSimulated && request.speed == 1; }

}  // namespace berth::live
