#include "partition/detail/fleet_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/ensure.h"
#include "mig/geometry.h"
#include "profile/operating_point.h"

namespace berth::partition::detail {
namespace {

std::vector<Kind> kinds_of(const GpuModel& model) {
  std::vector<Kind> kinds;
  if (model.is_mig_capable()) {
    for (const ProfileId profile : mig::plain_rules(model).profiles) {
      kinds.push_back({profile, profile_sms(model, profile)});
    }
  }
  kinds.push_back({ProfileId::full(), profile_sms(model, ProfileId::full())});
  return kinds;
}

int kind_of_profile(const std::vector<Kind>& kinds, ProfileId profile) {
  const auto found = std::ranges::find(kinds, profile, &Kind::profile);
  ENSURE(found != kinds.end());
  return static_cast<int>(found - kinds.begin());
}

std::vector<Cut> cuts_of(const GpuModel& model, const std::vector<Kind>& kinds) {
  std::vector<Cut> cuts;
  if (model.is_mig_capable()) {
    for (const mig::State& state : mig::maximal_layouts(model, mig::plain_rules(model))) {
      Cut& cut = cuts.emplace_back();
      for (const mig::Placement& placement : state) {
        cut.pieces.push_back({placement.start, kind_of_profile(kinds, placement.profile)});
      }
    }
  }
  cuts.push_back({{{0, static_cast<int>(kinds.size()) - 1}}, {}});
  for (Cut& cut : cuts) {
    cut.counts.assign(kinds.size(), 0);
    for (const Piece& piece : cut.pieces) ++cut.counts[piece.kind];
  }
  return cuts;
}

std::vector<int> shapes_of(const std::vector<Cut>& cuts) {
  std::vector<int> shapes;
  for (int i = 0; i < static_cast<int>(cuts.size()); ++i) {
    const bool is_new = std::ranges::none_of(shapes, [&](int shape) { return cuts[shape].counts == cuts[i].counts; });
    if (is_new) shapes.push_back(i);
  }
  return shapes;
}

ModelView view_model(const Scenario& scenario, const GpuModel& model) {
  ModelView view;
  view.model = &model;
  view.kinds = kinds_of(model);
  view.cuts = cuts_of(model, view.kinds);
  view.shapes = shapes_of(view.cuts);
  for (const Kind& kind : view.kinds) {
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
    auto found =
        std::ranges::find(fleet.models, entry.model.name, [](const ModelView& view) { return view.model->name; });
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
    plan.push_back({0, std::vector<int>(fleet.of_gpu(gpu).cuts.front().pieces.size(), kNobody)});
  }
  return plan;
}

Layout layout_of(const FleetView& fleet, const FleetPlan& plan) {
  Layout layout;
  for (int gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    const ModelView& view = fleet.of_gpu(gpu);
    const std::vector<Piece>& pieces = view.cuts[plan[gpu].cut].pieces;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const int owner = plan[gpu].owners[i];
      if (owner == kNobody) continue;
      const Slice slice{{static_cast<std::uint32_t>(gpu)}, pieces[i].start, view.kinds[pieces[i].kind].profile};
      layout.push_back({slice, Role::kInference, {{static_cast<std::uint32_t>(owner)}}});
    }
  }
  return layout;
}

int owned_count(const FleetPlan& plan) {
  int count = 0;
  for (const GpuPlan& gpu : plan) {
    count += static_cast<int>(gpu.owners.size()) - static_cast<int>(std::ranges::count(gpu.owners, kNobody));
  }
  return count;
}

std::optional<Infeasible> find_unservable(const FleetView& fleet, bool only_whole) {
  for (int i = 0; i < fleet.service_count; ++i) {
    if (is_served_somewhere(fleet, i, only_whole)) continue;
    const ServiceSpec& service = fleet.scenario->services[i];
    const Decimal limit_ms = service.batching.slo_factor * service.target_ms;
    return Infeasible{fmt::format(
        "service {}: no operating point below {} ms on any {} of {} (target {} ms x {}, at most {})", service.name,
        limit_ms.to_string(), only_whole ? "uncut GPU" : "slice", model_names(fleet), service.target_ms.to_string(),
        service.batching.slo_factor.to_string(), counted(service.batching.processes_max, "process"))};
  }
  return std::nullopt;
}

std::string counted(std::int64_t count, std::string_view noun) {
  const std::string_view ending = count == 1 ? "" : noun.ends_with('s') ? "es" : "s";
  return fmt::format("{} {}{}", count, noun, ending);
}

}  // namespace berth::partition::detail
