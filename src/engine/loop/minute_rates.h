/// The load of a service in the latest minutes.
#pragma once

#include <vector>

#include "base/core/instant.h"
#include "domain/values/service.h"
#include "domain/values/snapshot.h"

namespace berth {

/// The requests per second of the service in each of the latest 30 minutes that were seen, oldest first; what its owner
/// expects, or 0, while there is none. Never empty.
[[nodiscard]] std::vector<double> minute_rates(const ServiceState& service, const ServiceSpec& spec, Instant now);

}  // namespace berth
