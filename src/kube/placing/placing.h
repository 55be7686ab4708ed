/// The operator's view of a cluster, and what it wants written next.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "kube/client/pace.h"
#include "kube/client/reflector.h"
#include "kube/devices/choose.h"
#include "kube/placing/action.h"
#include "kube/placing/owned_pools.h"

namespace berth::kube {

class KnownGpus;

struct PlacingOptions {
  std::vector<OwnedPools> own;
  std::int64_t epoch = 0;          ///< of the leader, in intents
  std::string instance = "berth";  ///< in events
};

/// After this time without a pod that refers to it, an allocation is released.
inline constexpr Micros kUnreferencedMin = Micros::seconds(5);
/// For so long a node is avoided after the scheduler has taken an allocation back.
inline constexpr Micros kAvoidedFor = Micros::seconds(60);
inline constexpr std::int64_t kEventsPerSecond = 5;
/// Writes of pods in one decision, about: the next one continues with what has changed meanwhile.
inline constexpr std::size_t kDecisionActionsMax = 128;
/// A pod whose reason changes gets its next event after this time.
inline constexpr Micros kEventGap = Micros::seconds(10);
/// Reasons of a pod whose events are counted instead of created again.
inline constexpr std::size_t kSeriesMax = 16;

/// The resources that `take` understands, and that have to be listed.
[[nodiscard]] const std::vector<Resource>& followed_resources();

class Placing {
 public:
  explicit Placing(PlacingOptions options);
  Placing(Placing&&) noexcept;
  Placing& operator=(Placing&&) noexcept;
  ~Placing();

  /// An object came, changed or went. Objects that cannot be read count as gone, with the reason in `troubles`.
  void take(std::string_view plural, const Change& change);
  void note_listed(std::string_view plural) { listed_.insert(std::string(plural)); }
  [[nodiscard]] bool is_synced() const;
  /// This operator leads now, in this epoch: nothing is decided until everything has been listed once more. Intents of
  /// other epochs are then carried out or withdrawn, each by a write: what their leader may still send is refused.
  void lead(std::int64_t epoch);
  /// Owns these pools from now on. What is allocated in others stays.
  void own(std::vector<OwnedPools> own);

  /// The next writes: at most one for each object. All of them are to be tried, and their outcomes taken, before the
  /// next call. `wall` is the time in RFC 3339, with microseconds.
  [[nodiscard]] std::vector<Action> decide(Instant now, const std::string& wall);
  void take_outcome(const Action& action, const Result<WriteOutcome>& outcome);

  /// The devices that are kept free for the slices of services, from now on: no pod gets them, or what they rule out.
  void reserve(std::set<DeviceName> devices);

  /// Why a pod waits; nothing if it does not, or is not known.
  [[nodiscard]] std::optional<std::string> why(const ObjectName& pod) const;
  [[nodiscard]] const std::map<ObjectName, Claim>& claims() const { return claims_; }
  [[nodiscard]] const std::map<ObjectName, PodFacts>& pods() const { return pods_; }
  [[nodiscard]] const Inventory& inventory() const { return inventory_; }
  [[nodiscard]] const std::map<std::string, NodeFacts>& nodes() const { return nodes_; }
  /// What pods take of nodes, or will, by node; as of the last decision.
  [[nodiscard]] const std::map<std::string, NodeRoom>& used() const { return used_; }
  /// Rules of others that taint devices, by name.
  [[nodiscard]] const std::map<std::string, DeviceTaintRuleFacts>& taint_rules() const { return rules_; }

 private:
  struct ClaimState {
    std::vector<DeviceName> held = {};
    std::optional<Instant> unreferenced_since = std::nullopt;
    std::optional<std::string> intent = std::nullopt;
    bool was_allocated = false;  ///< as last seen
    bool was_reserved = false;   ///< the same
    bool is_taken_back = false;  ///< since it has this intent
  };
  /// An event of a reason that a pod has had before: the same object, counted.
  struct Series {
    std::string name = {};     ///< of the object
    std::string version = {};  ///< empty: it is not known to exist
    std::int64_t count = 0;
  };
  struct PodState {
    std::int64_t arrival = 0;
    std::string reason = {};
    std::string reported = {};  ///< by the last event
    std::optional<Instant> reported_at = std::nullopt;
    std::map<std::string, Series> series = {};  ///< by reason
    std::map<std::string, Instant> avoided = {};
    std::int64_t tried_at = -1;  ///< in vain, at this count of changes
    std::string tried_reason = {};
  };
  /// What a pod adds to `used_`, and the claims that it keeps from being released.
  struct PodShare {
    std::string node = {};  ///< empty: none
    NodeRoom room = {};
    std::vector<ObjectName> claims = {};
    std::optional<std::tuple<std::string, std::int64_t, ObjectName>> place_in_order = std::nullopt;
  };
  /// What the claims of a pod are, seen together.
  struct PodClaims {
    std::vector<const Claim*> to_place = {};
    std::vector<const Claim*> intended = {};
    std::vector<const Claim*> allocated = {};
    std::optional<std::string> waits_for = std::nullopt;
    int foreign_count = 0;
    bool is_reopened = false;  ///< some of `to_place` had devices of ours before
  };

