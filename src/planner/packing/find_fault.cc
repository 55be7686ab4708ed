#include "planner/packing/find_fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/core/text.h"
#include "domain/mig/geometry.h"
#include "domain/values/gpu_name.h"
#include "domain/values/scenario.h"

namespace berth::packing {
namespace {

using FaultText = std::optional<std::string>;

/// A plan with its problem. The accessors require that the checks before them have passed.
struct CheckedPlan {
  const PackingProblem& problem;
  const Packing& packing;

  [[nodiscard]] std::size_t gpu_count() const { return packing.gpu_offers.size(); }
  [[nodiscard]] const GpuModel& model_of(std::uint32_t gpu) const {
    return problem.offers[packing.gpu_offers[gpu]].model;
  }
  [[nodiscard]] const Demand& demand_of(const PackedSlice& packed) const { return problem.demands[packed.demand]; }
};

std::string text_of_demand(const Demand& demand) {
  if (demand.tenant == demand.model) return "model " + in_quotes(demand.model);
  return "model " + in_quotes(demand.model) + " of tenant " + in_quotes(demand.tenant);
}

/// "gpu-3 (A100-80GB), 2g.20gb@4, model "bert"".
std::string text_of_slice(const CheckedPlan& plan, const PackedSlice& packed) {
  const std::uint32_t gpu = packed.slice.gpu.index;
  const GpuModel& model = plan.model_of(gpu);
  return fmt::format("{} ({}), {}@{}, {}", gpu_name({gpu}), model.name, profile_name(model, packed.slice.profile),
                     packed.slice.start, text_of_demand(plan.demand_of(packed)));
}

FaultText find_offer_fault(const CheckedPlan& plan) {
  const std::vector<GpuOffer>& offers = plan.problem.offers;
  std::vector<std::int64_t> counts(offers.size());
  for (std::uint32_t gpu = 0; gpu < plan.gpu_count(); ++gpu) {
    const std::uint32_t offer = plan.packing.gpu_offers[gpu];
    if (offer >= offers.size()) {
      return fmt::format("{}: wanted an offer below {}, found {}", gpu_name({gpu}), offers.size(), offer);
    }
    ++counts[offer];
  }
  for (std::size_t i = 0; i < offers.size(); ++i) {
    if (offers[i].count_max && counts[i] > *offers[i].count_max) {
      return fmt::format("{}: wanted at most {} GPUs, found {}", offers[i].model.name, *offers[i].count_max, counts[i]);
    }
  }
  return std::nullopt;
}

/// Conditions under which a slice's GPU, profile and demand can be named.
FaultText find_index_fault(const CheckedPlan& plan) {
  const PackedSlice* last = nullptr;
  for (const PackedSlice& packed : plan.packing.slices) {
    const auto place = fmt::format("{}, start {}", gpu_name(packed.slice.gpu), packed.slice.start);
    if (packed.slice.gpu.index >= plan.gpu_count()) {
      return fmt::format("{}: wanted a GPU below {}", place, plan.gpu_count());
    }
    if (packed.demand >= plan.problem.demands.size()) {
      return fmt::format("{}: wanted a demand below {}, found {}", place, plan.problem.demands.size(), packed.demand);
    }
    if (last != nullptr && packed.slice < last->slice) {
      return fmt::format("{}: wanted slices by GPU, then start, found it after {}, start {}", place,
                         gpu_name(last->slice.gpu), last->slice.start);
    }
    last = &packed;
  }
  return std::nullopt;
}

std::vector<mig::State> states_of(const CheckedPlan& plan) {
  std::vector<mig::State> states(plan.gpu_count());
  for (const PackedSlice& packed : plan.packing.slices) {
    states[packed.slice.gpu.index].push_back({packed.slice.start, packed.slice.profile});
  }
  return states;
}

FaultText find_state_fault(const CheckedPlan& plan) {
  const std::vector<mig::State> states = states_of(plan);
  for (std::uint32_t gpu = 0; gpu < states.size(); ++gpu) {
    const GpuModel& model = plan.model_of(gpu);
    if (states[gpu].empty()) return fmt::format("{} ({}): wanted a slice, found none", gpu_name({gpu}), model.name);
    if (const FaultText clash = mig::find_clash(model, states[gpu])) {
      return fmt::format("{} ({}): {}", gpu_name({gpu}), model.name, *clash);
    }
  }
  return std::nullopt;
}

/// Two tenants on one GPU. Slices of a GPU are adjacent in the plan.
FaultText find_tenant_fault(const CheckedPlan& plan) {
  if (!plan.problem.rules.keeps_tenants_apart) return std::nullopt;
  const PackedSlice* last = nullptr;
  for (const PackedSlice& packed : plan.packing.slices) {
    if (last != nullptr && last->slice.gpu == packed.slice.gpu &&
        plan.demand_of(*last).tenant != plan.demand_of(packed).tenant) {
      return fmt::format("{}: wanted tenants apart, found tenant {} on the same GPU", text_of_slice(plan, packed),
                         in_quotes(plan.demand_of(*last).tenant));
    }
    last = &packed;
  }
  return std::nullopt;
}

const PerformancePoint* find_row(const CheckedPlan& plan, const PackedSlice& packed) {
  const PerformanceTable* table = plan.problem.table_of(plan.demand_of(packed).model);
  if (table == nullptr) return nullptr;
  const GpuModel& model = plan.model_of(packed.slice.gpu.index);
  const std::string profile = profile_name(model, packed.slice.profile);
  const auto found = std::ranges::find_if(table->points, [&](const PerformancePoint& point) {
    return point.batch == packed.batch && point.processes == packed.processes && point.gpu == model.name &&
           point.profile == profile;
  });
  return found == table->points.end() ? nullptr : &*found;
}

FaultText find_point_fault(const CheckedPlan& plan, const PackedSlice& packed) {
  const PackingRules& rules = plan.problem.rules;
  if (packed.processes > rules.processes_max) {
    return fmt::format("{}: wanted at most {} processes, found {}", text_of_slice(plan, packed), rules.processes_max,
                       packed.processes);
  }
  const PerformancePoint* row = find_row(plan, packed);
  if (row == nullptr) {
    return fmt::format("{}: wanted a measured point, found batch {} with {} processes, which no row has",
                       text_of_slice(plan, packed), packed.batch, packed.processes);
  }
  const Decimal limit = rules.slo_factor * plan.demand_of(packed).latency_ms;
  if (row->latency_ms >= limit) {
    return fmt::format("{}: wanted a latency below {} ms, found {} ms (batch {}, {} processes)",
                       text_of_slice(plan, packed), limit.to_string(), row->latency_ms.to_string(), packed.batch,
                       packed.processes);
  }
  if (packed.requests_per_second != row->requests_per_second) {
    return fmt::format("{}: wanted the measured {} requests per second, found {}", text_of_slice(plan, packed),
                       row->requests_per_second.to_string(), packed.requests_per_second.to_string());
  }
  return std::nullopt;
}

std::vector<Decimal> sums_of(const CheckedPlan& plan) {
  std::vector<Decimal> sums(plan.problem.demands.size());
  for (const PackedSlice& packed : plan.packing.slices) sums[packed.demand] += packed.requests_per_second;
  return sums;
}

FaultText find_demand_fault(const CheckedPlan& plan) {
  const std::vector<Decimal> sums = sums_of(plan);
  std::vector<Decimal> rates;
  rates.reserve(sums.size());
  for (const Demand& demand : plan.problem.demands) {
    rates.push_back(demand.requests_per_second * plan.problem.rules.headroom);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] >= rates[i]) continue;
    return fmt::format("{}: wanted {} requests per second, found {}", text_of_demand(plan.problem.demands[i]),
                       rates[i].to_string(), sums[i].to_string());
  }
  for (const PackedSlice& packed : plan.packing.slices) {
    const Decimal rest = sums[packed.demand] - packed.requests_per_second;
    if (rest < rates[packed.demand]) continue;
    return fmt::format("{}: wanted no surplus slice, found {} requests per second without it, of {} wanted",
                       text_of_slice(plan, packed), rest.to_string(), rates[packed.demand].to_string());
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_fault(const PackingProblem& problem, const Packing& packing) {
  const CheckedPlan plan{problem, packing};
  for (const auto check : {find_offer_fault, find_index_fault, find_state_fault, find_tenant_fault}) {
    if (FaultText fault = check(plan)) return fault;
  }
  for (const PackedSlice& packed : packing.slices) {
    if (FaultText fault = find_point_fault(plan, packed)) return fault;
  }
  return find_demand_fault(plan);
}

}  // namespace berth::packing
