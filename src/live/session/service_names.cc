#include "live/session/service_names.h"

#include <variant>
#include <vector>

namespace berth::live {
namespace {

/// Which services were seen; a large plan names each of a few services many times.
class SeenServices {
 public:
  void add(ServiceId service) {
    if (service.index >= is_seen_.size()) is_seen_.resize(service.index + std::size_t{1});
    is_seen_[service.index] = true;
  }
  void add(const std::vector<ServiceId>& services) {
    for (const ServiceId service : services) add(service);
  }
  [[nodiscard]] const std::vector<bool>& is_seen() const { return is_seen_; }

 private:
  std::vector<bool> is_seen_;
};

}  // namespace

ServiceNames::ServiceNames(const Plan& plan, const Scenario& scenario) {
  SeenServices seen;
  for (const Action& action : plan.actions) {
    if (const auto* assign = std::get_if<AssignSlice>(&action.what)) seen.add(assign->holding.services);
  }
  for (const ChangeAhead& change : plan.ahead) {
    for (const Allocation& allocation : change.to) seen.add(allocation.holding.services);
  }
  for (const GpuFact& fact : plan.facts) {
    for (const ServiceFact& service : fact.services) seen.add(service.service);
  }
  for (std::uint32_t index = 0; index < seen.is_seen().size() && index < scenario.services.size(); ++index) {
    if (!seen.is_seen()[index]) continue;
    const ServiceSpec& service = scenario.services[index];
    names_.emplace(ServiceId{index}, ServiceName{.tenant = service.tenant, .name = service.name});
  }
}

const ServiceName* ServiceNames::find(ServiceId service) const {
  const auto it = names_.find(service);
  return it == names_.end() ? nullptr : &it->second;
}

}  // namespace berth::live
