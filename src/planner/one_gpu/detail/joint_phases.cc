#include "planner/one_gpu/detail/joint_phases.h"

#include "base/core/ensure.h"

namespace berth::planner {

JointPhases::JointPhases(const Problem& problem) : stride_(problem.services.size()) {
  for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
    if (!may_be_stale(problem.services[service])) continue;
    services_.push_back(service);
    if (services_.size() > ix(kModelsMax)) continue;
    stride_[service] = count_;
    count_ *= kPhases;
  }
}

PhasesIndex JointPhases::with(PhasesIndex phases, ServiceIndex service, PhaseIndex phase) const {
  const int stride = stride_[service];
  ENSURE(stride > 0 && phase >= kFresh && phase < kPhases);
  return phases + (phase - of(phases, service)) * stride;
}

}  // namespace berth::planner
