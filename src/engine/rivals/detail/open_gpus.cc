#include "engine/rivals/detail/open_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <tuple>

#include "base/core/ensure.h"

namespace berth::partition::detail {
namespace {

int sms_of(const FleetView& fleet, ModelKind wanted) { return fleet.models[wanted.model].map.kinds[wanted.kind].sms; }

/// The hardest services first.
std::vector<int> cover_order(const FleetView& fleet, std::span<const std::vector<ModelKind>> choices) {
  std::vector<std::tuple<int, int, int>> keys;
  for (int service = 0; service < fleet.service_count; ++service) {
    std::vector<bool> is_model(fleet.models.size(), false);
    int sms_min = 0;
    for (const ModelKind& choice : choices[service]) {
      is_model[choice.model] = true;
      const int sms = sms_of(fleet, choice);
      sms_min = sms_min == 0 ? sms : std::min(sms_min, sms);
    }
    keys.emplace_back(static_cast<int>(std::ranges::count(is_model, true)), -sms_min, service);
  }
  std::ranges::sort(keys);
  std::vector<int> order;
  order.reserve(keys.size());
  for (const auto& key : keys) order.push_back(std::get<2>(key));
  return order;
}

bool give_first_fit(OpenGpus& gpus, const std::vector<ModelKind>& choices, int service) {
  for (const ModelKind& choice : choices) {
    const auto gpu = gpus.first_fit(choice);
    if (!gpu) continue;
    gpus.give(*gpu, choice.kind, service);
    return true;
  }
  return false;
}

/// Gives a piece to each service of `order` from `position` on, on the only GPU, by backtracking. Depth: services, at
/// most the pieces of one GPU.
std::optional<OpenGpus> cover_one_gpu(const OpenGpus& gpus, std::span<const std::vector<ModelKind>> choices,
                                      std::span<const int> order) {
  if (order.empty()) return gpus;
  for (const ModelKind& choice : choices[order.front()]) {
    if (!gpus.fits(0, choice.kind)) continue;
    OpenGpus next = gpus;
    next.give(0, choice.kind, order.front());
    if (auto covered = cover_one_gpu(next, choices, order.subspan(1))) return covered;
  }
  return std::nullopt;
}

}  // namespace

OpenGpus::OpenGpus(const FleetView& fleet) : fleet_(&fleet) {
  for (const ModelView& view : fleet.models) {
    ENSURE(view.shapes.size() <= 64);
    first_open_.emplace_back(view.map.kinds.size(), 0);
  }
  for (int gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    const std::size_t shape_count = fleet.of_gpu(gpu).shapes.size();
    shapes_left_.push_back(~std::uint64_t{0} >> (64 - shape_count));
    given_.emplace_back(fleet.of_gpu(gpu).map.kinds.size());
  }
}

bool OpenGpus::fits(int gpu, int kind) const {
  const ModelView& view = fleet_->of_gpu(gpu);
  const int wanted = static_cast<int>(given_[gpu][kind].size()) + 1;
  for (std::size_t i = 0; i < view.shapes.size(); ++i) {
    if ((shapes_left_[gpu] >> i & 1) != 0 && view.partitions[view.shapes[i]].counts[kind] >= wanted) return true;
  }
  return false;
}

std::optional<int> OpenGpus::first_fit(ModelKind wanted) {
  const std::vector<int>& gpus = fleet_->models[wanted.model].gpus;
  std::size_t& next = first_open_[wanted.model][wanted.kind];
  while (next < gpus.size() && !fits(gpus[next], wanted.kind)) ++next;
  return next < gpus.size() ? std::optional(gpus[next]) : std::nullopt;
}

void OpenGpus::give(int gpu, int kind, int service) {
  ENSURE(fits(gpu, kind));
  const ModelView& view = fleet_->of_gpu(gpu);
  given_[gpu][kind].push_back(service);
  const int count = static_cast<int>(given_[gpu][kind].size());
  for (std::size_t i = 0; i < view.shapes.size(); ++i) {
    if (view.partitions[view.shapes[i]].counts[kind] < count) shapes_left_[gpu] &= ~(std::uint64_t{1} << i);
  }
}

FleetPlan OpenGpus::plan() const {
  FleetPlan plan;
  for (int gpu = 0; gpu < fleet_->gpu_count(); ++gpu) {
    const ModelView& view = fleet_->of_gpu(gpu);
    const int partition = view.shapes[std::countr_zero(shapes_left_[gpu])];
    std::vector<std::vector<int>> owners = given_[gpu];
    for (std::vector<int>& of_kind : owners) std::ranges::sort(of_kind, std::greater<>());
    GpuPlan& gpu_plan = plan.emplace_back(GpuPlan{partition, {}});
    for (const mig::Site& piece : view.partitions[partition].pieces) {
      std::vector<int>& of_kind = owners[piece.kind];
      gpu_plan.owners.push_back(of_kind.empty() ? kNoOwner : of_kind.back());
      if (!of_kind.empty()) of_kind.pop_back();
    }
  }
  return plan;
}

std::optional<OpenGpus> cover_services(const FleetView& fleet, std::span<const std::vector<ModelKind>> choices) {
  std::vector<int> order = cover_order(fleet, choices);
  if (fleet.gpu_count() == 1) return cover_one_gpu(OpenGpus(fleet), choices, order);
  for (int round = 0; round < kCoverRoundsMax; ++round) {
    OpenGpus gpus(fleet);
    const auto without_room =
        std::ranges::find_if(order, [&](int service) { return !give_first_fit(gpus, choices[service], service); });
    if (without_room == order.end()) return gpus;
    std::rotate(order.begin(), without_room, without_room + 1);
  }
  return std::nullopt;
}

std::vector<std::vector<ModelKind>> smallest_kinds(const FleetView& fleet) {
  std::vector<std::vector<ModelKind>> choices(fleet.service_count);
  for (int service = 0; service < fleet.service_count; ++service) {
    for (int model = 0; model < static_cast<int>(fleet.models.size()); ++model) {
      for (int kind = 0; kind <= fleet.models[model].full_kind(); ++kind) {
        if (fleet.models[model].can_serve(kind, service)) choices[service].push_back({model, kind});
      }
    }
    std::ranges::sort(choices[service], {}, [&](const ModelKind& choice) {
      return std::tuple(sms_of(fleet, choice), choice.model, choice.kind);
    });
  }
  return choices;
}

std::int64_t pieces_max(const FleetView& fleet) {
  std::int64_t pieces = 0;
  for (const ModelView& view : fleet.models) {
    std::size_t most = 0;
    for (const Partition& partition : view.partitions) most = std::max(most, partition.pieces.size());
    pieces += static_cast<std::int64_t>(view.gpus.size() * most);
  }
  return pieces;
}

Infeasible no_room(const FleetView& fleet) {
  const std::int64_t pieces = pieces_max(fleet);
  if (pieces < fleet.service_count) {
    return Infeasible{fmt::format("needs {}, one for each service; the fleet's {} can be cut into at most {}",
                                  counted(fleet.service_count, "slice"), counted(fleet.gpu_count(), "GPU"), pieces)};
  }
  return Infeasible{fmt::format(
      "no layout of the fleet's {} {} each of the {} a slice that can serve it", counted(fleet.gpu_count(), "GPU"),
      fleet.gpu_count() == 1 ? "gives" : "was found that gives", counted(fleet.service_count, "service"))};
}

}  // namespace berth::partition::detail
