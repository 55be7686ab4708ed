#include <algorithm>
#include <vector>

#include "engine/rivals/detail/fleet_view.h"
#include "engine/rivals/layout.h"

namespace berth::partition {
namespace {

/// The first GPU from `wanted` on, cyclically, that can serve the service and does not hold it yet.
std::optional<int> gpu_to_share(const detail::FleetView& fleet, const std::vector<std::vector<ServiceId>>& holders,
                                int wanted, int service) {
  const int gpu_count = fleet.gpu_count();
  const ServiceId id{static_cast<std::uint32_t>(service)};
  for (int i = 0; i < gpu_count; ++i) {
    const int gpu = (wanted + i) % gpu_count;
    const detail::ModelView& view = fleet.of_gpu(gpu);
    if (!view.can_serve(view.full_kind(), service)) continue;
    if (std::ranges::find(holders[gpu], id) == holders[gpu].end()) return gpu;
  }
  return std::nullopt;
}

}  // namespace

LayoutOrInfeasible shared_layout(const Scenario& scenario) {
  const detail::FleetView fleet = detail::view_fleet(scenario);
  if (const auto unservable = detail::find_unservable(fleet, /*only_whole=*/true)) return *unservable;

  const int gpu_count = fleet.gpu_count();
  std::vector<std::vector<ServiceId>> holders(gpu_count);
  for (int i = 0; i < std::max(gpu_count, fleet.service_count); ++i) {
    const int service = i % fleet.service_count;
    const auto gpu = gpu_to_share(fleet, holders, i % gpu_count, service);
    if (gpu) holders[*gpu].push_back({static_cast<std::uint32_t>(service)});
  }

  Layout layout;
  for (int gpu = 0; gpu < gpu_count; ++gpu) {
    if (holders[gpu].empty()) continue;
    std::ranges::sort(holders[gpu]);
    layout.push_back({{{static_cast<std::uint32_t>(gpu)}, 0, ProfileId::full()}, Role::kInference, holders[gpu]});
  }
  return layout;
}

}  // namespace berth::partition
