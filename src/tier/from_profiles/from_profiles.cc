#include "tier/from_profiles/from_profiles.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/profile_book/exported.h"
#include "domain/profile_book/point_text.h"

namespace berth::tier {
namespace {

using profile_book::PlaceInForce;
using profile_book::PointInForce;

bool is_on(const PlaceInForce& place, const Tier& tier) {
  if (place.label == tier.name || (place.label.empty() && place.machine.device == tier.name)) return true;
  const auto slice = profile_book::slice_name_of(place.label);
  return slice && !tier.gpu.empty() && slice->gpu == tier.gpu && slice->profile == tier.profile;
}

Result<TierPoint> tier_point(const PointInForce& point) {
  const profile_book::PointFigures figures = profile_book::figures_of(point);
  auto rate = Decimal::parse(figures.rate);
  if (!rate) return pass_on(rate.error());
  auto latency = Decimal::parse(figures.latency_ms);
  if (!latency) return pass_on(latency.error());
  return TierPoint{.batch = point.measured.batch,
                   .processes = point.measured.processes,
                   .samples_per_second = *std::move(rate),
                   .latency_ms = *std::move(latency)};
}

Result<std::vector<TierPoint>> points_on_tier(const profile_book::ModelInForce& model, const Tier& tier) {
  std::map<std::pair<int, int>, const PointInForce*> newest;  // by processes and batch
  for (const PlaceInForce& place : model.places) {
    if (!is_on(place, tier)) continue;
    for (const PointInForce& point : place.points) {
      if (!profile_book::has_figures(point)) continue;
      const PointInForce*& known = newest[{point.measured.processes, point.measured.batch}];
      if (known == nullptr || known->run < point.run) known = &point;
    }
  }
  std::vector<TierPoint> points;
  points.reserve(newest.size());
  for (const auto& [key, point] : newest) {
    auto each = tier_point(*point);
    if (!each) return pass_on(each.error());
    points.push_back(*std::move(each));
  }
  return points;
}

std::optional<Decimal> decimal_of(const std::optional<std::int64_t>& count) {
  return count ? std::optional(Decimal(*count)) : std::nullopt;
}

}  // namespace

Result<TierWorkload> workload_of(const profile_book::ModelInForce& model, std::span<const Tier> tiers) {
  TierWorkload workload{.group = model.name, .name = model.name};
  workload.graph = {.flops = decimal_of(model.model.flops),
                    .activation_bytes = decimal_of(model.model.activation_bytes),
                    .parameters = decimal_of(model.model.parameters),
                    .weight_bytes = decimal_of(model.model.weight_bytes)};
  workload.points.reserve(tiers.size());
  for (const Tier& tier : tiers) {
    auto points = points_on_tier(model, tier);
    if (!points) return pass_on(points.error());
    workload.points.push_back(*std::move(points));
  }
  return workload;
}

}  // namespace berth::tier
