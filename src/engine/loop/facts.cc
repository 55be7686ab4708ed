#include "engine/loop/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>
#include <variant>

#include "domain/values/gpu_name.h"

namespace berth {
namespace {

/// The staying slices of a GPU, in order.
std::vector<SliceFact> staying_on(const Snapshot& snapshot, GpuId gpu) {
  std::vector<SliceFact> slices;
  for (const StandingSlice& standing : snapshot.slices_on(gpu)) {
    if (!standing.is_leaving) slices.push_back({.slice = standing.holding.slice, .number = standing.assignment});
  }
  return slices;
}

/// The services that get slices of each GPU by the plan, with their revisions.
std::map<GpuId, std::vector<ServiceFact>> services_given(const Snapshot& snapshot, const Plan& plan) {
  std::map<GpuId, std::vector<ServiceFact>> given;
  for (const Action& action : plan.actions) {
    const auto* assign = std::get_if<AssignSlice>(&action.what);
    if (assign == nullptr) continue;
    for (const ServiceId service : assign->holding.services) {
      // The verifier refuses a service that never existed.
      if (service.index >= snapshot.services.size()) continue;
      given[assign->holding.slice.gpu].push_back(
          {.service = service, .revision = snapshot.services[service.index].revision});
    }
  }
  for (auto& [gpu, facts] : given) {
    std::ranges::sort(facts, {}, &ServiceFact::service);
    const auto repeated = std::ranges::unique(facts);
    facts.erase(repeated.begin(), repeated.end());
  }
  return given;
}

std::optional<std::string> find_broken_service(const Scenario& scenario, const Snapshot& snapshot,
                                               const GpuFact& fact) {
  for (const ServiceFact& then : fact.services) {
    const bool is_there = then.service.index < snapshot.services.size();
    if (!is_there || snapshot.services[then.service.index].is_absent) {
      return fmt::format("a service that was to get a slice of {} is gone", gpu_name(fact.gpu));
    }
    if (snapshot.services[then.service.index].revision == then.revision) continue;
    const ServiceSpec& service = scenario.services[then.service.index];
    return fmt::format("the service {}{}{}, which was to get a slice of {}, was changed since", service.tenant,
                       service.tenant.empty() ? "" : "/", service.name, gpu_name(fact.gpu));
  }
  return std::nullopt;
}

std::string place_on_gpu(const Scenario& scenario, const Slice& slice) {
  return fmt::format("{}@{}", profile_name(scenario.model_of(slice.gpu), slice.profile), slice.start);
}

}  // namespace

std::vector<GpuFact> facts_of(const Snapshot& snapshot, const Plan& plan) {
  std::vector<GpuId> gpus;
  gpus.reserve(plan.actions.size());
  for (const Action& action : plan.actions) gpus.push_back(slice_of(action.what).gpu);
  std::ranges::sort(gpus);
  const auto repeated = std::ranges::unique(gpus);
  gpus.erase(repeated.begin(), repeated.end());
  std::vector<GpuFact> facts;
  facts.reserve(gpus.size());
  auto services = services_given(snapshot, plan);
  for (const GpuId gpu : gpus) {
    facts.push_back({.gpu = gpu, .slices = staying_on(snapshot, gpu), .services = std::move(services[gpu])});
  }
  return facts;
}

std::optional<std::string> find_broken_fact(const Scenario& scenario, const Snapshot& snapshot, const GpuFact& fact) {
  const GpuState state = snapshot.gpu_state(fact.gpu);
  if (state.health == GpuHealth::kLost) return fmt::format("{} is lost", gpu_name(fact.gpu));
  if (auto broken = find_broken_service(scenario, snapshot, fact)) return broken;
  const std::vector<SliceFact> now = staying_on(snapshot, fact.gpu);
  if (now == fact.slices) return std::nullopt;
  for (const SliceFact& then : fact.slices) {
    const auto it = std::ranges::find(now, then.slice, &SliceFact::slice);
    if (it == now.end()) {
      return fmt::format("{} on {} is gone", place_on_gpu(scenario, then.slice), gpu_name(fact.gpu));
    }
    if (it->number != then.number) {
      return fmt::format("{} on {} was given to others since", place_on_gpu(scenario, then.slice), gpu_name(fact.gpu));
    }
  }
  for (const SliceFact& here : now) {
    if (std::ranges::find(fact.slices, here.slice, &SliceFact::slice) != fact.slices.end()) continue;
    return fmt::format("{} on {} is new", place_on_gpu(scenario, here.slice), gpu_name(fact.gpu));
  }
  return fmt::format("the slices of {} are others now", gpu_name(fact.gpu));
}

}  // namespace berth
