#include "surface/api/views.h"

namespace berth::api {

TenantView view_tenant(const std::string& name, const live::ObjectMeta& meta) { return {.name = name, .meta = meta}; }

ServiceView view_service(const live::Session& session, const live::ServiceEntry& service) {
  const live::ServiceSlices& held = session.watch().slices_of(service.id);
  ServiceView view{.spec = session.scenario().services.share(service.id.index),
                   .meta = service.meta,
                   .phase = held.phase(),
                   .conditions = session.watch().conditions_of(service.id),
                   .slices = {},
                   .capacity_per_second = capacity_of(session, service.id),
                   .last_minute = session.figures().minute_of(service.id)};
  view.slices.reserve(held.indices.size());
  for (const std::size_t index : held.indices) {
    const StandingSlice& standing = session.snapshot().slices[index];
    view.slices.push_back({.slice = standing.holding.slice,
                           .role = standing.holding.role,
                           .state = session.watch().state_of(session.snapshot(), index)});
  }
  return view;
}

GpuView view_gpu(const live::Session& session, GpuId gpu) { return {.gpu = gpu, .state = session.gpu_state(gpu)}; }

NodeView view_node(const live::Session& session, NodeId node) {
  const GpuRange range = gpus_of(session.scenario(), node);
  NodeView view{.node = node, .gpus = {}};
  view.gpus.reserve(range.count);
  for (std::uint32_t i = 0; i < range.count; ++i) view.gpus.push_back(session.gpu_state({range.first.index + i}));
  return view;
}

SliceView view_slice(const live::Session& session, std::size_t index) {
  const StandingSlice& standing = session.snapshot().slices[index];
  SliceView view{.slice = standing.holding.slice,
                 .role = standing.holding.role,
                 .state = session.watch().state_of(session.snapshot(), index),
                 .generation = standing.generation,
                 .is_foreign = standing.is_foreign,
                 .holder = std::nullopt,
                 .seen_at = session.watch().seen_at(index)};
  if (!standing.holding.services.empty()) {
    const ServiceSpec& service = session.scenario().services[standing.holding.services.front().index];
    view.holder = {.tenant = service.tenant, .name = service.name};
  }
  return view;
}

double capacity_of(const live::Session& session, ServiceId service) {
  const Snapshot& snapshot = session.snapshot();
  double capacity = 0;
  for (const std::size_t index : session.watch().slices_of(service).indices) {
    if (session.watch().state_of(snapshot, index) != live::SliceState::kServing) continue;
    capacity += session.figures().rate_on(service, snapshot.slices[index]);
  }
  return capacity;
}

}  // namespace berth::api
