/// What is known of the devices of a world of real GPUs, in addition to the engine's state. A simulated world has none.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "domain/ports/gpu_library.h"
#include "domain/values/slice.h"
#include "live/local/health_view.h"
#include "live/programs/program_view.h"

namespace berth::live {

/// How long creations or destructions of a profile take on a GPU.
struct DeviceTimeView {
  std::string profile;
  bool is_creation = true;
  double assumed_seconds = 0;   ///< by the scenario
  double measured_seconds = 0;  ///< the median of the last few, in time of the world
  double planned_seconds = 0;   ///< what plans use
  std::int64_t count = 0;       ///< of all
};

/// A process on a GPU, of any origin. Unknown fields are absent.
struct DeviceProcessView {
  std::uint32_t pid = 0;
  std::optional<std::string> user = std::nullopt;
  std::optional<std::string> name = std::nullopt;  ///< argv[0]
  std::optional<std::int64_t> memory_mib = std::nullopt;
  std::optional<Slice> slice = std::nullopt;  ///< absent: it uses the whole GPU, or its instance is not known
  friend bool operator==(const DeviceProcessView&, const DeviceProcessView&) = default;
};

/// One GPU. Unknown fields are absent.
struct DeviceView {
  std::string uuid;
  std::optional<std::string> pci_bus_id = std::nullopt;
  std::optional<std::string> node = std::nullopt;          ///< of a cluster
  std::optional<std::string> why_observed = std::nullopt;  ///< why it must not be changed; absent: it may
  std::optional<bool> is_mig_on = std::nullopt;            ///< absent: it has no MIG
  std::optional<bool> is_mig_pending_on = std::nullopt;
  std::optional<std::string> recovery_action = std::nullopt;
  HealthView health = {};
  std::vector<std::string> differences = {};              ///< between the device and the tables of Berth
  std::vector<DeviceTimeView> times = {};                 ///< of changes, as they were measured
  std::optional<GpuMeasurement> measured = std::nullopt;  ///< absent: it cannot be read, or the figures are old
  std::optional<std::vector<DeviceProcessView>> processes = std::nullopt;  ///< by pid; absent: it cannot be read
};

/// The driver's names of a slice. Unknown fields are absent.
struct DeviceSliceView {
  std::optional<std::string> uuid = std::nullopt;  ///< of the MIG device, as clients of the driver name it
  std::optional<std::int64_t> memory_mib = std::nullopt;
};

/// The library of the driver, and the GPUs that it lists.
struct DeviceLibraryView {
  std::optional<std::string> path = std::nullopt;
  std::optional<std::string> version = std::nullopt;
  std::optional<std::string> driver = std::nullopt;
  std::int64_t gpu_count = 0;
  std::optional<std::string> reason = std::nullopt;  ///< why there is no GPU
};

/// The API server of a cluster is away.
struct ClusterAway {
  std::string since_wall;  ///< RFC 3339
  std::string message;
  friend bool operator==(const ClusterAway&, const ClusterAway&) = default;
};

/// Any thread may call these, without the session's lock. Empty functions: the world is simulated.
struct DeviceSource {
  std::function<DeviceLibraryView()> library = {};
  std::function<DeviceView(GpuId)> device = {};
  std::function<DeviceSliceView(const Slice&)> slice = {};
  /// Why the GPU agent, which should be there, is not; nothing: it is there, or none is wanted.
  std::function<std::optional<std::string>()> agent_gone = {};
  /// Since when, and why, the cluster of these devices cannot be followed; nothing: it can. Empty: no cluster.
  std::function<std::optional<ClusterAway>()> cluster_away = {};
  /// The programs of a service; empty: this world runs none.
  std::function<ServicePrograms(const std::string& tenant, const std::string& service)> programs = {};
  /// Why the hands would not run a program; nothing: they would, or cannot be asked now.
  std::function<std::optional<std::string>(const ProcessOrder& order)> why_no_program = {};
  /// Whether each tenant's programs have a user of their own. May be empty.
  std::function<bool()> separates_users = {};
  /// The last bytes of the log of a program.
  std::function<std::optional<std::string>(const std::string& slice, std::uint64_t generation, std::size_t bytes_max)>
      log = {};
  std::string world = "local";    ///< the word for it: "local", "kubernetes"
  bool has_load = true;           ///< the requests of services are known
  bool is_load_measured = false;  ///< by gateways; else they are simulated

  [[nodiscard]] bool is_local() const { return static_cast<bool>(device); }
  /// Whether the load of GPUs is known: on real ones only if the load is simulated.
  [[nodiscard]] bool knows_load() const { return has_load || !is_local(); }
};

}  // namespace berth::live