  void take_slice(const Change& change);
  void take_class(const Change& change);
  void take_rule(const Change& change);
  void take_node(const Change& change);
  void take_pod(const Change& change);
  void take_claim(const Change& change);
  void set_claim(const ObjectName& name, std::optional<Claim> claim);
  void remember_intent(const Claim& claim);
  void hold_devices(const ObjectName& name);

  /// What follows from all pods and claims is kept up to date, so that a decision costs what is open, not what stands:
  /// after a change of a pod, of a claim, and before a decision.
  void follow_pod(const ObjectName& name);
  void follow_claim(const ObjectName& name);
  void follow_pools();
  void count_room(const ObjectName& name);
  void refer(const ObjectName& pod, std::vector<ObjectName> claims);
  [[nodiscard]] Surroundings surroundings() const;
  [[nodiscard]] PodClaims claims_of(const PodFacts& pod);
  [[nodiscard]] std::string node_of(const Claim& claim) const;
  [[nodiscard]] bool is_own_intent_sound(const Claim& claim) const;

  void place_pod(PodFacts& pod, Instant now, const std::string& wall, std::vector<Action>& actions);
  [[nodiscard]] Choice choose(const PodFacts& pod, const PodClaims& claims);
  void choose_for(PodFacts& pod, const PodClaims& claims, Instant now, std::vector<Action>& actions);
  void allocate_for_services(const std::string& wall, std::vector<Action>& actions);
  void withdraw_older(std::vector<Action>& actions) const;
  void release_unused(Instant now, std::vector<Action>& actions);
  void report(const PodFacts& pod, Instant now, const std::string& wall, std::vector<Action>& actions);

  [[nodiscard]] Write event_write(const PodFacts& pod, const Series& series, const std::string& wall) const;
  void take_event(const Write& write, const Result<WriteOutcome>& outcome);

  [[nodiscard]] Write claim_patch(const Claim& claim) const;
  [[nodiscard]] Action intent_action(const PodFacts& pod, const Claim& claim,
                                     const std::vector<AllocatedDevice>& devices) const;
  [[nodiscard]] Action allocate_action(const Claim& claim, const std::string& wall) const;
  [[nodiscard]] Action gate_action(const PodFacts& pod) const;
  [[nodiscard]] Action release_action(const Claim& claim) const;
  [[nodiscard]] Action withdraw_action(const Claim& claim, bool is_for_good) const;

  PlacingOptions options_;
  std::set<std::string> listed_;
  Inventory inventory_;
  std::map<DeviceName, int> holders_;
  std::set<DeviceName> reserved_;
  std::set<PoolName> owned_;
  std::map<std::string, DeviceClass> classes_;
  std::map<std::string, NodeFacts> nodes_;
  std::map<std::string, NodeRoom> used_;
  std::map<std::string, DeviceTaintRuleFacts> rules_;
  std::map<ObjectName, Claim> claims_;
  std::map<ObjectName, ClaimState> claim_states_;
  std::map<ObjectName, PodFacts> pods_;
  std::map<ObjectName, PodState> pod_states_;
  std::map<ObjectName, PodShare> shares_;                 ///< of pods
  std::map<ObjectName, std::set<ObjectName>> referring_;  ///< to a claim: pods that are not finished
  std::set<std::tuple<std::string, std::int64_t, ObjectName>>
      open_;                                        ///< pods without a node, in the order of decisions
  std::set<ObjectName> intents_;                    ///< claims with an intent and no allocation
  std::set<ObjectName> unused_;                     ///< claims of Berth that nobody uses, or that are being deleted
  std::optional<std::int64_t> followed_structure_;  ///< of the inventory; nothing: other pools are owned
  std::int64_t arrivals_ = 0;
  std::int64_t event_count_ = 0;
  std::int64_t change_count_ = 0;
  Pace event_pace_;
  std::map<std::string, std::string> refused_;  ///< in this decision: pods that want the same, and the reason
  Chooser chooser_;
  std::unique_ptr<KnownGpus> known_gpus_;
};

}  // namespace berth::kube
