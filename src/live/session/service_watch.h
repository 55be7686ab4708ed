/// Services and slices as clients see them: phases, conditions (all but InTime) and since when they hold, states of
/// slices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "domain/values/solution.h"
#include "live/session/condition.h"

namespace berth::live {

/// Phases of a service:
///
///   Waiting  -- planning gives it a slice -----------------> Starting
///   Starting -- a slice serves ----------------------------> Running
///   Running  -- its last slice stops serving, others stay --> Starting
///   Starting, Running -- planning takes its last slice -----> Draining
///   Draining -- that slice is gone -------------------------> Waiting
///   any      -- its slices are lost with their GPU ---------> Waiting
enum class ServicePhase : std::uint8_t { kWaiting, kStarting, kRunning, kDraining, kCold };
[[nodiscard]] std::string_view word(ServicePhase phase);

enum class SliceState : std::uint8_t { kCreating, kStarting, kServing, kRetraining, kDraining, kIdle, kForeign, kLost };
[[nodiscard]] std::string_view word(SliceState state);

/// The slices of a service.
struct ServiceSlices {
  std::vector<std::size_t> indices;  ///< into Snapshot::slices; including those that leave
  std::size_t staying = 0;
  std::size_t serving = 0;
  [[nodiscard]] ServicePhase phase() const;
};

/// Follows the snapshot. It is updated once per second and before it is read: a change and its reversal in between do
/// not show in `since`.
class ServiceWatch {
 public:
  /// `scenario` must outlive it; where a spec in it changes, `read_spec` must be called.
  /// `replans`: whether the policy makes new layouts during the run.
  ServiceWatch(const Scenario& scenario, bool replans) : scenario_(scenario), replans_(replans) {}

  /// The slice exists now (is gone): its holder may start there.
  void slice_created(const Slice& slice) { created_.insert(slice); }
  void slice_gone(const Slice& slice) { created_.erase(slice); }
  /// The slices that exist according to these calls.
  [[nodiscard]] const std::set<Slice>& created() const { return created_; }
  /// A plan was made and not refused, even if it has no actions.
  void plan_made(const Solution& solution);
  /// A plan waits for approval, or no longer.
  void proposal_waits(const Plan& plan);
  void proposal_ended() { proposal_.reset(); }
  /// The service lost a slice, or did not get it: `how` is a sentence for clients. Forgotten when it serves.
  void slice_failed(ServiceId service, std::string how);
  /// The service has another spec. Its conditions continue: `since` changes with their status alone.
  void read_spec(ServiceId service);
  /// Another service takes the place, or the place is free.
  void forget(ServiceId service);

  /// Follows this snapshot, to which the queries below refer. Returns whether a slice was first seen, or a condition
  /// changed its status. O(slices + services).
  bool update(const Snapshot& snapshot);

  [[nodiscard]] const ServiceSlices& slices_of(ServiceId service) const;
  [[nodiscard]] std::array<Condition, kWatchedConditions> conditions_of(ServiceId service) const;
  /// The reason of the condition Placed of a service without a slice that stays; absent: it has one.
  [[nodiscard]] std::optional<std::string> waits_because(ServiceId service) const;
  /// Of a slice of the snapshot, by its index there.
  [[nodiscard]] SliceState state_of(const Snapshot& snapshot, std::size_t index) const;
  /// When the slice was first seen.
  [[nodiscard]] Instant seen_at(std::size_t index) const { return seen_[index].at; }
  /// The same by its name; absent if it was not seen yet. O(log slices).
  [[nodiscard]] std::optional<Instant> find_seen(const Slice& slice, std::uint64_t generation) const;

  /// Whether the profile of a service, or of one of its variants, has rows measured on that GPU model. O(services) the
  /// first time after a change.
  [[nodiscard]] bool has_profile_for(const std::string& gpu_model) const;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.created_, self.services_, self.seen_, self.proposal_, self.pause_, self.frozen_, self.has_open_gpu_,
            self.planned_at_, self.floors_, self.unmet_floors_);
  }

 private:
  struct Known {
    ServiceSlices slices;
    std::array<ConditionStatus, kWatchedConditions> statuses{};
    std::array<Instant, kWatchedConditions> since{};
    bool is_new = true;
    std::optional<std::string> misfit = std::nullopt;  ///< why no slice of the fleet can serve it; empty: one can
    Instant came_at = {};
    bool is_quiet = false;     ///< no request came for a long time
    std::string failure = {};  ///< of its latest slice; empty: none since it served
  };
  /// A plan that awaits approval, and the services that it gives slices to.
  struct Proposal {
    std::uint64_t plan = 0;
    std::set<ServiceId> services;
  };
  struct Seen {
    Slice slice;
    std::uint64_t generation = 0;
    Instant at;
  };
  /// Discards a proven conflict once one of its services is gone or has another spec.
  void forget_conflict_of(ServiceId service);
  void note_frozen(Instant now);
  void note_open_gpus(const Snapshot& snapshot);
  void note_used_up(const Snapshot& snapshot);
  [[nodiscard]] bool note_seen(const Snapshot& snapshot);
  [[nodiscard]] bool note_statuses(Instant now);
  [[nodiscard]] std::array<Condition, kWatchedConditions> judge(ServiceId service) const;
  [[nodiscard]] Condition placed(ServiceId service) const;
  /// Why a service that fits a GPU has no slice: a word and a sentence.
  [[nodiscard]] std::pair<std::string, std::string> why_unplaced(ServiceId service) const;
  [[nodiscard]] Condition floor_met(ServiceId service) const;

  const Scenario& scenario_;
  bool replans_;
  std::set<Slice> created_;
  std::vector<Known> services_;  ///< by ServiceId
  std::vector<Seen> seen_;       ///< parallel to Snapshot::slices
  std::optional<Proposal> proposal_;
  std::optional<std::string> pause_;
  std::optional<std::string> frozen_;  ///< why no change may begin, and until when
  bool has_open_gpu_ = false;          ///< some GPU may be changed by plans
  std::vector<GpuId> with_foreign_;    ///< GPUs that plans leave alone for foreign slices; found again at each update
  std::vector<bool> used_up_;          ///< by ServiceId: `changes_per_hour` is used up; found again at each update
  std::optional<Instant> planned_at_;  ///< when a plan was last requested
  std::vector<PlannedFloor> floors_;   ///< of the last plan that knows floors
  std::optional<UnmetFloors> unmet_floors_;
  mutable std::map<std::string, bool> profiled_;  ///< answers of has_profile_for; found again after each update
};

/// Why no slice of the fleet can serve the service; empty if one can.
[[nodiscard]] std::string misfit_of(const Scenario& scenario, const ServiceSpec& service);

}  // namespace berth::live
