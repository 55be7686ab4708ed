#include "serving/simulation/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/core/text.h"
#include "serving/dispatch/dispatcher.h"
#include "serving/simulation/run.h"

namespace berth::serving {

Result<ServingCase> make_case(SimulatedDevice device, RecordedRequests recorded,
                              const std::optional<std::vector<TenantTerms>>& weighted, const std::string& device_file,
                              const std::string& requests_file) {
  ServingCase made;
  for (const std::string& model : recorded.models) {
    auto terms = device.terms_of(model);
    if (!terms) {
      return invalid(fmt::format("{}: models: wanted {} of {}, or \"*\", found neither", device_file, in_quotes(model),
                                 requests_file));
    }
    made.models.push_back(std::move(*terms));
  }
  for (const std::string& tenant : recorded.tenants) {
    made.tenants.push_back({.name = tenant});
    if (!weighted) continue;
    const auto found = std::ranges::find(*weighted, tenant, &TenantTerms::name);
    if (found == weighted->end()) {
      return invalid(fmt::format("{}: wanted tenants of --config, found {}", requests_file, in_quotes(tenant)));
    }
    made.tenants.back().weight = found->weight;
  }
  made.device = std::move(device);
  made.recorded = std::move(recorded);
  return made;
}

RunFigures run_case(const ServingCase& serving_case, const DispatchPolicy& policy, EvictionRule eviction,
                    const RunListener& listener) {
  Dispatcher dispatcher(serving_case.models, serving_case.tenants,
                        {.policy = policy,
                         .eviction = eviction,
                         .memory = serving_case.device.memory,
                         .lanes = serving_case.device.lanes});
  dispatcher.place_initially();
  FigureCounter counter(serving_case.recorded);
  run_dispatcher(dispatcher, serving_case.recorded.requests, [&](const RunEvent& event) {
    counter.add(event);
    if (listener) listener(event);
  });
  return counter.figures();
}

}  // namespace berth::serving
