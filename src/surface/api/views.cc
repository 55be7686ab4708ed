#include "surface/api/views.h"

#include <algorithm>

#include "live/session/live_figures.h"
#include "live/session/lost_slices.h"
#include "live/session/service_watch.h"
#include "live/session/session.h"

namespace berth::api {
namespace {

/// Each unit counts once: a slice that leaves and its successor cover the same ones.
std::int64_t allocated_units(const live::Session& session, GpuId gpu) {
  const GpuModel& model = session.scenario().model_of(gpu);
  std::vector<bool> units(static_cast<std::size_t>(std::max(1, model.units)));
  for (const StandingSlice& standing : session.snapshot().slices_on(gpu)) {
    if (standing.holding.services.empty() && !standing.is_foreign) continue;
    const Slice& slice = standing.holding.slice;
    const auto first = units.begin() + slice.start;
    std::fill(first, first + length_of(model, slice.profile), true);
  }
  return std::ranges::count(units, true);
}

/// A GPU without its allocated units.
GpuView view_state(const live::Session& session, GpuId gpu) {
  GpuView view{.gpu = gpu, .state = session.gpu_state(gpu)};
  // The GPU may have been ordered otherwise since the last step.
  view.is_drained = view.state.scheduling == GpuScheduling::kCordoned && session.is_drained(gpu);
  return view;
}

}  // namespace

TenantView view_tenant(const std::string& name, const live::ObjectMeta& meta) { return {.name = name, .meta = meta}; }

ServiceView view_service(const live::Session& session, const live::ServiceEntry& service) {
  const live::ServiceSlices& held = session.watch().slices_of(service.id);
  ServiceView view{.spec = session.scenario().services.share(service.id.index),
                   .meta = service.meta,
                   .blobs = service.blobs,
                   .phase = held.phase(),
                   .conditions = {},
                   .need = live::need_of(session, service.id),
                   .slices = {},
                   .last_minute = session.figures().minute_of(service.id)};
  if (const TierChoice* choice = session.tier_of(service.id)) view.tier = *choice;
  if (const WarmStatus* warm = session.warm_of(service.id)) {
    view.warm = *warm;
    const bool is_cold = warm->last.phase == WarmPhase::kCold && view.phase == live::ServicePhase::kWaiting;
    if (is_cold) view.phase = live::ServicePhase::kCold;
  }
  std::ranges::copy(session.watch().conditions_of(service.id), view.conditions.begin());
  view.conditions.back() = live::in_time_condition(session, service, view.need);
  view.slices.reserve(held.indices.size());
  for (const std::size_t index : held.indices) {
    const StandingSlice& standing = session.snapshot().slices[index];
    view.slices.push_back(
        {.slice = standing.holding.slice, .role = standing.holding.role, .state = session.slice_state(index)});
  }
  for (const live::LostSlice* lost : session.lost_slices().of(session.snapshot(), service.id)) {
    const Holding& holding = lost->slice.holding;
    view.slices.push_back({.slice = holding.slice, .role = holding.role, .state = live::SliceState::kLost});
  }
  return view;
}

GpuView view_gpu(const live::Session& session, GpuId gpu) {
  GpuView view = view_state(session, gpu);
  view.allocated_units = allocated_units(session, gpu);
  view.has_profile = session.watch().has_profile_for(session.scenario().model_of(gpu).name);
  return view;
}

NodeView view_node(const live::Session& session, NodeId node) {
  const GpuRange range = gpus_of(session.scenario(), node);
  NodeView view{.node = node, .gpus = {}};
  view.gpus.reserve(range.count);
  for (std::uint32_t i = 0; i < range.count; ++i) view.gpus.push_back(view_state(session, {range.first.index + i}));
  return view;
}

namespace {

SliceView view_of(const live::Session& session, const StandingSlice& standing, live::SliceState state,
                  Instant seen_at) {
  SliceView view{.slice = standing.holding.slice,
                 .role = standing.holding.role,
                 .state = state,
                 .generation = standing.generation,
                 .is_foreign = standing.is_foreign,
                 .holder = std::nullopt,
                 .seen_at = seen_at};
  if (!standing.holding.services.empty()) {
    const ServiceSpec& service = session.scenario().services[standing.holding.services.front().index];
    view.holder = {.tenant = service.tenant, .name = service.name};
  }
  return view;
}

}  // namespace

SliceView view_slice(const live::Session& session, std::size_t index) {
  return view_of(session, session.snapshot().slices[index], session.slice_state(index), session.watch().seen_at(index));
}

SliceView view_lost_slice(const live::Session& session, const live::LostSlice& lost) {
  return view_of(session, lost.slice, live::SliceState::kLost, lost.seen_at);
}

int length_of(const GpuModel& model, ProfileId profile) {
  return profile.is_full() ? std::max(1, model.units) : model.profiles[profile.index].length;
}

}  // namespace berth::api
