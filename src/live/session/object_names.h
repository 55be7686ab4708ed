/// Names of objects in the API.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/values/gpu_name.h"
#include "domain/values/gpu_state.h"
#include "domain/values/node.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "live/session/event_log.h"

namespace berth::live {

using berth::gpu_name;
/// "gpu-3-1g.10gb-2", a place.
[[nodiscard]] std::string place_name(const Scenario& scenario, const Slice& slice);
/// "gpu-3-1g.10gb-2-7", a slice. `generation` 0: foreign, "gpu-3-1g.10gb-2-foreign".
[[nodiscard]] std::string slice_name(const Scenario& scenario, const Slice& slice, std::uint64_t generation);
[[nodiscard]] std::string plan_name(std::uint64_t id);
/// The number of "plan-3"; such a plan need not exist.
[[nodiscard]] std::optional<std::uint64_t> plan_number(std::string_view name);
/// "create", "destroy", "assign".
[[nodiscard]] std::string_view action_word(const SliceChange& change);
/// "open", "cordoned", "draining", "ordered", "absent".
[[nodiscard]] std::string_view word(GpuScheduling scheduling);
/// The number of "node-1", if it is a node of the scenario.
[[nodiscard]] std::optional<NodeId> find_node(const Scenario& scenario, std::string_view name);
/// The number of "gpu-3", if it is a GPU of the scenario.
[[nodiscard]] std::optional<GpuId> find_gpu(const Scenario& scenario, std::string_view name);

/// Objects as events name them.
[[nodiscard]] ObjectName gpu_object(GpuId gpu);
[[nodiscard]] ObjectName plan_object(std::uint64_t id);
[[nodiscard]] ObjectName planning_object();
[[nodiscard]] ObjectName tenant_object(const std::string& name);
[[nodiscard]] ObjectName service_object(const ServiceSpec& service);
[[nodiscard]] ObjectName fault_object(std::uint64_t id);

}  // namespace berth::live
