#include "surface/api/object_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/values/node.h"
#include "live/session/lost_slices.h"
#include "live/session/object_names.h"
#include "live/session/session.h"
#include "surface/api/api_context.h"
#include "surface/api/device_json.h"
#include "surface/api/paging.h"
#include "surface/api/request_body.h"

namespace berth::api {
namespace {

ApiError not_found(const char* kind, const std::string& name) {
  return {.status = 404, .code = "not_found", .message = fmt::format("there is no {} {}", kind, name)};
}

/// The node that the path names.
ApiResult<NodeId> node_of_path(const ApiContext& context, const Call& call) {
  const auto node = live::find_node(context.format.fleet, call.parameter("id"));
  if (!node) return tl::unexpected(not_found("node", call.parameter("id")));
  return *node;
}

ApiResult<GpuId> gpu_of_path(const ApiContext& context, const Call& call) {
  const auto gpu = live::find_gpu(context.format.fleet, call.parameter("id"));
  if (!gpu) return tl::unexpected(not_found("GPU", call.parameter("id")));
  return *gpu;
}

/// The reason given for an order about a GPU or node; optional for opening.
ApiResult<std::string> order_reason(const HttpRequest& request, GpuScheduling scheduling) {
  return scheduling == GpuScheduling::kOpen ? optional_reason(request) : required_reason(request);
}

/// The first of these GPUs that is observed, not managed: it cannot be opened or drained.
std::optional<ApiError> find_observed(const ApiContext& context, GpuRange gpus, GpuScheduling scheduling) {
  if (!context.format.devices.is_local() || scheduling == GpuScheduling::kCordoned) return std::nullopt;
  for (std::uint32_t i = 0; i < gpus.count; ++i) {
    const GpuId gpu{gpus.first.index + i};
    const live::DeviceView device = context.format.devices.device(gpu);
    if (device.why_observed) return not_managed_error(live::gpu_name(gpu), device);
  }
  return std::nullopt;
}

// ---- nodes

ApiResult<HttpAnswer> list_nodes(const ApiContext& context, const Call& call) {
  const ListKeys keys{.count = node_count(context.format.fleet), .key = number_key};
  const auto page = context.session.with([&](const live::Session& session) {
    return read_page(call.request, keys,
                     [&](std::size_t i) { return view_node(session, {static_cast<std::uint32_t>(i)}); });
  });
  return page_response(page, [&](const NodeView& node) { return node_object(context.format, node); });
}

ApiResult<HttpAnswer> get_node(const ApiContext& context, const Call& call) {
  const auto node = node_of_path(context, call);
  if (!node) return tl::unexpected(node.error());
  const NodeView view = context.session.with([&](const live::Session& session) { return view_node(session, *node); });
  return json_response(200, node_object(context.format, view));
}

template <GpuScheduling kScheduling>
ApiResult<HttpAnswer> order_node(const ApiContext& context, const Call& call) {
  const auto node = node_of_path(context, call);
  if (!node) return tl::unexpected(node.error());
  const auto reason = order_reason(call.request, kScheduling);
  if (!reason) return tl::unexpected(reason.error());
  const GpuRange gpus = gpus_of(context.format.fleet, *node);
  if (const auto observed = find_observed(context, gpus, kScheduling)) return tl::unexpected(*observed);
  const auto view = context.session.with([&](live::Session& session) -> ApiResult<NodeView> {
    if (!session.schedule_all(gpus, kScheduling, *reason)) {
      return tl::unexpected(read_only_error(session.why_not_recorded()));
    }
    return view_node(session, *node);
  });
  if (!view) return tl::unexpected(view.error());
  return json_response(200, node_object(context.format, *view));
}

// ---- GPUs

ApiResult<HttpAnswer> list_gpus(const ApiContext& context, const Call& call) {
  const ListKeys keys{.count = context.format.fleet.gpu_count(), .key = number_key};
  const auto page = context.session.with([&](const live::Session& session) {
    return read_page(call.request, keys,
                     [&](std::size_t i) { return view_gpu(session, {static_cast<std::uint32_t>(i)}); });
  });
  return page_response(page, [&](const GpuView& gpu) { return gpu_object(context.format, gpu); });
}

ApiResult<HttpAnswer> get_gpu(const ApiContext& context, const Call& call) {
  const auto gpu = gpu_of_path(context, call);
  if (!gpu) return tl::unexpected(gpu.error());
  const GpuView view = context.session.with([&](const live::Session& session) { return view_gpu(session, *gpu); });
  return json_response(200, gpu_object(context.format, view));
}

template <GpuScheduling kScheduling>
ApiResult<HttpAnswer> order_gpu(const ApiContext& context, const Call& call) {
  const auto gpu = gpu_of_path(context, call);
  if (!gpu) return tl::unexpected(gpu.error());
  if (const auto observed = find_observed(context, {.first = *gpu, .count = 1}, kScheduling)) {
    return tl::unexpected(*observed);
  }
  const auto reason = order_reason(call.request, kScheduling);
  if (!reason) return tl::unexpected(reason.error());
  const auto view = context.session.with([&](live::Session& session) -> ApiResult<GpuView> {
    if (!session.schedule(*gpu, kScheduling, *reason)) {
      return tl::unexpected(read_only_error(session.why_not_recorded()));
    }
    return view_gpu(session, *gpu);
  });
  if (!view) return tl::unexpected(view.error());
  return json_response(200, gpu_object(context.format, *view));
}

// ---- slices

/// Ascends with the placement; a slice that leaves comes after its successor at the same placement.
std::string slice_key(const StandingSlice& standing) {
  const Slice& slice = standing.holding.slice;
  return number_key(slice.gpu.index) + number_key(static_cast<std::uint64_t>(slice.start)) +
         number_key(slice.profile.index) + number_key(UINT64_MAX - standing.generation);
}

/// The existing and the lost slices as one list, in order of placement.
class AllSlices {
 public:
  /// O(lost slices x log slices).
  explicit AllSlices(const live::Session& session)
      : session_(session), lost_(session.lost_slices().all(session.snapshot())) {
    // A lost GPU has no existing slices, so its lost ones come between those of other GPUs.
    const auto place_of = [](const StandingSlice& standing) { return standing.holding.slice; };
    places_.reserve(lost_.size());
    for (const live::LostSlice* each : lost_) {
      const auto next = std::ranges::lower_bound(standing(), place_of(each->slice), {}, place_of);
      places_.push_back(next.index() + places_.size());
    }
  }

