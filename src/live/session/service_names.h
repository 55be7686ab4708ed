/// The names of the services that a plan is about, as they were when it arrived: later their places may be those of
/// other services.
#pragma once

#include <map>

#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "live/session/catalog.h"

namespace berth::live {

class ServiceNames {
 public:
  ServiceNames() = default;
  /// Of the services that hold slices in the plan, now or ahead, or that its facts name. O(plan).
  ServiceNames(const Plan& plan, const Scenario& scenario);

  /// Null: the plan is not about it.
  [[nodiscard]] const ServiceName* find(ServiceId service) const;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.names_);
  }

 private:
  std::map<ServiceId, ServiceName> names_;
};

}  // namespace berth::live
