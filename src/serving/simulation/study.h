/// Several policies on the same device and requests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "serving/dispatch/terms.h"
#include "serving/simulation/device_file.h"
#include "serving/simulation/figures.h"
#include "serving/simulation/requests_file.h"

namespace berth::serving {

/// What the policies are compared on.
struct ServingCase {
  SimulatedDevice device;
  RecordedRequests recorded;
  std::vector<ModelTerms> models;    ///< of the recorded ones, in their order
  std::vector<TenantTerms> tenants;  ///< likewise
};

/// `weighted`: the tenants and weights of a configuration; absent: every tenant has weight 1. Errors: a model of which
/// the device file says nothing, a tenant that the configuration does not name; `device_file` and `requests_file` are
/// for messages.
[[nodiscard]] Result<ServingCase> make_case(SimulatedDevice device, RecordedRequests recorded,
                                            const std::optional<std::vector<TenantTerms>>& weighted,
                                            const std::string& device_file, const std::string& requests_file);

/// One run. `listener` also gets its events.
[[nodiscard]] RunFigures run_case(const ServingCase& serving_case, const DispatchPolicy& policy, EvictionRule eviction,
                                  const RunListener& listener);

}  // namespace berth::serving
