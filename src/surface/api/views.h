/// The content of the API's objects, read from a session under its lock: values that own what they hold, so that their
/// JSON is made after the lock is released (objects.h). A view is small compared with its JSON: it has numbers where
/// that has names of GPUs, profiles and phases, and it shares specs and plans.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "domain/values/node.h"
#include "domain/values/warm_state.h"
#include "live/session/catalog.h"
#include "live/session/in_time.h"
#include "live/session/lost_slices.h"
#include "live/session/minute.h"
#include "live/session/service_watch.h"

namespace berth::live {
class Session;
}

namespace berth::api {

struct TenantView {
  std::string name;
  live::ObjectMeta meta;
};

/// A slice as its service lists it.
struct HeldSliceView {
  Slice slice;
  Role role = Role::kInference;
  live::SliceState state = live::SliceState::kCreating;
};

struct ServiceView {
  std::shared_ptr<const ServiceSpec> spec;
  live::ObjectMeta meta;
  RowsBlobs blobs;  ///< the tables of the spec that were given by reference
  live::ServicePhase phase = live::ServicePhase::kWaiting;
  std::array<live::Condition, live::kConditionTypes> conditions;
  live::Need need;
  std::vector<HeldSliceView> slices;
  std::optional<live::MinuteFigures> last_minute;
  std::optional<TierChoice> tier = std::nullopt;  ///< of a service with `tier: auto`
  std::optional<WarmStatus> warm = std::nullopt;  ///< of a service with a warm pool
};

struct GpuView {
  GpuId gpu;
  GpuState state;
  bool is_drained = false;
  std::int64_t allocated_units = 0;  ///< placement units of the slices that services hold, and of foreign ones
  bool has_profile = true;           ///< some service has a profile for its model
};

struct NodeView {
  NodeId node;
  std::vector<GpuView> gpus;  ///< all its GPUs, in order; without their allocated units
};

struct SliceView {
  Slice slice;
  Role role = Role::kInference;
  live::SliceState state = live::SliceState::kCreating;
  std::uint64_t generation = 0;
  bool is_foreign = false;
  std::optional<live::ServiceName> holder;  ///< the first one
  Instant seen_at;
};

[[nodiscard]] TenantView view_tenant(const std::string& name, const live::ObjectMeta& meta);
/// O(slices of the service).
[[nodiscard]] ServiceView view_service(const live::Session& session, const live::ServiceEntry& service);
[[nodiscard]] GpuView view_gpu(const live::Session& session, GpuId gpu);
[[nodiscard]] NodeView view_node(const live::Session& session, NodeId node);
/// The slice at `index` of the snapshot.
[[nodiscard]] SliceView view_slice(const live::Session& session, std::size_t index);
/// A slice that was lost with its GPU.
[[nodiscard]] SliceView view_lost_slice(const live::Session& session, const live::LostSlice& lost);

/// Placement units that a slice covers; a whole GPU without MIG is one.
[[nodiscard]] int length_of(const GpuModel& model, ProfileId profile);

}  // namespace berth::api
