/// Tenants and services as the objects of a cluster state them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "base/yaml/document.h"
#include "kube/client/reflector.h"
#include "kube/client/write.h"
#include "kube/services/service_view.h"
#include "kube/services/spec_write.h"

namespace berth::kube {

/// After this time a refused spec is tried again, because what it clashed with may be gone.
inline constexpr Micros kRefusedSpecAgain = Micros::seconds(30);
/// After this time a write that failed is tried again.
inline constexpr Micros kFailedSpecAgain = Micros::seconds(1);
/// The shortest time between two writes of one object's status.
inline constexpr Micros kStatusInterval = Micros::seconds(1);
/// For so long an object may show an older status than the one that was written, before that is written again.
inline constexpr Micros kStatusEchoMax = Micros::seconds(5);

/// What the session has now. A service is named by its tenant as namespace.
struct HeldSpecs {
  std::set<std::string> tenants;
  std::set<ObjectName> services;
};

/// A write of an object's status.
struct StatusWrite {
  Write write;
  std::string text;  ///< for the log: "status of gpuservice vision/detector: Running"
};

/// Follows the objects; it holds no session and writes nothing itself. Calls have ascending times.
class ServiceObjects {
 public:
  /// An object came, changed or went. One that is being deleted counts as gone. Other resources are ignored.
  void take(std::string_view plural, const Change& change);
  void note_listed(std::string_view plural) { listed_.insert(std::string(plural)); }
  /// Whether both kinds have been listed.
  [[nodiscard]] bool is_synced() const;

  /// The writes that bring the session to what the objects state, in the order in which they are to be carried out:
  /// tenants, services, then removals. The answer to each is to be taken before the next call. Nothing before
  /// `is_synced`. Removals can fail in a session that still holds services of the tenant; they come again.
  [[nodiscard]] std::vector<SpecWrite> decide(const HeldSpecs& held, Instant now) const;
  /// `wall`: the time in RFC 3339.
  void take_answer(const SpecWrite& write, const SpecAnswer& answer, Instant now, const std::string& wall);

  using FindView = std::function<std::optional<ServiceView>(const ObjectName&)>;
  /// The writes of statuses that are due now. `find_view` is asked, at most once per `kStatusInterval` and service, for
  /// the services that the session holds; nothing: it holds none of that name.
  [[nodiscard]] std::vector<StatusWrite> statuses(const FindView& find_view, Instant now);
  void take_outcome(const StatusWrite& write, const Result<WriteOutcome>& outcome, Instant now);

  /// `spec.pod` of a service, as its object has it; null if there is none.
  [[nodiscard]] const yaml::Node* pod_of(const ObjectName& service) const;
  /// What the session answered about the object as it is; nothing: it was not asked yet, or there is no object.
  [[nodiscard]] const SpecAnswer* answer_of(const ObjectName& service) const;
  [[nodiscard]] std::size_t tenant_count() const { return tenants_.size(); }
  [[nodiscard]] std::size_t service_count() const { return services_.size(); }

 private:
  /// What the session was given of an object, and said.
  struct Given {
    std::string uid;
    std::string body;
    std::int64_t generation = 0;
    SpecAnswer answer;
    Instant at;
    std::string since = {};         ///< when the condition got its status
    std::string accepted_uid = {};  ///< of the object whose spec the session has
  };
  struct Object {
    Identity identity;
    std::int64_t generation = 0;
    std::string body;
    std::optional<yaml::Node> pod = std::nullopt;
    yaml::Node status = {};                         ///< as the object shows it
    std::optional<yaml::Node> sent = std::nullopt;  ///< the status that was written last
    std::optional<Instant> sent_at = std::nullopt;
    std::optional<Instant> next_look = std::nullopt;
  };
  using Objects = std::map<ObjectName, Object>;
  using GivenSpecs = std::map<ObjectName, Given>;  ///< tenants have no namespace

  [[nodiscard]] static bool is_due(const Given* given, const Object* object, bool is_held, Instant now);
  [[nodiscard]] const Given* find_given(const ObjectName& name) const;
  [[nodiscard]] bool is_judged(const ObjectName& name, const Object& object) const;
  void add_puts(const HeldSpecs& held, Instant now, std::vector<SpecWrite>& writes) const;
  void add_removals(const HeldSpecs& held, Instant now, std::vector<SpecWrite>& writes) const;
  [[nodiscard]] bool may_remove(const ObjectName& name, Instant now) const;
  [[nodiscard]] std::set<std::string> wanted_tenants() const;
  [[nodiscard]] static bool needs_status(const Object& object, const yaml::Node& wanted, Instant now);
  /// Those of one kind; `find_view` is empty for tenants.
  void add_statuses(const Resource& resource, Objects& objects, const FindView& find_view, Instant now,
                    std::vector<StatusWrite>& writes) const;

  std::set<std::string> listed_;
  Objects tenants_;
  Objects services_;
  GivenSpecs given_;
  std::map<ObjectName, Instant> removal_tried_at_;
};

}  // namespace berth::kube
