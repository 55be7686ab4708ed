/// Who held which units of which GPU from when to when.
///
/// At each instant each placement unit of a GPU belongs to one part: a run of units in one state. Parts of a GPU never
/// overlap and leave nothing out, so the intervals of a unit follow each other without a gap from the world's second 0
/// on. The state of a part follows from the engine's snapshot after each step, at the step's instant: the engine steps
/// at each instant at which something happens to a slice.
///
///   lost      the GPU is lost: one part, all units
///   foreign   a foreign slice
///   changing  a slice of ours that a plan creates, destroys, or gives other holders or another operating point, from
///             the step in which the plan took effect until the step that learned that the change is over (including
///             draining, waiting for room, and a failed action until the GPU was observed); and a slice whose service
///             is gone, until it is destroyed
///   held      a slice that works for its holders; and a foreign slice whose holder is known, which is a tenant
///   free      everything else: units without a slice, also on a cordoned GPU, and slices without holders
///
/// Where slices overlap, as one waits for the room of others that leave, units belong to the slice that exists: foreign
/// slices first, then those that leave, then the others, each in the order of their creation. The units left to a slice
/// that waits form a part for each run of units.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/event.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "live/session/catalog.h"

namespace berth::live {

enum class UsageState : std::uint8_t { kHeld, kChanging, kFree, kLost, kForeign };

/// A run of units in one state.
struct UsagePart {
  std::int32_t start = 0;  ///< the first unit
  std::int32_t units = 1;
  UsageState state = UsageState::kFree;
  std::optional<Slice> slice = std::nullopt;  ///< that the units belong to; absent: none
  std::uint64_t generation = 0;               ///< of the slice; 0: none, or made by others
  Role role = Role::kInference;
  /// Of the slice, during a change the future ones; several: they share it. One without a name: the tenant holds it for
  /// something that is no service.
  std::vector<ServiceName> holders = {};
  friend bool operator==(const UsagePart&, const UsagePart&) = default;
};

/// A part since it began.
struct OpenUsage {
  UsagePart part;
  Instant from;
  std::uint64_t sequence = 0;  ///< grows in the order in which intervals begin; may have gaps
  friend bool operator==(const OpenUsage&, const OpenUsage&) = default;
};

/// Usage that is over, or read while it continues.
struct UsageInterval {
  GpuId gpu;
  OpenUsage what;
  Instant to;               ///< behind `what.from`
  bool is_observed = true;  ///< false: no process ran; the part is that of the instant before
  friend bool operator==(const UsageInterval&, const UsageInterval&) = default;
};

using ForeignTenants = std::map<Slice, std::string>;

using UsageSink = std::function<void(const UsageInterval&)>;

/// The parts of a GPU, by start: they cover all its units. `names` has the services. O(units + slices of the GPU).
/// `foreign`: the tenants that hold foreign slices, as far as they are known.
[[nodiscard]] std::vector<UsagePart> usage_parts(const Snapshot& snapshot, const Scenario& names, GpuId gpu,
                                                 const ForeignTenants& foreign = {});
/// Placement units of a GPU; one without MIG has one.
[[nodiscard]] std::int32_t usage_units(const GpuModel& model);

/// The usage that is not over. Memory depends on the existing slices, not on elapsed time.
class UsageBook {
 public:
  /// All units of the fleet are free from second 0 on.
  explicit UsageBook(const Scenario& scenario);

  /// After a session with fewer GPUs was read: all units of the others are free from then on.
  void add_gpus(const Scenario& scenario, Instant now);
  /// To be called for each event that the engine is given.
  void note(const Event& event);
  /// Who holds the foreign slices of a GPU from now on, as far as that is known.
  void note_foreign(GpuId gpu, const ForeignTenants& tenants);
  /// Of all GPUs. It is not among the archived fields, as earlier versions did not have it.
  [[nodiscard]] const ForeignTenants& foreign() const { return foreign_; }
  void set_foreign(ForeignTenants foreign) { foreign_ = std::move(foreign); }
  /// To be called after each step: closes parts that have changed and opens their successors. Reports to `sink` each
  /// interval that is over, by GPU and start; those of no length are forgotten. O(GPUs that changed).
  void update(const Snapshot& snapshot, const Scenario& names, const UsageSink& sink);
  /// Nothing was observed from `from` to `to`: reports what is open until `from`, then the same until `to`, not
  /// observed; it continues from there. By GPU and start. Requires: from < to, and nothing began after `from`. O(open
  /// parts).
  void skip(Instant from, Instant to, const UsageSink& sink);

  /// By GpuId, each by start.
  [[nodiscard]] const std::vector<std::vector<OpenUsage>>& open() const { return open_; }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    const std::size_t gpu_count = self.open_.size();
    archive(self.open_, self.last_sequence_, self.changed_, self.is_all_changed_, self.seen_version_);
    archive.require(self.open_.size() <= gpu_count);  // fewer: GPUs were added since
    archive.require(self.changed_.empty() || self.changed_.rbegin()->index < gpu_count);
  }

 private:
  void update_gpu(GpuId gpu, std::vector<UsagePart> parts, Instant now, const UsageSink& sink);

  std::vector<std::vector<OpenUsage>> open_;
  ForeignTenants foreign_;
  std::uint64_t last_sequence_ = 0;
  std::set<GpuId> changed_;         ///< since the last update, in addition to what the snapshot's versions say
  bool is_all_changed_ = false;     ///< a service was removed
  std::uint64_t seen_version_ = 0;  ///< Snapshot::layout_version at the last update
};

}  // namespace berth::live
