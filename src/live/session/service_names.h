/// The names of the services in a plan, as they were when it arrived: later other services may have their places.
#pragma once

#include <map>

#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "live/session/catalog.h"

namespace berth::live {

class ServiceNames {
 public:
  ServiceNames() = default;
  /// Names the services that hold slices in the plan, now or later, or that its facts mention. O(plan).
  ServiceNames(const Plan& plan, const Scenario& scenario);

  /// Null: the plan does not name it.
  [[nodiscard]] const ServiceName* find(ServiceId service) const;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.names_);
  }

 private:
  std::map<ServiceId, ServiceName> names_;
};

}  // namespace berth::live
