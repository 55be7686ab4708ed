/// The claims and pods of the slices of services: what a session wants and what stands in the cluster go in, writes and
/// news for the session come out.
///
///   wanted: claim with its intent -> (Placing allocates) -> pod with the gate -> (Placing opens it) -> Ready
///   not wanted any more: pod deleted, with its grace period -> gone -> claim deleted -> gone
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "kube/client/reflector.h"
#include "kube/devices/claim.h"
#include "kube/placing/action.h"

namespace berth::kube {

/// The annotation of a pod that says which template it is from.
inline constexpr std::string_view kTemplateAnnotation = "berth.dev/template";

/// Labels of both objects, besides kServiceLabel: the world (ReplicaBookOptions), and the slice.
inline constexpr std::string_view kWorldLabel = "berth.dev/world";
inline constexpr std::string_view kSliceLabel = "berth.dev/slice";

/// After this time without being Ready, a pod has failed.
inline constexpr Micros kReadyWithin = Micros::seconds(300);
/// Between two attempts to create an object.
inline constexpr Micros kCreationPause = Micros::seconds(5);
/// For so long a pod may not yet say why the scheduler took its claim back.
inline constexpr Micros kReasonWithin = Micros::seconds(2);
/// A service whose claims were taken back on several nodes waits before it gets the next one, so that it does not close
/// one node after another to all services: first so long, then twice as long each time, up to kTakenBackPauseMax.
inline constexpr Micros kTakenBackPause = Micros::seconds(5);
inline constexpr Micros kTakenBackPauseMax = Micros::seconds(60);

/// A slice of a service, as the session wants it.
struct WantedReplica {
  std::string
      slice;  ///< its name: "gpu-3-1g.10gb-2-7"; never another slice's in this world, but maybe another holder's
  std::string tenant;
  std::string service;
  DeviceName device;
  bool is_mig = true;    ///< else the whole GPU
  std::string pod = {};  ///< a PodTemplateSpec as JSON; empty: the slice is claimed, and nothing runs on it
  bool is_leaving = false;
};

enum class ReplicaNewsKind : std::uint8_t {
  kReady,      ///< it serves
  kGone,       ///< neither its pod nor its claim exists any more
  kFailed,     ///< it cannot serve there; it is to leave
  kTakenBack,  ///< the same: the scheduler found that its pod cannot run on that node
};

struct ReplicaNews {
  ReplicaNewsKind kind = ReplicaNewsKind::kReady;
  std::string slice = {};
  std::string text = {};  ///< why it failed
  Micros took = {};       ///< until it was Ready
  friend bool operator==(const ReplicaNews&, const ReplicaNews&) = default;
};

struct ReplicaBookOptions {
  std::string world;       ///< names this world, in labels: letters and digits
  std::int64_t epoch = 0;  ///< of the leader, in intents
};

/// What of a replica stands, for clients.
struct ReplicaView {
  std::string slice;
  ObjectName object;  ///< the name of its claim and of its pod
  bool is_ready = false;
  std::string phase;  ///< of the pod: "Pending", "Running"; empty: there is none
};

/// Names a template in kTemplateAnnotation.
[[nodiscard]] std::string template_name(const std::string& pod);

class ReplicaBook {
 public:
  explicit ReplicaBook(ReplicaBookOptions options) : options_(std::move(options)) {}

  /// A pod or a claim came, changed or went; those without the label kServiceLabel are ignored.
  void take(std::string_view plural, const Change& change);
  /// All slices that are wanted, or that are known to the session and leave.
  void want(std::vector<WantedReplica> wanted, Instant now);

  /// What stands is kept; what was wanted of it is forgotten, and nothing is written until something is wanted again.
  void begin_again();

