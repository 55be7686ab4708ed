/// What the program provides to `berth up`.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/up/wall_clock.h"
#include "base/core/result.h"
#include "domain/tracing/otel_options.h"
#include "edges/otlp/telemetry.h"
#include "gpu/device/local_gpu.h"
#include "live/local/outside_world.h"

namespace berth {
class Files;
class HttpHandler;
class HttpServer;
}  // namespace berth

namespace berth::live {
struct RereadConfig;
}

namespace berth::up {

/// Starts an HTTP server on a host and port (0: any free one); the handler must outlive it.
using ServerStarter = std::function<Result<std::unique_ptr<HttpServer>>(const std::string& host, std::uint16_t port,
                                                                        HttpHandler& handler)>;

/// The GPUs of a cluster, for `berth operator`.
struct ClusterOutside {
  std::string uid;                      ///< of its namespace kube-system
  std::vector<device::LocalGpu> fleet;  ///< found now; a world that continues keeps its own
  /// Makes the world of these GPUs, which are those of the folder. `epoch_us`: its second 0, since 1970. Called again
  /// for each fleet that follows.
  std::function<live::OutsideWorld(const std::vector<device::LocalGpu>& fleet, std::int64_t epoch_us)> make_world;
  std::int64_t gpus_max = INT64_MAX;  ///< a new world does not begin with more
  /// The fleet that the world should have from now on: the present numbers, perhaps with other GPUs of the same models,
  /// and more behind them. Nothing: the present one. Asked under the session's lock. May be empty.
  std::function<std::optional<std::vector<device::LocalGpu>>()> wanted_fleet = {};
  /// The session is about to end, and one with that fleet follows: `make_world` is called again. May be empty.
  std::function<void()> on_next_fleet = {};
  /// Called once the session has ended, perhaps just before the process ends. May be empty.
  std::function<void()> on_end = {};
};

/// Provided by the program. The streams and files are borrowed; everything is required, except the version and
/// the last two functions.
struct UpOutside {
  std::string version = {};  ///< of the program
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  const Files* files = nullptr;
  ServerStarter start_server = {};
  /// Prints why the start failed; returns the exit status.
  std::function<int(const Error&)> report_failure = {};
  std::optional<ClusterOutside> cluster = std::nullopt;  ///< needed only for a world of a cluster
  /// Needed only with a configuration file.
  std::function<Result<live::RereadConfig>()> read_config_again = {};
  /// The wall clock, which a world of real GPUs follows: microseconds since 1970.
  std::function<std::int64_t()> wall_us = wall_us_now;
  /// Variables `OTEL_*`.
  Environment environment = edges::process_environment();
};

}  // namespace berth::up
