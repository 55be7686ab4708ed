/// Small scenarios for the tests of this folder, and the rules that every layout must keep.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/duration.h"
#include "base/core/rng.h"
#include "domain/mig/catalogue.h"
#include "domain/mig/geometry.h"
#include "domain/profile/operating_point.h"
#include "domain/values/scenario.h"
#include "engine/rivals/layout.h"

namespace berth::partition::testing {

/// Requests per second of one process with batch 1 in 10 ms on a profile of a model.
struct Speed {
  std::string gpu;
  std::string profile;
  std::int64_t requests_per_second = 0;
};

/// A service with a target of 100 ms and one point for each speed.
inline ServiceSpec service_with(std::string name, const std::vector<Speed>& speeds) {
  ServiceSpec service;
  service.name = std::move(name);
  service.tenant = service.name;
  service.target_ms = Decimal(100);
  service.target = micros_from_millis(service.target_ms);
  service.table.model = service.name;
  for (const Speed& speed : speeds) {
    service.table.points.push_back({speed.gpu, speed.profile, 1, 1, Decimal(speed.requests_per_second), Decimal(10)});
  }
  return service;
}

/// A service that runs everywhere: `unit` requests per second for each compute slice.
inline ServiceSpec service_everywhere(std::string name, std::int64_t unit = 100) {
  std::vector<Speed> speeds;
  for (const GpuModel& model : mig::gpu_models()) {
    for (const MigProfile& profile : model.profiles) {
      if (profile.is_plain()) speeds.push_back({model.name, profile.name, unit * profile.compute_slices});
    }
    if (!model.is_mig_capable()) speeds.push_back({model.name, kFullProfileName, unit * 3});
  }
  return service_with(std::move(name), speeds);
}

inline FleetEntry gpus(const std::string& name, std::int64_t count) {
  FleetEntry entry;
  entry.model = mig::find_gpu_model(name).value();
  entry.count = count;
  return entry;
}

inline Scenario scenario_of(std::vector<FleetEntry> fleet, std::vector<ServiceSpec> services) {
  Scenario scenario;
  scenario.fleet = std::move(fleet);
  scenario.services = std::move(services);
  return scenario;
}

/// One GPU for two services that run everywhere.
inline Scenario two_services_on(const std::string& gpu) {
  return scenario_of({gpus(gpu, 1)}, {service_everywhere("a"), service_everywhere("b")});
}

/// A scenario of `gpu_count` GPUs drawn from `models` and services that run on a random part of the kinds of slices.
inline Scenario random_scenario(Rng& rng, const std::vector<std::string>& models, std::uint32_t gpu_count,
                                std::uint32_t service_count) {
  Scenario scenario;
  for (std::uint32_t i = 0; i < gpu_count; ++i) scenario.fleet.push_back(gpus(models[rng.below(models.size())], 1));
  for (std::uint32_t i = 0; i < service_count; ++i) {
    std::vector<Speed> speeds;
    for (const std::string& name : models) {
      const GpuModel model = mig::find_gpu_model(name).value();
      const auto draw = [&] { return static_cast<std::int64_t>(10 + rng.below(1000)); };
      for (const MigProfile& profile : model.profiles) {
        if (profile.is_plain() && rng.below(5) != 0) speeds.push_back({model.name, profile.name, draw()});
      }
      if (!model.is_mig_capable() && rng.below(5) != 0) speeds.push_back({model.name, kFullProfileName, draw()});
    }
    scenario.services.push_back(service_with("s" + std::to_string(i), speeds));
  }
  return scenario;
}

inline bool can_serve(const Scenario& scenario, const Slice& slice, ServiceId service) {
  return profile::choose_point(scenario.services[service.index], scenario.model_of(slice.gpu), slice.profile)
      .has_value();
}

/// Checks a layout against the rules that hold for every policy of this folder; the slices are legal by
/// mig::find_clash.
inline void expect_sound(const Scenario& scenario, const Layout& layout, bool serves_every_service = true) {
  EXPECT_TRUE(std::ranges::is_sorted(layout, {}, &Holding::slice));
  for (std::uint32_t gpu = 0; gpu < scenario.gpu_count(); ++gpu) {
    const GpuModel& model = scenario.model_of({gpu});
    mig::State state;
    int full_count = 0;
    for (const Holding& holding : layout) {
      if (holding.slice.gpu != GpuId{gpu}) continue;
      EXPECT_FALSE(holding.services.empty());
      EXPECT_TRUE(std::ranges::is_sorted(holding.services));
      if (holding.slice.profile.is_full()) {
        ++full_count;
        EXPECT_EQ(holding.slice.start, 0);
      } else {
        state.push_back({holding.slice.start, holding.slice.profile});
      }
      for (const ServiceId service : holding.services) EXPECT_TRUE(can_serve(scenario, holding.slice, service));
    }
    EXPECT_EQ(mig::find_clash(model, state), std::nullopt);
    EXPECT_LE(full_count, state.empty() ? 1 : 0);
  }
  if (!serves_every_service) return;
  for (std::uint32_t service = 0; service < scenario.services.size(); ++service) {
    EXPECT_FALSE(slices_of(layout, {service}).empty()) << scenario.services[service].name;
  }
}

/// "0:4g.40gb@0=a 0:3g.40gb@4=b,c": GPU, profile, start and the names of the holders.
inline std::string show(const Scenario& scenario, const LayoutOrInfeasible& answer) {
  if (const auto* infeasible = std::get_if<Infeasible>(&answer)) return "infeasible: " + infeasible->why;
  std::string text;
  for (const Holding& holding : std::get<Layout>(answer)) {
    const Slice& slice = holding.slice;
    text += (text.empty() ? "" : " ") + std::to_string(slice.gpu.index) + ":" +
            profile_name(scenario.model_of(slice.gpu), slice.profile) + "@" + std::to_string(slice.start) + "=";
    for (std::size_t i = 0; i < holding.services.size(); ++i) {
      text += (i == 0 ? "" : ",") + scenario.services[holding.services[i].index].name;
    }
  }
  return text;
}

/// One partition of a GPU.
using Slices = std::vector<Slice>;

/// Every maximal partition of a GPU, the whole GPU last.
inline std::vector<Slices> partitions_of_gpu(const Scenario& scenario, GpuId gpu) {
  const GpuModel& model = scenario.model_of(gpu);
  std::vector<Slices> partitions;
  if (model.is_mig_capable()) {
    for (const mig::State& state : mig::maximal_layouts(model, mig::plain_rules(model))) {
      Slices& partition = partitions.emplace_back();
      for (const mig::Placement& placement : state) partition.push_back({gpu, placement.start, placement.profile});
    }
  }
  partitions.push_back({{gpu, 0, ProfileId::full()}});
  return partitions;
}

/// All partitions of each GPU, with the services that each slice can serve.
struct AllPartitions {
  struct Choice {
    Slice slice;
    std::vector<ServiceId> services;
  };
  std::vector<std::vector<std::vector<Choice>>> by_gpu;  ///< [gpu][partition][slice]
};

inline AllPartitions all_partitions(const Scenario& scenario) {
  AllPartitions all;
  for (std::uint32_t gpu = 0; gpu < scenario.gpu_count(); ++gpu) {
    auto& partitions = all.by_gpu.emplace_back();
    for (const Slices& slices : partitions_of_gpu(scenario, {gpu})) {
      auto& partition = partitions.emplace_back();
      for (const Slice& slice : slices) {
        auto& choice = partition.emplace_back(AllPartitions::Choice{slice, {}});
        for (std::uint32_t service = 0; service < scenario.services.size(); ++service) {
          if (can_serve(scenario, slice, {service})) choice.services.push_back({service});
        }
      }
    }
  }
  return all;
}

template <class Visit>
void visit_layouts(const AllPartitions& all, const Visit& visit, Layout& layout,
                   const std::vector<AllPartitions::Choice>& partition, std::size_t position, std::size_t next_gpu) {
  if (position < partition.size()) {
    for (const ServiceId service : partition[position].services) {
      layout.push_back({partition[position].slice, Role::kInference, {service}});
      visit_layouts(all, visit, layout, partition, position + 1, next_gpu);
      layout.pop_back();
    }
    visit_layouts(all, visit, layout, partition, position + 1, next_gpu);
    return;
  }
  if (next_gpu == all.by_gpu.size()) {
    visit(layout);
    return;
  }
  for (const auto& next_partition : all.by_gpu[next_gpu])
    visit_layouts(all, visit, layout, next_partition, 0, next_gpu + 1);
}

/// Calls `visit` for every layout of the fleet: each partition of each GPU, each slice with an owner that it can serve
/// or unowned. Naive on purpose: it shares nothing with the code under test.
template <class Visit>
void for_each_layout(const Scenario& scenario, const Visit& visit) {
  Layout layout;
  visit_layouts(all_partitions(scenario), visit, layout, {}, 0, 0);
}

/// Whether every service holds a slice.
inline bool is_covering(const Scenario& scenario, const Layout& layout) {
  for (std::uint32_t service = 0; service < scenario.services.size(); ++service) {
    if (slices_of(layout, {service}).empty()) return false;
  }
  return true;
}

}  // namespace berth::partition::testing
