/// Which GPU models the engine's services run on, and which rows of their tables its stages see (TierRule): the state
/// behind `tier: auto` and `known_on`. The decisions themselves are those of tier/enforce.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "domain/values/event.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "tier/enforce/choose_tier.h"
#include "tier/enforce/seen_rows.h"

namespace berth {

class ArchiveReader;
class ArchiveWriter;

/// What is remembered of one service with such a rule.
struct TieredService {
  std::set<std::string> measured;  ///< models whose rows became known since its spec was set
  tier::TierMemory memory;         ///< of `auto`
  std::optional<TierChoice> last;  ///< the choice in force
};

/// Whether a service has rules with which a strict engine's stages see another scenario than was given: they must be
/// made for the engine's own (MakeStages).
[[nodiscard]] bool is_enforced(const ServiceSpec& service);

/// The services with `tier: auto` or `known_on` of a scenario as it was given. Services with neither are not touched.
class Enforcement {
 public:
  /// A `tier_model` that cannot be read is ignored: whoever reads scenarios checks it (tier::read_tier_model).
  /// `given`: with all rows of all services; must outlive it, and changes by events. `is_on`: else nothing is enforced.
  Enforcement(const Scenario& given, bool is_on);

  /// Whether it has a service.
  [[nodiscard]] bool is_used() const { return !services_.empty(); }
  /// The spec that the stages see in place of the given one. Requires: has(service).
  [[nodiscard]] ServiceSpec seen_spec(ServiceId service) const;
  [[nodiscard]] bool has(ServiceId service) const { return services_.contains(service); }
  [[nodiscard]] std::vector<ServiceId> services() const;

  /// A service was set or removed: `given` is as it is now.
  void note_changed(ServiceId service);
  /// Whether the rows of a service on that model are known; false for services that it does not have.
  [[nodiscard]] bool knows_rows(ServiceId service, const std::string& gpu) const;
  /// Returns whether the stages see another spec from now on.
  bool note(const TierMeasured& measured);
  /// A speed factor of the service changed: `given` has those of now.
  void note_speed(ServiceId service);

  /// Chooses models where one is to be chosen now: at the first look, when a service was set or measured, and at each
  /// whole minute. Returns the choices; from then on `seen_spec` follows them. Requires: the snapshot's time does not
  /// decrease.
  [[nodiscard]] std::vector<TierChoice> choose(const Snapshot& snapshot);

  /// The choice in force; nullptr: none was made.
  [[nodiscard]] const TierChoice* choice_for(ServiceId service) const;
  /// What is to be said of a service's slices in reasons; empty: nothing.
  [[nodiscard]] std::string remark_on(ServiceId service) const;

  /// What it remembers. A load requires that `given` is as it was then; if the archive fails, it is useless.
  void save(ArchiveWriter& archive) const;
  void load(ArchiveReader& archive);

 private:
  struct State {
    TieredService kept;
    bool is_due = true;                             ///< to be looked at in the next step
    std::vector<tier::TierOffer> offers = {};       ///< computed when first needed; for what is known now
    std::optional<ServiceSpec> rows = {};           ///< the same: the spec with the rows that are seen
    std::optional<tier::ForestSpeeds> speeds = {};  ///< of what is known now, with a forest
  };

  template <class Archive, class Self>
  static void archive_services(Archive& archive, Self& self);
  [[nodiscard]] const ServiceSpec& spec(ServiceId service) const;
  /// Removes the rows of profiles of its model that never pay (dear_profiles): planners have no prices.
  void leave_out_dear(ServiceSpec& seen) const;
  void ask_forest(ServiceId service, State& state) const;
  /// The spec with the rows that are seen at a probability; every model is allowed.
  [[nodiscard]] ServiceSpec rows_seen(ServiceId service, const State& state, double sure) const;
  [[nodiscard]] std::vector<std::string> known_models(ServiceId service, const State& state) const;
  [[nodiscard]] std::vector<tier::TierOffer> offers_of(ServiceId service, const State& state) const;
  [[nodiscard]] double slices_carry(ServiceId service, State& state, const Snapshot& snapshot) const;
  std::optional<TierChoice> choose_for(ServiceId service, State& state, const Snapshot& snapshot) const;

  const Scenario& given_;
  bool is_on_;
  tier::ComputeOf compute_of_;
  std::optional<tier::Estimator> forest_;
  std::map<ServiceId, State> services_;
  std::optional<std::int64_t> looked_at_minute_;
};

}  // namespace berth
