#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/core/ensure.h"
#include "engine/rivals/detail/fleet_view.h"
#include "engine/rivals/layout.h"

namespace berth::partition {
namespace {

/// A maximum matching of services with whole GPUs, by augmenting paths (Kuhn): services in the file's order, GPUs
/// ascending. Equal GPUs are one node with their number as capacity, so that a path is no longer than the number of
/// models. O(services^2 x models).
class WholeMatching {
 public:
  explicit WholeMatching(const detail::FleetView& fleet) : fleet_(fleet), holders_(fleet.models.size()) {}

  /// Finds a GPU for the service, moving others to other models if needed; false: there is none.
  [[nodiscard]] bool add(int service) {
    std::vector<bool> is_visited(fleet_.models.size(), false);
    return augment(service, is_visited);
  }

  /// The owner of each GPU, or kNoOwner.
  [[nodiscard]] std::vector<int> owners() const {
    std::vector<int> owners(fleet_.gpu_count(), detail::kNoOwner);
    for (std::size_t model = 0; model < holders_.size(); ++model) {
      for (std::size_t i = 0; i < holders_[model].size(); ++i)
        owners[fleet_.models[model].gpus[i]] = holders_[model][i];
    }
    return owners;
  }

 private:
  // The recursion is as deep as there are models: each is visited once.
  bool augment(int service, std::vector<bool>& is_visited) {
    for (std::size_t model = 0; model < fleet_.models.size(); ++model) {
      const detail::ModelView& view = fleet_.models[model];
      if (is_visited[model] || !view.can_serve(view.full_kind(), service)) continue;
      is_visited[model] = true;
      if (holders_[model].size() < view.gpus.size()) {
        holders_[model].push_back(service);
        return true;
      }
      for (int& holder : holders_[model]) {
        if (!augment(holder, is_visited)) continue;
        holder = service;
        return true;
      }
    }
    return false;
  }

  const detail::FleetView& fleet_;
  std::vector<std::vector<int>> holders_;
};

/// The service with the largest load per capacity among those that the GPU can serve; ties: the smaller index.
int neediest_service(const detail::ModelView& view, const std::vector<Decimal>& load,
                     const std::vector<Decimal>& capacity) {
  int neediest = detail::kNoOwner;
  for (int service = 0; service < static_cast<int>(load.size()); ++service) {
    if (!view.can_serve(view.full_kind(), service)) continue;
    if (neediest == detail::kNoOwner || load[service] * capacity[neediest] > load[neediest] * capacity[service]) {
      neediest = service;
    }
  }
  return neediest;
}

}  // namespace

LayoutOrInfeasible whole_layout(const Scenario& scenario, const std::vector<double>& load) {
  ENSURE(load.size() == scenario.services.size());
  const detail::FleetView fleet = detail::view_fleet(scenario);
  if (const auto unservable = detail::find_unservable(fleet, /*only_whole=*/true)) return *unservable;
  if (fleet.gpu_count() < fleet.service_count) {
    return Infeasible{fmt::format("needs {}, one for each service; the fleet has {}",
                                  detail::counted(fleet.service_count, "GPU"), fleet.gpu_count())};
  }

  WholeMatching matching(fleet);
  for (int service = 0; service < fleet.service_count; ++service) {
    if (matching.add(service)) continue;
    return Infeasible{fmt::format("service {}: every whole GPU that can serve it is needed by another service",
                                  scenario.services[service].name)};
  }

  std::vector<int> owners = matching.owners();
  std::vector<Decimal> capacity(fleet.service_count);
  std::vector<Decimal> requests;
  requests.reserve(load.size());
  for (const double count : load) requests.emplace_back(std::llround(count));
  const auto give = [&](int gpu, int service) {
    const detail::ModelView& view = fleet.of_gpu(gpu);
    owners[gpu] = service;
    capacity[service] += *view.throughput[view.full_kind()][service];
  };
  for (int gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    if (owners[gpu] != detail::kNoOwner) give(gpu, owners[gpu]);
  }
  for (int gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    if (owners[gpu] != detail::kNoOwner) continue;
    const int service = neediest_service(fleet.of_gpu(gpu), requests, capacity);
    if (service != detail::kNoOwner) give(gpu, service);
  }

  Layout layout;
  for (int gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    if (owners[gpu] == detail::kNoOwner) continue;
    layout.push_back({{{static_cast<std::uint32_t>(gpu)}, 0, ProfileId::full()},
                      Role::kInference,
                      {{static_cast<std::uint32_t>(owners[gpu])}}});
  }
  return layout;
}

}  // namespace berth::partition
