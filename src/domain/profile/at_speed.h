/// Profile tables as the measured speed factors correct them: what plans, capacities and early drops count on.
#pragma once

#include <string>

#include "domain/values/gpu.h"
#include "domain/values/scenario.h"
#include "domain/values/service.h"
#include "domain/values/slice.h"
#include "domain/values/speed_factors.h"

namespace berth::profile {

/// The name of the profile whose rows a slice of that profile uses (points_on): of a whole GPU that has none, that of
/// the model's largest profile.
[[nodiscard]] std::string rows_profile(const PerformanceTable& table, const GpuModel& model, ProfileId profile);

/// The service's spec with each row as long as measured: latency x factor, throughput / factor, of its variants, too.
/// Where this leaves no point within the limit of a place that has one by the table, the place is among
/// TierRule::slow_on: the quickest point serves there. Without factors it is the same spec. O(rows).
[[nodiscard]] ServiceSpec at_speed(ServiceSpec spec, ServiceId service, const SpeedFactors& speeds);
/// The same for a service of a scenario, with the scenario's factors.
[[nodiscard]] ServiceSpec spec_at_speed(const Scenario& scenario, ServiceId service);

}  // namespace berth::profile