  [[nodiscard]] std::size_t size() const { return standing().size() + lost_.size(); }
  [[nodiscard]] std::string key(std::size_t place) const {
    const auto [index, lost] = at(place);
    return slice_key(lost != nullptr ? lost->slice : standing()[index]);
  }
  [[nodiscard]] SliceView view(std::size_t place) const {
    const auto [index, lost] = at(place);
    return lost != nullptr ? view_lost_slice(session_, *lost) : view_slice(session_, index);
  }

 private:
  [[nodiscard]] const ChunkedList<StandingSlice>& standing() const { return session_.snapshot().slices; }
  /// The index of an existing slice, or a lost one.
  [[nodiscard]] std::pair<std::size_t, const live::LostSlice*> at(std::size_t place) const {
    const auto next = static_cast<std::size_t>(std::ranges::lower_bound(places_, place) - places_.begin());
    if (next < places_.size() && places_[next] == place) return {0, lost_[next]};
    return {place - next, nullptr};
  }

  const live::Session& session_;
  std::vector<const live::LostSlice*> lost_;
  std::vector<std::size_t> places_;  ///< of each lost slice in the list
};

ApiResult<HttpAnswer> list_slices(const ApiContext& context, const Call& call) {
  const auto page = context.session.with([&](const live::Session& session) {
    const AllSlices slices(session);
    const ListKeys keys{.count = slices.size(), .key = [&](std::size_t i) { return slices.key(i); }};
    return read_page(call.request, keys, [&](std::size_t i) { return slices.view(i); });
  });
  return page_response(page, [&](const SliceView& slice) { return slice_object(context.format, slice); });
}

}  // namespace

std::vector<Route> object_routes() {
  using enum GpuScheduling;
  return {
      {.method = "GET", .path = "/v1/nodes", .answer = list_nodes, .takes_query = true},
      {.method = "GET", .path = "/v1/nodes/{id}", .answer = get_node},
      {.method = "POST", .path = "/v1/nodes/{id}/cordon", .answer = order_node<kCordoned>},
      {.method = "POST", .path = "/v1/nodes/{id}/uncordon", .answer = order_node<kOpen>},
      {.method = "POST", .path = "/v1/nodes/{id}/drain", .answer = order_node<kDraining>},
      {.method = "GET", .path = "/v1/gpus", .answer = list_gpus, .takes_query = true},
      {.method = "GET", .path = "/v1/gpus/{id}", .answer = get_gpu},
      {.method = "POST", .path = "/v1/gpus/{id}/cordon", .answer = order_gpu<kCordoned>},
      {.method = "POST", .path = "/v1/gpus/{id}/uncordon", .answer = order_gpu<kOpen>},
      {.method = "POST", .path = "/v1/gpus/{id}/drain", .answer = order_gpu<kDraining>},
      {.method = "GET", .path = "/v1/slices", .answer = list_slices, .takes_query = true},
  };
}

}  // namespace berth::api
