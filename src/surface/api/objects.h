/// The objects of the API as JSON text: apiVersion, kind, metadata, spec, status.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "domain/node.h"
#include "live/session.h"
#include "surface/api/clock_text.h"

namespace berth::api {

/// What the objects are made of; borrowed.
struct ObjectSource {
  const live::Session& session;
  WorldEpoch epoch;
};

[[nodiscard]] std::string tenant_object(const ObjectSource& source, const std::string& tenant);
[[nodiscard]] std::string service_object(const ObjectSource& source, ServiceId service);
[[nodiscard]] std::string node_object(const ObjectSource& source, NodeId node);
[[nodiscard]] std::string gpu_object(const ObjectSource& source, GpuId gpu);
[[nodiscard]] std::string slice_object(const ObjectSource& source, const StandingSlice& standing);
[[nodiscard]] std::string plan_object(const ObjectSource& source, const live::PlanStatus& plan);
/// `data` of a server-sent event.
[[nodiscard]] std::string event_data(const ObjectSource& source, const live::LoggedEvent& event);

/// The tenants of the scenario's services, sorted.
[[nodiscard]] std::vector<std::string> tenants_of(const Scenario& scenario);

/// {"items":[..],"metadata":{"continue":..}}; `next` empty: null.
[[nodiscard]] std::string list_object(const std::vector<std::string>& items, const std::string& next);

}  // namespace berth::api
