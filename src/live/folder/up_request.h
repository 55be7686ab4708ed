/// The request for a running engine: the checked options of `berth up`, with those of its configuration file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "domain/values/no_changes.h"
#include "engine/loop/proposal.h"
#include "gpu/device/managed_gpu.h"
#include "gpu/health/xid_policy.h"

namespace berth::live {

/// For how many days of the world records are kept; each > 0.
struct Retention {
  std::int64_t events_days = 30;
  std::int64_t series_days = 7;
  std::int64_t usage_days = 400;
  friend bool operator==(const Retention&, const Retention&) = default;
};

/// The least and the most of UpRequest::series_max.
inline constexpr std::int64_t kSeriesMaxLeast = 1'000;
inline constexpr std::int64_t kSeriesMaxMost = 1'000'000;

/// The kind of a world's devices.
enum class WorldKind { kSimulated, kLocal, kKubernetes };
/// "simulated", "local", "kubernetes".
[[nodiscard]] std::string_view word(WorldKind kind);

/// Where the API listens.
struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;  ///< 0: any free one
  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

/// The request to `berth up`, checked.
struct UpRequest {
  std::optional<std::string> scenario_path;                ///< absent: the demo, or no services on real devices
  std::optional<WorldKind> world = WorldKind::kSimulated;  ///< absent: local where there is a GPU
  std::optional<std::string> nvml_path = std::nullopt;     ///< of the library; absent: where it usually is
  std::optional<std::string> hands_path = std::nullopt;    ///< socket of the GPU agent; absent: none
  bool manage_gpus = false;                                ///< GPUs of `manage` may be changed
  bool is_dry_run = false;                                 ///< changes are recorded, and not carried out
  bool accepts_gap = false;                                ///< a local world: the time since it last ran is right
  bool has_load = true;                                    ///< services get simulated requests
  bool measures_load = false;                              ///< a local world: gateways report the requests
  // Unstated, a world that continues keeps its own; a new one has 1, berth, never.
  std::optional<std::uint64_t> seed = std::nullopt;
  std::optional<std::string> policy = std::nullopt;
  std::optional<Approval> approval = std::nullopt;
  double speed = 10;  ///< 0: as fast as possible; of a local world 1
  bool is_speed_stated = false;
  bool until_end = false;                                   ///< of the scenario, known to the planner
  std::optional<std::int64_t> until_second = std::nullopt;  ///< of the world
  ListenAddress listen = {};
  std::optional<ListenAddress> device_metrics = std::nullopt;  ///< serves figures of GPUs; absent: nowhere
  std::string hostname_label = "hostname";                     ///< of device metrics
  std::optional<std::string> data_dir;
  std::optional<std::string> journal_path;
  std::vector<device::ManagedGpu> manage = {};                  ///< GPUs that may be changed, with --manage-gpus
  std::optional<std::string> simulated_devices = std::nullopt;  ///< folder of the files of simulated devices
  std::vector<std::string> manage_places = {};                  ///< where the file names each of them, for messages
  Retention retention = {};
  /// Weekly windows without changes; absent: those that the folder has.
  std::optional<std::vector<WeekSpan>> no_changes = std::nullopt;
  std::optional<std::string> config_path = std::nullopt;  ///< the file of --config, if any
  std::int64_t series_max = 10'000;                       ///< of a scrape of the metrics
  // Of the file; unstated, a world has those of its scenario.
  std::optional<Decimal> tier_sure = std::nullopt;             ///< TierSettings::sure
  std::optional<std::string> tier_model = std::nullopt;        ///< path of TierSettings::forest
  bool learns_speed = true;                                    ///< SessionOptions::learns_speed
  std::optional<health::XidPolicy> xid_policy = std::nullopt;  ///< absent: the built-in one
  bool is_health_dry_run = false;                              ///< what errors of GPUs ask for is only recorded
};

/// Completes the request once the kind of the world is known. Errors: options of real GPUs in a simulated world; a
/// speed of a local world without simulated load, as real devices take their own time.
[[nodiscard]] Result<UpRequest> settle_world(UpRequest request, WorldKind kind);
/// Whether the world's time is that of the wall clock. Requires: settled.
[[nodiscard]] bool has_real_time(const UpRequest& request);

/// A key of the configuration file whose new value, read again, does not take effect.
struct UnappliedKey {
  std::string name;
  std::string in_force;      ///< as written, or the default in words
  std::string found;         ///< the same
  bool is_of_world = false;  ///< another value needs another folder; else a restart
  friend bool operator==(const UnappliedKey&, const UnappliedKey&) = default;
};

/// The contents of a configuration file that was read again.
struct RereadConfig {
  Retention retention = {};
  std::vector<WeekSpan> no_changes = {};
  std::vector<UnappliedKey> unapplied = {};
};

}  // namespace berth::live
