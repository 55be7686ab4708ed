#include "engine/loop/only_slices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "domain/profile/slice_price.h"
#include "engine/loop/warm_pools.h"

namespace berth {
namespace {

constexpr double kOnlySecondsPerHour = 3600;
constexpr double kOnlySecondsPerMinute = 60;

/// Whether a request came or waited in the last kQuietSeconds that were seen.
bool has_requests(const ServiceState& state, Instant now, Micros observation_delay) {
  const std::int64_t since = (now - observation_delay).second() - 1 - kQuietSeconds;
  for (auto it = state.seconds.end(); it != state.seconds.begin() && std::prev(it)->second >= since; --it) {
    if (std::prev(it)->arrivals > 0 || std::prev(it)->queued > 0) return true;
  }
  return false;
}

double cold_gpu_seconds(const Scenario& scenario, ServiceId service, const Slice& slice) {
  const FleetEntry& entry = scenario.entry_of(slice.gpu);
  const auto& cold = scenario.services[service.index].ready.warm_pool->cold_micro_usd;
  const double usd_per_hour = entry.usd_per_gpu_hour.value_or(Decimal()).to_double();
  if (cold && usd_per_hour > 0) return static_cast<double>(*cold) / 1e6 / usd_per_hour * kOnlySecondsPerHour;
  return kColdMinutes * kOnlySecondsPerMinute * profile::unit_share(entry.model, slice.profile).to_double();
}

}  // namespace

std::vector<OnlySlice> only_slices(const Scenario& scenario, const Snapshot& snapshot,
                                   const planner::Problem& problem) {
  struct Standing {
    int count = 0;
    const StandingSlice* slice = nullptr;
  };
  std::vector<Standing> standing(scenario.services.size());
  for (const StandingSlice& each : snapshot.staying()) {
    if (each.is_foreign || each.holding.role != Role::kInference || each.holding.services.size() != 1) continue;
    if (snapshot.is_draining(each.holding.slice.gpu) || !each.is_ready) continue;
    Standing& of_service = standing[each.holding.services.front().index];
    ++of_service.count;
    of_service.slice = &each;
  }
  std::vector<OnlySlice> only;
  for (std::uint32_t index = 0; index < standing.size(); ++index) {
    const ServiceSpec& spec = scenario.services[index];
    if (standing[index].count != 1 || spec.is_absent || !spec.ready.warm_pool || spec.retraining) continue;
    if (!has_requests(snapshot.services[index], snapshot.now, scenario.observation_delay)) continue;
    const Slice& slice = standing[index].slice->holding.slice;
    const planner::GpuTerms& gpu = problem.gpus[slice.gpu.index];
    if (gpu.free_from >= problem.slots) continue;
    const auto is_it = [&](const planner::StandingPiece& piece) {
      const mig::Site& site = problem.models[gpu.model].sites[piece.piece.site];
      return site.start == slice.start && site.profile == slice.profile &&
             piece.piece.service == planner::ServiceIndex(index);
    };
    const auto piece = std::ranges::find_if(gpu.standing, is_it);
    if (piece == gpu.standing.end()) continue;
    only.push_back({.gpu = planner::GpuIndex(slice.gpu.index),
                    .site = {.site = piece->piece.site, .service = piece->piece.service},
                    .cold_gpu_seconds = cold_gpu_seconds(scenario, {index}, slice)});
  }
  return only;
}

std::vector<OnlySlice> lost_slices(const std::vector<OnlySlice>& only, const planner::Schedule& schedule) {
  std::vector<OnlySlice> lost;
  for (const OnlySlice& each : only) {
    const std::vector<planner::Change>& changes = schedule.gpus[each.gpu];
    if (changes.empty() || changes.front().slot != 0) continue;
    const bool stays = std::ranges::any_of(changes.front().to, [&](const planner::Piece& piece) {
      return piece.site == each.site.site && piece.service == each.site.service;
    });
    if (!stays) lost.push_back(each);
  }
  return lost;
}

planner::Problem with_slices_kept(planner::Problem problem, const std::vector<OnlySlice>& only) {
  for (const OnlySlice& each : only) {
    std::vector<planner::PinnedSite>& pins = problem.gpus[each.gpu].pins;
    const auto is_its = [&](const planner::PinnedSite& pin) { return pin.site == each.site.site; };
    if (std::ranges::none_of(pins, is_its)) pins.push_back(each.site);
  }
  return problem;
}

}  // namespace berth
