/// What-if at the speed that was measured: the tables of a window's services, corrected by their recorded factors.
#pragma once

#include <string>

#include "domain/values/service.h"
#include "domain/values/speed_factors.h"
#include "live/whatif/chronicle.h"

namespace berth::whatif {

/// The factors of a service by which its batches took longer or shorter in the window: the last one that held at each
/// place, also if it ended within the window, or was only reported. Their service is 0. Empty: there is none, or the
/// service has got another table since.
[[nodiscard]] SpeedFactors factors_in(const Chronicle& chronicle, const ServicePast& service, const Span& window);

/// The spec with table x factor, in millionths, as its world takes that long.
[[nodiscard]] ServiceSpec at_measured_speed(const ServiceSpec& spec, const SpeedFactors& factors);

/// Requires: there are factors.
[[nodiscard]] std::string remark_on(const ServicePast& service, const SpeedFactors& factors);

}  // namespace berth::whatif