  /// The next writes: at most one for each object. Their outcomes are to be taken before the next call.
  [[nodiscard]] std::vector<Action> decide(Instant now);
  void take_outcome(const Action& action, const Result<WriteOutcome>& outcome, Instant now);
  /// News since the last call, in order.
  [[nodiscard]] std::vector<ReplicaNews> take_news() { return std::exchange(news_, {}); }

  /// Slices that stand for services, of whatever world, and are not known yet: by the claim's name.
  struct Standing {
    std::string service;
    DeviceName device;
  };
  [[nodiscard]] std::map<ObjectName, Standing> unknown() const;
  /// Whether a claim is one of a slice that is wanted, or leaves.
  [[nodiscard]] bool is_known(const ObjectName& claim) const { return slices_of_.contains(claim); }
  [[nodiscard]] std::vector<ReplicaView> views() const;

 private:
  /// What stands under one name.
  struct Objects {
    std::optional<Claim> claim = std::nullopt;
    std::string service = {};
    bool is_of_this_world = false;
    std::optional<Identity> pod = std::nullopt;
    std::string pod_phase = {};
    bool is_pod_ready = false;
    std::string pod_template = {};  ///< kTemplateAnnotation
    bool is_pod_being_deleted = false;
    std::string pod_waits_for = {};  ///< why the scheduler does not bind it
    bool is_taken_back = false;      ///< its claim had a device, and was never reserved
    [[nodiscard]] bool is_gone() const { return !claim && !pod; }
  };
  struct Replica {
    WantedReplica wanted;
    ObjectName object;
    Instant waits_since;  ///< for being Ready
    bool is_ready = false;
    bool has_failed = false;
    std::string trouble = {};  ///< the last one of a creation
    Instant not_before = {};   ///< nothing is created before this time
    std::optional<Instant> taken_back_at = std::nullopt;

    [[nodiscard]] bool is_for_holder_of(const WantedReplica& other) const {
      return wanted.tenant == other.tenant && wanted.service == other.service;
    }
  };
  /// A service whose claims were taken back since a slice of it was last Ready.
  struct TakenBack {
    std::int64_t count = 0;
    Instant next_not_before = {};
  };

  [[nodiscard]] ObjectName name_of(const WantedReplica& wanted) const;
  /// The name of what stands for that service on that device already, and is not of another slice.
  [[nodiscard]] std::optional<ObjectName> find_standing(const WantedReplica& wanted) const;
  void find_leaving_devices();
  [[nodiscard]] std::optional<Action> next_for(Replica& replica, Instant now);
  [[nodiscard]] std::optional<Action> end_of(const ObjectName& name, const std::string& slice) const;
  /// Whether its pod is from an earlier template, and may be replaced now: pods of a service are, one at a time.
  [[nodiscard]] bool is_to_be_replaced(const Replica& replica, const Objects& objects) const;
  void forget(std::map<std::string, Replica>::iterator replica);
  void fail(Replica& replica, std::string why, ReplicaNewsKind kind = ReplicaNewsKind::kFailed);
  /// Whether its claim was taken back; it then fails, soon.
  [[nodiscard]] bool note_taken_back(Replica& replica, const Objects& objects, Instant now);
  void note_ready(Replica& replica, const Objects& objects, Instant now);
  [[nodiscard]] Action claim_action(const Replica& replica) const;
  [[nodiscard]] Result<Action> pod_action(const Replica& replica) const;
  void take_claim(const Change& change);
  void take_pod(const Change& change);
  void forget_gone(const ObjectName& name);

  ReplicaBookOptions options_;
  std::map<ObjectName, Objects> objects_;
  std::map<std::string, Replica> replicas_;      ///< by slice
  std::map<ObjectName, std::string> slices_of_;  ///< by object
  std::set<DeviceName> leaving_devices_;         ///< of claims that belong to no slice any more, and end
  std::map<ObjectName, TakenBack> taken_back_;   ///< by tenant and service
  std::vector<ReplicaNews> news_;
  bool has_wants_ = false;
};

}  // namespace berth::kube
