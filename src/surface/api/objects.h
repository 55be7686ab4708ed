/// The objects of the API as JSON text: apiVersion, kind, metadata, spec, status.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
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
[[nodiscard]] std::string service_object(const ObjectSource& source, const live::ServiceEntry& service);
[[nodiscard]] std::string node_object(const ObjectSource& source, NodeId node);
[[nodiscard]] std::string gpu_object(const ObjectSource& source, GpuId gpu);
/// Of a slice of the snapshot, by its index there.
[[nodiscard]] std::string slice_object(const ObjectSource& source, std::size_t index);
/// With the first `actions_max` of its actions.
[[nodiscard]] std::string plan_object(const ObjectSource& source, const live::PlanStatus& plan,
                                      std::size_t actions_max = SIZE_MAX);
/// Ascends with the index in the snapshot.
[[nodiscard]] std::string slice_key(const StandingSlice& standing);
/// {"paused","reason","since"}: whether planning is paused.
[[nodiscard]] std::string planning_object(const ObjectSource& source);
/// "awaiting_approval".
[[nodiscard]] std::string_view phase_word(live::PlanPhase phase);
/// `data` of a server-sent event.
[[nodiscard]] std::string event_data(const ObjectSource& source, const live::LoggedEvent& event);

[[nodiscard]] std::string scheduling_word(GpuScheduling scheduling);
/// `status.last_minute` of a service; null before its first second.
[[nodiscard]] nlohmann::ordered_json last_minute_json(const std::optional<live::MinuteFigures>& figures);
/// Requests per second of the slices that serve now.
[[nodiscard]] double capacity_of(const live::Session& session, ServiceId service);

/// {"items":[..],"metadata":{"continue":..}}; `next` empty: null.
[[nodiscard]] std::string list_object(const std::vector<std::string>& items, const std::string& next);

}  // namespace berth::api
