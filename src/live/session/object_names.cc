#include "live/session/object_names.h"

#include <fmt/format.h>

#include <charconv>
#include <variant>

#include "base/core/overloaded.h"
#include "live/session/fault_text.h"

namespace berth::live {
namespace {

/// The number of "gpu-3" without leading zeros.
std::optional<std::uint64_t> number_behind(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = name.substr(prefix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || fmt::format("{}", number) != digits) return std::nullopt;
  return number;
}

}  // namespace

std::string place_name(const Scenario& scenario, const Slice& slice) {
  return fmt::format("{}-{}-{}", gpu_name(slice.gpu), profile_name(scenario.model_of(slice.gpu), slice.profile),
                     slice.start);
}

std::string slice_name(const Scenario& scenario, const Slice& slice, std::uint64_t generation) {
  const std::string place = place_name(scenario, slice);
  return generation == 0 ? place + "-foreign" : fmt::format("{}-{}", place, generation);
}

std::string plan_name(std::uint64_t id) { return fmt::format("plan-{}", id); }

std::optional<std::uint64_t> plan_number(std::string_view name) { return number_behind("plan-", name); }

std::string_view action_word(const SliceChange& change) {
  return std::visit(Overloaded{
                        [](const CreateSlice&) -> std::string_view { return "create"; },
                        [](const DestroySlice&) -> std::string_view { return "destroy"; },
                        [](const AssignSlice&) -> std::string_view { return "assign"; },
                    },
                    change);
}

std::string_view word(GpuScheduling scheduling) {
  switch (scheduling) {
    case GpuScheduling::kOpen:
      return "open";
    case GpuScheduling::kCordoned:
      return "cordoned";
    case GpuScheduling::kDraining:
      return "draining";
    case GpuScheduling::kOrdered:
      return "ordered";
    case GpuScheduling::kAbsent:
      return "absent";
  }
  return "";
}

std::optional<GpuId> find_gpu(const Scenario& scenario, std::string_view name) {
  const auto index = number_behind("gpu-", name);
  if (!index || *index >= scenario.gpu_count()) return std::nullopt;
  return GpuId{static_cast<std::uint32_t>(*index)};
}

std::optional<NodeId> find_node(const Scenario& scenario, std::string_view name) {
  constexpr std::string_view kPrefix = "node-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  std::uint32_t index = 0;
  const auto [end, error] = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), index);
  const bool is_known = error == std::errc() && index < node_count(scenario) && node_name({index}) == name;
  return is_known ? std::optional(NodeId{index}) : std::nullopt;
}

// ---- objects

ObjectName gpu_object(GpuId gpu) { return {.kind = ObjectKind::kGpu, .tenant = "", .name = gpu_name(gpu)}; }
ObjectName plan_object(std::uint64_t id) { return {.kind = ObjectKind::kPlan, .tenant = "", .name = plan_name(id)}; }

ObjectName planning_object() { return {.kind = ObjectKind::kPlanning, .tenant = "", .name = "planning"}; }

ObjectName tenant_object(const std::string& name) { return {.kind = ObjectKind::kTenant, .tenant = "", .name = name}; }

ObjectName fault_object(std::uint64_t id) { return {.kind = ObjectKind::kFault, .tenant = "", .name = fault_name(id)}; }

ObjectName service_object(const ServiceSpec& service) {
  return {.kind = ObjectKind::kGpuService, .tenant = service.tenant, .name = service.name};
}

}  // namespace berth::live
