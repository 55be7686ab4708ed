#include "engine/rivals/detail/fleet_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "domain/profile/operating_point.h"

namespace berth::partition::detail {
namespace {

std::vector<Partition> partitions_of(const GpuModel& model, const mig::SiteMap& map) {
  std::vector<Partition> partitions;
  for (const std::vector<mig::SiteIndex>& sites : mig::maximal_partitions(model, map)) {
    Partition& partition =
        partitions.emplace_back(Partition{.pieces = {}, .counts = mig::KindCounts(map.kinds.size(), 0)});
    for (const mig::SiteIndex site : sites) {
      partition.pieces.push_back(map.sites[site]);
      ++partition.counts[map.sites[site].kind];
    }
  }
  return partitions;
}

std::vector<int> shapes_of(const std::vector<Partition>& partitions) {
  std::vector<int> shapes;
  for (int i = 0; i < static_cast<int>(partitions.size()); ++i) {
    const bool is_new =
        std::ranges::none_of(shapes, [&](int shape) { return partitions[shape].counts == partitions[i].counts; });
    if (is_new) shapes.push_back(i);
  }
  return shapes;
}

ModelView view_model(const Scenario& scenario, const GpuModel& model) {
  ModelView view;
  view.model = &model;
  // The last kind is `full` even if no service can use it: its throughput is then absent.
  std::vector<ProfileId> profiles = mig::plain_rules(model).profiles;
  profiles.push_back(ProfileId::full());
  view.map = mig::make_site_map(model, profiles);
  view.partitions = partitions_of(model, view.map);
  view.shapes = shapes_of(view.partitions);
  for (const mig::SiteKind& kind : view.map.kinds) {
    auto& row = view.throughput.emplace_back();
    for (const ServiceSpec& service : scenario.services) {
      const auto point = profile::choose_point(service, model, kind.profile);
      row.push_back(point ? std::optional(point->requests_per_second) : std::nullopt);
    }
  }
  return view;
}

std::string model_names(const FleetView& fleet) {
  std::string names;
  for (const ModelView& view : fleet.models) names += (names.empty() ? "" : ", ") + view.model->name;
  return names;
}

bool is_served_somewhere(const FleetView& fleet, int service, bool only_whole) {
  for (const ModelView& view : fleet.models) {
    for (int kind = only_whole ? view.full_kind() : 0; kind <= view.full_kind(); ++kind) {
      if (view.can_serve(kind, service)) return true;
    }
  }
  return false;
}

}  // namespace

FleetView view_fleet(const Scenario& scenario) {
  FleetView fleet;
  fleet.scenario = &scenario;
  fleet.service_count = static_cast<int>(scenario.services.size());
  for (const FleetEntry& entry : scenario.fleet) {
    auto found = std::ranges::find_if(fleet.models, [&](const ModelView& view) { return *view.model == entry.model; });
    if (found == fleet.models.end()) {
      fleet.models.push_back(view_model(scenario, entry.model));
      found = fleet.models.end() - 1;
    }
    for (std::int64_t i = 0; i < entry.count; ++i) {
      found->gpus.push_back(fleet.gpu_count());
      fleet.model_of.push_back(static_cast<int>(found - fleet.models.begin()));
    }
  }
  return fleet;
}

FleetPlan empty_plan(const FleetView& fleet) {
  FleetPlan plan;
  for (int gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    plan.push_back({0, std::vector<int>(fleet.of_gpu(gpu).partitions.front().pieces.size(), kNoOwner)});
  }
  return plan;
}

Layout layout_of(const FleetView& fleet, const FleetPlan& plan) {
  Layout layout;
  for (int gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    const ModelView& view = fleet.of_gpu(gpu);
    const std::vector<mig::Site>& pieces = view.partitions[plan[gpu].partition].pieces;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const int owner = plan[gpu].owners[i];
      if (owner == kNoOwner) continue;
      const Slice slice{{static_cast<std::uint32_t>(gpu)}, pieces[i].start, pieces[i].profile};
      layout.push_back({slice, Role::kInference, {{static_cast<std::uint32_t>(owner)}}});
    }
  }
  return layout;
}

int owned_count(const FleetPlan& plan) {
  int count = 0;
  for (const GpuPlan& gpu : plan) {
    count += static_cast<int>(gpu.owners.size()) - static_cast<int>(std::ranges::count(gpu.owners, kNoOwner));
  }
  return count;
}

std::optional<Infeasible> find_unservable(const FleetView& fleet, bool only_whole) {
  for (int i = 0; i < fleet.service_count; ++i) {
    if (is_served_somewhere(fleet, i, only_whole)) continue;
    const ServiceSpec& service = fleet.scenario->services[i];
    const Decimal limit_ms = service.batching.slo_factor * service.target_ms;
    return Infeasible{
        fmt::format("service {}: no operating point below {} ms on any {} of {} (target {} ms x {}, at most {})",
                    service.name, limit_ms.to_string(), only_whole ? "whole GPU" : "slice",
                    service.tier.gpu.empty() ? model_names(fleet) : service.tier.gpu, service.target_ms.to_string(),
                    service.batching.slo_factor.to_string(), counted(service.batching.processes_max, "process"))};
  }
  return std::nullopt;
}

std::string counted(std::int64_t count, std::string_view noun) {
  const std::string_view ending = count == 1 ? "" : noun.ends_with('s') ? "es" : "s";
  return fmt::format("{} {}{}", count, noun, ending);
}

}  // namespace berth::partition::detail
