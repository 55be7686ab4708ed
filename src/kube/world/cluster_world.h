/// A cluster as the devices of a session: its GPUs, what others hold of them, and the slices of services as claims and
/// pods. Pure: whoever follows the cluster and whoever drives the session share a lock.
///
/// Creations and destructions of slices end at once, as devices of a pool exist as soon as they are allocated; what
/// takes time is the program of a slice, which here is a claim with its pod (kube/replicas).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "domain/values/gpu_state.h"
#include "domain/values/slice.h"
#include "gpu/device/local_gpu.h"
#include "kube/fleet/planned_gpus.h"
#include "kube/placing/placing.h"
#include "kube/replicas/replica_book.h"
#include "sim/world/world_left.h"
#include "world/slices/observed_layout.h"
#include "world/slices/program_slice.h"

namespace berth::live {
class Session;
}

namespace berth::kube {

struct ClusterWorldOptions {
  std::vector<OwnedPools> own;                                     ///< other pools are not planned
  std::vector<device::LocalGpu> fleet;                             ///< of the folder: `uuid` is PlannedGpu::key
  std::string world;                                               ///< ReplicaBookOptions::world
  std::int64_t epoch = 0;                                          ///< ReplicaBookOptions::epoch
  bool is_dry_run = false;                                         ///< slices are planned, and never come to be
  std::size_t gpus_max = static_cast<std::size_t>(kOwnedGpusMax);  ///< GPUs that a folder may have
};

/// A GPU whose pool is gone or incomplete for so long is lost: drivers publish their pools anew when they restart.
inline constexpr Micros kGoneAfter = Micros::seconds(10);

/// GPUs that a folder does not have are added once the newest of them has been there for so long: the pools of a node
/// come one by one.
inline constexpr Micros kAddedAfter = Micros::seconds(2);
/// And after this time even if others are still coming.
inline constexpr Micros kAddedWithin = Micros::seconds(5);

/// The GPUs of the cluster as a folder records them.
[[nodiscard]] std::vector<device::LocalGpu> fleet_of(const std::vector<PlannedGpu>& gpus);

class ClusterWorld {
 public:
  explicit ClusterWorld(ClusterWorldOptions options);

  // ---- beside the cluster
  /// Owns these pools from now on. GPUs of the folder in other pools get nothing new, and keep what they have.
  void own(std::vector<OwnedPools> own);
  void take(std::string_view plural, const Change& change) { replicas_.take(plural, change); }
  /// What `placing` knows by now. To be called after changes, and before the session begins.
  void see(const Placing& placing, Instant now);
  /// The devices of slices that the session plans.
  [[nodiscard]] const std::set<DeviceName>& reserved() const { return reserved_; }
  [[nodiscard]] std::vector<Action> decide(Instant now) { return replicas_.decide(now); }
  void take_outcome(const Action& action, const Result<WriteOutcome>& outcome, Instant now) {
    replicas_.take_outcome(action, outcome, now);
  }
  /// The pod templates of services, as JSON. Services without one get claims alone; pods of another template are
  /// replaced, one at a time. Until the first call no claim and no pod of a service is written.
  void set_pods(std::map<ObjectName, std::string> pods) { pods_ = std::move(pods); }
  /// The tenants and services that the session has; a service has its tenant as namespace.
  struct Held {
    std::set<std::string> tenants;
    std::set<ObjectName> services;
  };
  [[nodiscard]] const Held& held() const { return held_; }
  /// The fleet that the folder should have, as GPUs came; nothing: the present one. Each takes the number of an absent
  /// GPU with the same model and places, or else a new one.
  [[nodiscard]] const std::optional<std::vector<device::LocalGpu>>& wanted_fleet() const { return wanted_fleet_; }
  /// GPUs for which the folder has no number, as ClusterWorldOptions::gpus_max are taken; by key.
  [[nodiscard]] const std::vector<std::string>& excess_gpus() const { return excess_; }
  /// A session with this fleet follows the former one; what is known of the cluster stays. `see` is to be called next.
  /// What `wanted_fleet` refers to ends.
  void begin_again(const std::vector<device::LocalGpu>& fleet);

  // ---- beside the session (live/local/outside_world.h)
  [[nodiscard]] std::map<GpuId, std::string> observed() const;
  [[nodiscard]] std::map<GpuId, world::ObservedLayout> sights() const;
  void adopt(sim::WorldLeft& left) const;
  void tell(live::Session& session) const;
  void serve(live::Session& session, Instant now);

