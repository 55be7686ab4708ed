#include "engine/elastic/capacity_packing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/core/ensure.h"
#include "domain/profile/operating_point.h"
#include "planner/packing/pack.h"
#include "planner/window/frame.h"

namespace berth::elastic {
namespace {

constexpr std::int64_t kStepsPerSlice = 64;
/// Some milliseconds (planner/packing/pack.h).
constexpr std::int64_t kPackNodesMax = 200'000;

std::vector<ProfileId> profiles_of(const GpuModel& model) {
  std::vector<ProfileId> profiles;
  if (model.has_full) profiles.push_back(ProfileId::full());
  for (std::size_t index = 0; index < model.profiles.size(); ++index) {
    profiles.push_back({static_cast<std::uint16_t>(index)});
  }
  return profiles;
}

/// The points at which a service may run, as a separate table: the rules of packing are the same for all services.
PerformanceTable usable_table(const ServiceSpec& service, const std::string& name) {
  PerformanceTable table{.model = name, .points = {}};
  const profile::UsableRule rule = profile::usable_rule(service);
  for (const PerformancePoint& point : service.table.points) {
    if (profile::is_usable(point, rule)) table.points.push_back(point);
  }
  return table;
}

/// One point for each profile, with the rate that plans count on.
PerformanceTable planned_table(const Scenario& scenario, const ServiceSpec& service, const std::string& name) {
  PerformanceTable table{.model = name, .points = {}};
  const GpuModel& model = scenario.fleet.front().model;
  for (const ProfileId profile : profiles_of(model)) {
    const auto thousandths = static_cast<std::int64_t>(1000 * planner::planned_rate(scenario, service, model, profile));
    if (thousandths <= 0) continue;
    table.points.push_back({.gpu = model.name,
                            .profile = profile_name(model, profile),
                            .requests_per_second = Decimal(thousandths, 1000),
                            .latency_ms = Decimal(1, 1000)});
  }
  std::ranges::sort(table.points, {}, &PerformancePoint::profile);
  return table;
}

/// Of the largest slice of a demand, in requests per second; 0: none can serve it.
double largest_capacity(const PackingProblem& problem, const Demand& demand) {
  const GpuModel& model = problem.offers.front().model;
  double most = 0;
  for (const ProfileId profile : profiles_of(model)) {
    const auto point = packing::best_point(problem, demand, model, profile);
    if (point) most = std::max(most, point->requests_per_second.to_double());
  }
  return most;
}

}  // namespace

CapacityPacking::CapacityPacking(const Scenario& scenario, SlicePoints points) {
  problem_.offers.push_back({.model = scenario.fleet.front().model});
  // Points that violate the services' rules are not in the tables.
  problem_.rules.slo_factor = Decimal(1'000'000);
  problem_.rules.processes_max = 1'000;
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    const ServiceSpec& service = std::as_const(scenario.services)[index];
    const std::string name = fmt::format("{:010}", index);  // tables are sorted by name
    problem_.tables.push_back(points == SlicePoints::kDefault ? usable_table(service, name)
                                                              : planned_table(scenario, service, name));
    problem_.demands.push_back(
        {.model = name, .tenant = name, .requests_per_second = Decimal(0), .latency_ms = service.target_ms});
  }
  for (const Demand& demand : problem_.demands) {
    steps_.push_back(largest_capacity(problem_, demand) / kStepsPerSlice);
  }
}

double CapacityPacking::gpu_capacity(ServiceId service) {
  std::int64_t low = steps_[service.index] > 0 ? kStepsPerSlice : 0;
  // No GPU holds more than its units, each with the largest slice's capacity.
  std::int64_t high = low * 16 + 1;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    std::vector<double> wanted(steps_.size());
    wanted[service.index] = static_cast<double>(middle) * steps_[service.index];
    (pack(wanted).gpus <= 1 ? low : high) = middle;
  }
  return static_cast<double>(low) * steps_[service.index];
}

const PackedCapacity& CapacityPacking::pack(const std::vector<double>& requests_per_second) {
  ENSURE(requests_per_second.size() == steps_.size());
  std::vector<std::int64_t> steps;
  steps.reserve(steps_.size());
  for (std::size_t index = 0; index < steps_.size(); ++index) {
    const double wanted = steps_[index] > 0 ? std::ceil(requests_per_second[index] / steps_[index]) : 0;
    steps.push_back(static_cast<std::int64_t>(wanted));
  }
  const auto known = packed_.find(steps);
  if (known != packed_.end()) return known->second;
  for (std::size_t index = 0; index < steps.size(); ++index) {
    // A step is a measured rate, so the product may slightly exceed the slices' capacity.
    constexpr double kThousandths = 1000;
    const double wanted = static_cast<double>(steps[index]) * steps_[index] * kThousandths;
    problem_.demands[index].requests_per_second = Decimal(static_cast<std::int64_t>(std::floor(wanted)), 1000);
  }
  auto result = packing::pack(problem_, {.nodes_max = kPackNodesMax});
  ENSURE(result.has_value());  // demands that no slice can serve are 0, and GPUs are unlimited
  PackedCapacity packed{.gpus = result->score.gpus, .is_proven_fewest = result->is_proven, .layout = {}};
  packed.layout.reserve(result->packing.slices.size());
  for (const PackedSlice& slice : result->packing.slices) {
    packed.layout.push_back({.slice = slice.slice, .role = Role::kInference, .services = {{slice.demand}}});
  }
  return packed_.emplace(std::move(steps), std::move(packed)).first->second;
}

}  // namespace berth::elastic
