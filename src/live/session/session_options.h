/// The options of a session.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "domain/values/held_bytes.h"
#include "domain/values/no_changes.h"
#include "domain/values/slice.h"
#include "engine/loop/approval.h"
#include "live/session/session_listener.h"
#include "sim/world/solving.h"

namespace berth::live {

struct SessionOptions {
  std::uint64_t seed = 1;
  std::string policy = "berth";  ///< a row of the registry that needs no hindsight
  Approval approval = Approval::kNever;
  /// The windows without changes from the first step on; absent: the recorded ones, at first none.
  std::optional<NoChanges> no_changes;
  /// A world of real GPUs: those that must not be changed from the first step on, and why (observed_gpus.h). Absent:
  /// there are none, as the devices are simulated.
  std::optional<std::map<GpuId, std::string>> observed = std::nullopt;
  /// Slices are created and destroyed by outside devices (Session::take_device_intents), not by the simulated world.
  bool has_outside_devices = false;
  /// Each service has a process on each of its slices, not only those with `run`: pods of a cluster.
  bool runs_all_services = false;
  double device_speed = 1;  ///< outside devices: seconds of the world per second of the devices; > 0
  /// The first layout obeys approval, pause and windows without changes, and takes its time, as on devices that exist
  /// (EngineRules). A session that is restored or repeated must have the same value.
  bool first_layout_takes_time = false;
  /// Plans, capacities and early drops count on measured speed factors; otherwise these are only reported.
  bool learns_speed = true;
  /// Services get simulated requests and retrain; without, nothing is known of their load.
  bool has_load = true;
  /// The load is measured outside (Session::count_requests) and `has_load` is false.
  bool measures_load = false;
  /// Seconds between two plans of the policy `berth`; absent: as in a replay. For tests of long worlds.
  std::optional<int> planning_seconds = std::nullopt;
  /// What tenants and the services that are set may hold together (domain/values/held_bytes.h).
  std::int64_t held_bytes_max = kHeldBytesMax;
  bool has_end = false;  ///< the world ends with the scenario's longest window, and plans count on that
  sim::Solving solving = sim::Solving::kAtOnce;
  /// Commands of operators and answers of the solver are durable (SessionListener::record) before they take effect.
  bool records_first = false;
  /// A proposal waits for kProposalWait of wall time (SessionListener::wall_clock); otherwise without limit.
  bool proposals_expire = false;
  SessionListener listener = {};
};

}  // namespace berth::live