  // ---- for clients
  struct GpuView {
    std::string key;
    std::string node;                                  ///< empty: it is not there
    std::optional<std::string> closed = std::nullopt;  ///< why nothing new is planned there
    bool is_drained = false;                           ///< closed, and what is there is to leave
  };
  [[nodiscard]] GpuView view(GpuId gpu) const;
  [[nodiscard]] std::optional<std::string> device_name(const Slice& slice) const;
  [[nodiscard]] std::vector<ReplicaView> replicas() const { return replicas_.views(); }

 private:
  /// A GPU of the folder, as the cluster has it now.
  struct Gpu {
    device::LocalGpu known;
    std::optional<PlannedGpu> found = std::nullopt;     ///< as last seen; nothing: never
    std::optional<Instant> missing_since = Instant();   ///< nothing: it is there
    bool is_gone = true;                                ///< missing for kGoneAfter
    std::vector<Slice> foreign = {};                    ///< ascending
    std::map<Slice, std::string> foreign_tenants = {};  ///< their namespaces
    std::optional<std::string> closed = std::nullopt;
    bool is_drained = false;  ///< closed, and what is there is to leave
    std::optional<std::string> tainted = std::nullopt;
    bool has_drain_taint = false;
    std::optional<std::vector<Slice>> told_foreign = std::nullopt;
    bool is_claimed = false;  ///< some claim has a device of it
  };
  /// A node on which a slice's claim was taken back.
  struct Avoided {
    Instant until;
    std::string why;
  };
  /// A GPU that the folder does not have.
  struct NewGpu {
    PlannedGpu found;
    Instant since;
  };

  void put_fleet(const std::vector<device::LocalGpu>& fleet);
  void find_gpus(const Inventory& inventory, Instant now);
  [[nodiscard]] bool is_followed(const PoolName& pool) const;
  void close_gpus(const Placing& placing, Instant now);
  void find_taints(const Placing& placing);
  void see_foreign(const Placing& placing);
  void see_claims_of_gone(const Placing& placing);
  [[nodiscard]] bool is_referred_to(const live::Session& session, std::uint32_t index) const;
  void tell_absent(live::Session& session, std::uint32_t index);
  void open_added(live::Session& session, std::uint32_t index);
  void find_wanted_fleet(const live::Session& session, Instant now);
  [[nodiscard]] std::optional<Slice> slice_of(std::uint32_t gpu, const std::string& device) const;
  [[nodiscard]] std::optional<DeviceName> device_of(const Slice& slice) const;
  void tell_gpu(live::Session& session, std::uint32_t index);
  void tell_closed(live::Session& session, std::uint32_t index);
  /// Slices of services that stood before this session, and those of an earlier one, become its own.
  void adopt_standing(live::Session& session) const;
  void end_intents(live::Session& session) const;
  [[nodiscard]] std::string pod_of(const ServiceSpec& service) const;
  void note_held(const live::Session& session);
  void want(live::Session& session, Instant now);
  void reserve(const live::Session& session);
  void pass_on_news(live::Session& session, Instant now);
  void avoid_node(live::Session& session, std::uint32_t index, const std::string& slice, Instant now);

  ClusterWorldOptions options_;
  std::vector<Gpu> gpus_;                       ///< by GpuId
  std::map<DeviceName, std::uint32_t> gpu_of_;  ///< by device
  std::map<std::string, NewGpu> new_gpus_;      ///< by key
  std::map<std::string, Avoided> avoided_;      ///< by node
  std::optional<std::vector<device::LocalGpu>> wanted_fleet_;
  std::vector<std::string> excess_;
  std::set<PoolName> pools_;
  std::set<std::string> known_pools_;                  ///< of GPUs of the folder, as texts
  std::optional<std::int64_t> stamps_;                 ///< of the pools that were last looked at
  std::int64_t structure_ = 0;                         ///< of the inventory, the same
  std::map<std::string, DeviceTaintRuleFacts> rules_;  ///< with which taints were last found
  bool has_new_pools_ = false;                         ///< since then
  std::optional<std::map<ObjectName, std::string>> pods_;
  Held held_;
  ReplicaBook replicas_;
  std::set<DeviceName> reserved_;
  std::map<std::string, world::ProgramSlice> programs_;  ///< by name of the slice
};

}  // namespace berth::kube
