#include "apps/operator/standby_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/node_text.h"
#include "base/json/tree.h"
#include "base/json/writer.h"
#include "domain/values/node.h"
#include "gpu/device/local_gpu.h"
#include "kube/services/service_view.h"
#include "live/folder/history.h"
#include "live/session/object_names.h"
#include "surface/api/device_json.h"
#include "surface/api/paging.h"

namespace berth::apps {
namespace {

using json::Writer;

/// The models that rows of the profile of a service, and of its variants, name.
void add_models(const yaml::Node& node, std::set<std::string>& models) {
  if (const yaml::List* const list = json::list_in(node)) {
    for (const yaml::Node& each : *list) add_models(each, models);
    return;
  }
  const auto* const entries = std::get_if<yaml::Map>(&node.value);
  if (entries == nullptr) return;
  for (const yaml::Entry& entry : *entries) {
    const std::string* const text = entry.key == "gpu" ? json::text_in(entry.value) : nullptr;
    if (text != nullptr) models.insert(*text);
    if (text == nullptr) add_models(entry.value, models);
  }
}

std::set<std::string> profiled_models(const kube::StandbyPicture& picture) {
  std::set<std::string> models;
  for (const auto& [name, object] : picture.services) {
    for (const char* key : {"profile", "variants"}) {
      if (const yaml::Node* const found = json::find_at(*object, {"spec", key})) add_models(*found, models);
    }
  }
  return models;
}

Scenario fleet_in(const kube::StandbyPicture& picture) {
  std::vector<device::LocalGpu> gpus;
  gpus.reserve(picture.gpus.size());
  for (const kube::StandbyGpu& each : picture.gpus) gpus.push_back(each.known);
  Scenario fleet = live::scenario_without_services();
  static_cast<void>(device::put_fleet(fleet, gpus));  // fails only where the scenario has a fleet of its own
  return fleet;
}

api::ApiError no_object(std::string_view kind, const std::string& name) {
  return {.status = 404, .code = "not_found", .message = fmt::format("there is no {} {}", kind, name)};
}

std::optional<std::string> text_at_or_null(const yaml::Node& object, std::initializer_list<std::string_view> keys) {
  const std::string_view text = json::text_at(object, keys);
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

/// What an object of the cluster says of itself; null: there is no object.
void put_metadata(Writer& json, std::string_view kind, const kube::ObjectName& name, const yaml::Node* object) {
  const auto text = [&](std::string_view key) {
    return object == nullptr ? std::nullopt : text_at_or_null(*object, {"metadata", key});
  };
  json.member("apiVersion", "berth.dev/v1alpha1").member("kind", kind).open_object("metadata");
  json.member("name", name.name);
  json.member("namespace", name.namespace_name.empty() ? std::nullopt : std::optional(name.namespace_name));
  json.member("uid", text("uid")).member("resourceVersion", text("resourceVersion")).key("labels");
  const yaml::Node* const labels = object == nullptr ? nullptr : json::find_at(*object, {"metadata", "labels"});
  if (labels != nullptr) {
    json::write_node(json, *labels);
  } else {
    json.open_object().close_object();
  }
  json.member("creationTimestamp", text("creationTimestamp")).close_object();
}

void write_condition(Writer& json, const yaml::Node& condition) {
  json.open_object();
  for (const char* key : {"type", "status", "reason", "message"})
    json.member(key, std::string(json::text_at(condition, {key})));
  json.member("since", text_at_or_null(condition, {"lastTransitionTime"})).close_object();
}

/// How many services have this status of the condition InTime.
std::int64_t count_in_time(const kube::StandbyPicture& picture, std::string_view status) {
  return std::ranges::count_if(picture.services, [&](const auto& entry) {
    std::string_view found = "Unknown";
    for (const yaml::Node& each : json::list_at(*entry.second, {"status", "conditions"})) {
      if (json::text_at(each, {"type"}) == "InTime") found = json::text_at(each, {"status"});
    }
    return found == status;
  });
}

std::optional<StandbyPause> pause_of(const StandbyFacts& facts) {
  return facts.pause && !facts.away ? facts.pause() : std::nullopt;
}

Writer& put_pause(Writer& json, const std::optional<StandbyPause>& pause) {
  json.member("paused", pause ? std::optional(pause->reason.has_value()) : std::nullopt);
  return json.member("reason", pause ? pause->reason : std::nullopt);
}

/// As the leader's, but for when it began, which only its journal has. Nothing: it is not known.
std::optional<api::ApiResult<HttpAnswer>> answer_planning(const StandbyFacts& facts) {
  const auto pause = pause_of(facts);
  if (!pause) return std::nullopt;
  Writer json;
  put_pause(json.open_object(), pause).key("since").value(nullptr);
  return api::json_response(200, json.close_object().take());
}

api::ApiResult<HttpAnswer> page_of(const HttpRequest& request, std::size_t count,
                                   const std::function<std::string(std::size_t)>& key_of,
                                   const std::function<std::string(std::size_t)>& text_of) {
  const api::ListKeys keys{.count = count, .key = key_of};
  const auto page = api::read_page(request, keys, [](std::size_t index) { return index; });
  return api::page_response(page, text_of);
}

}  // namespace

StandbyObjects::StandbyObjects(kube::StandbyPicture picture, WorldEpoch epoch)
    : picture_(std::move(picture)),
      profiled_(profiled_models(picture_)),
      format_{.fleet = fleet_in(picture_), .epoch = epoch} {
  format_.devices = {
      .device =
          [this](GpuId gpu) {
            const kube::StandbyGpu& found = picture_.gpus[gpu.index];
            return live::DeviceView{.uuid = found.known.uuid,
                                    .node = found.node.empty() ? std::nullopt : std::optional(found.node),
                                    .why_observed = found.closed};
          },
      .slice =
          [this](const Slice& slice) {
            const auto found = std::ranges::lower_bound(picture_.slices, slice, {}, &kube::StandbySlice::slice);
            const bool is_there = found != picture_.slices.end() && found->slice == slice;
            return live::DeviceSliceView{.uuid = is_there ? std::optional(found->device.text()) : std::nullopt};
          },
      .world = "kubernetes",
      .has_load = false};
}

// ---- objects

api::GpuView StandbyObjects::view(std::size_t index) const {
  const kube::StandbyGpu& found = picture_.gpus[index];
  const GpuModel& model = found.known.model;
  std::vector<bool> units(static_cast<std::size_t>(std::max(1, model.units)));
  for (const kube::StandbySlice& each : picture_.slices) {
    if (each.slice.gpu.index != index || each.state == live::SliceState::kLost) continue;
    const auto first = units.begin() + each.slice.start;
    std::fill(first, first + api::length_of(model, each.slice.profile), true);
  }
  return {.gpu = {static_cast<std::uint32_t>(index)},
          .state = found.state,
          .is_drained = found.is_drained,
          .allocated_units = std::ranges::count(units, true),
          .has_profile = profiled_.contains(model.name)};
}

std::string StandbyObjects::gpu(std::size_t index) const { return api::gpu_object(format_, view(index)); }

std::string StandbyObjects::node(std::size_t index) const {
  api::NodeView node{.node = {static_cast<std::uint32_t>(index)}, .gpus = {}};
  const GpuRange range = gpus_of(format_.fleet, node.node);
  for (std::uint32_t i = 0; i < range.count; ++i) node.gpus.push_back(view(range.first.index + i));
  return api::node_object(format_, node);
}

std::string StandbyObjects::slice(std::size_t index) const {
  const kube::StandbySlice& found = picture_.slices[index];
  api::SliceView view{.slice = found.slice,
                      .role = found.is_retraining ? Role::kRetraining : Role::kInference,
                      .state = found.state,
                      .generation = found.generation,
                      .is_foreign = !found.service.has_value(),
                      .holder = std::nullopt,
                      .seen_at = found.seen_at};
  if (found.service) view.holder = live::ServiceName{found.service->namespace_name, found.service->name};
  return api::slice_object(format_, view);
}

std::string StandbyObjects::tenant(const std::string& name, const yaml::Node* object) const {
  Writer json;
  put_metadata(json.open_object(), "Tenant", {"", name}, object);
  json.open_object("spec").close_object().open_object("status").close_object();
  return json.close_object().take();
}

std::string StandbyObjects::service(const kube::ObjectName& name, const yaml::Node& object) const {
  Writer json;
  put_metadata(json.open_object(), "GpuService", name, &object);
  if (const yaml::Node* const spec = json::find_member(object, "spec")) json::write_node(json.key("spec"), *spec);
  json.open_object("status").member("phase", text_at_or_null(object, {"status", "phase"}).value_or("Waiting"));
  json.open_list("conditions");
  for (const yaml::Node& each : json::list_at(object, {"status", "conditions"})) {
    // `Accepted` is of the object, not of the API.
    if (json::text_at(each, {"type"}) != "Accepted") write_condition(json, each);
  }
  json.close_list().open_list("slices");
  for (const kube::StandbySlice& each : picture_.slices) {
    if (each.service != name) continue;
    json.open_object().member("gpu", live::gpu_name(each.slice.gpu));
    json.member("profile", profile_name(format_.fleet.model_of(each.slice.gpu), each.slice.profile));
    json.member("start", each.slice.start);
    json.member("role", api::role_word(each.is_retraining ? Role::kRetraining : Role::kInference));
    json.member("state", live::word(each.state)).close_object();
  }
  json.close_list();
  for (const char* key : {"capacity_requests_per_second", "needed_requests_per_second", "needed_slices",
                          "agreed_attainment", "last_minute", "load"})
    json.key(key).value(nullptr);
  return json.close_object().close_object().take();
}

std::string StandbyObjects::status(const StandbyFacts& facts) const {
  const std::optional<std::string> leader = facts.leader.empty() ? std::nullopt : std::optional(facts.leader);
  Writer json;
  json.open_object().member("world", "kubernetes").member("leads", false).member("leader", leader);
  json.member("time", format_.epoch.text(picture_.at)).member("speed", 1).key("load").value(nullptr);
  json.open_object("devices").member("gpus", picture_.gpus.size());
  json.member("cluster_away_since_wall", facts.away ? std::optional(facts.away->since_wall) : std::nullopt);
  json.member("cluster_away_reason", facts.away ? std::optional(facts.away->message) : std::nullopt).close_object();
  const auto nulls = [&](const char* object, std::initializer_list<const char*> keys) {
    json.open_object(object);
    for (const char* key : keys) json.key(key).value(nullptr);
    json.close_object();
  };
  // What follows is in the session of the leader.
  nulls("steps", {"count", "p50_ms", "p99_ms", "max_ms"});
  nulls("solver", {"running", "last_ms"});
  json.open_object("planning");
  put_pause(json, pause_of(facts)).close_object();
  for (const char* key : {"no_changes", "memory_only", "read_only", "clock"}) json.key(key).value(nullptr);
  nulls("funnel", {"allocated", "busy", "effective"});
  json.key("goodput").value(nullptr);
  json.open_object("services").member("in_time", count_in_time(picture_, "True"));
  json.member("not_in_time", count_in_time(picture_, "False")).member("unknown", count_in_time(picture_, "Unknown"));
  json.close_object().key("cost_micro_usd_per_hour").value(nullptr);
  return json.close_object().take();
}

// ---- requests

StandbyObjects::Found StandbyObjects::answer(const HttpRequest& request, const StandbyFacts& facts) const {
  const auto& path = request.path;
  if (request.method != "GET" || path.size() < 2 || path[0] != "v1") return std::nullopt;
  const bool is_one = path[1] == "status" || path[1] == "planning";
  const bool is_list = path.size() == 2 || (path.size() == 4 && path[1] == "tenants");
  if (is_list && !is_one) return path.size() == 2 ? answer_list(request) : answer_tenant(request);
  if (const auto none = api::check_no_query(request); !none) return tl::unexpected(none.error());
  if (path.size() == 2 && path[1] == "planning") return answer_planning(facts);
  if (path.size() == 2) return api::json_response(200, status(facts));
  return path[1] == "tenants" ? answer_tenant(request) : answer_one(request);
}

StandbyObjects::Found StandbyObjects::answer_list(const HttpRequest& request) const {
  const std::string& kind = request.path[1];
  if (kind == "gpus")
    return page_of(request, picture_.gpus.size(), api::number_key, [&](std::size_t i) { return gpu(i); });
  if (kind == "nodes")
    return page_of(request, node_count(format_.fleet), api::number_key, [&](std::size_t i) { return node(i); });
  if (kind == "slices") {
    const auto key = [&](std::size_t i) {
      const kube::StandbySlice& each = picture_.slices[i];
      return api::number_key(each.slice.gpu.index) + api::number_key(static_cast<std::uint64_t>(each.slice.start)) +
             api::number_key(each.slice.profile.index) + api::number_key(UINT64_MAX - each.generation);
    };
    return page_of(request, picture_.slices.size(), key, [&](std::size_t i) { return slice(i); });
  }
  if (kind == "tenants") {
    std::vector<std::pair<std::string, const yaml::Node*>> all;
    all.reserve(picture_.tenants.size());
    for (const auto& [name, object] : picture_.tenants) all.emplace_back(name, object.get());
    return page_of(
        request, all.size(), [&](std::size_t i) { return all[i].first; },
        [&](std::size_t i) { return tenant(all[i].first, all[i].second); });
  }
  if (kind == "services") return services_of(request, std::nullopt);
  return std::nullopt;
}

api::ApiResult<HttpAnswer> StandbyObjects::services_of(const HttpRequest& request,
                                                       const std::optional<std::string>& tenant) const {
  std::vector<std::pair<kube::ObjectName, const yaml::Node*>> all;
  for (const auto& [name, object] : picture_.services) {
    if (!tenant || name.namespace_name == *tenant) all.emplace_back(name, object.get());
  }
  return page_of(
      request, all.size(), [&](std::size_t i) { return all[i].first.namespace_name + '\x01' + all[i].first.name; },
      [&](std::size_t i) { return service(all[i].first, *all[i].second); });
}

StandbyObjects::Found StandbyObjects::answer_one(const HttpRequest& request) const {
  if (request.path.size() != 3) return std::nullopt;
  const std::string& name = request.path[2];
  if (request.path[1] == "gpus") {
    const auto found = live::find_gpu(format_.fleet, name);
    if (!found) return tl::unexpected(no_object("GPU", name));
    return api::json_response(200, gpu(found->index));
  }
  if (request.path[1] == "nodes") {
    const auto found = live::find_node(format_.fleet, name);
    if (!found) return tl::unexpected(no_object("node", name));
    return api::json_response(200, node(found->index));
  }
  return std::nullopt;
}

StandbyObjects::Found StandbyObjects::answer_tenant(const HttpRequest& request) const {
  const auto& path = request.path;
  const bool has_services = path.size() > 3 && path[3] == "services";
  if (path.size() > 5 || (path.size() > 3 && !has_services)) return std::nullopt;
  const auto tenant_found = picture_.tenants.find(path[2]);
  if (tenant_found == picture_.tenants.end()) return tl::unexpected(no_object("tenant", path[2]));
  if (path.size() == 3) return api::json_response(200, tenant(path[2], tenant_found->second.get()));
  if (path.size() == 4) return services_of(request, path[2]);
  const auto found = picture_.services.find({path[2], path[4]});
  if (found == picture_.services.end()) return tl::unexpected(no_object("service", path[2] + "/" + path[4]));
  return api::json_response(200, service(found->first, *found->second));
}

}  // namespace berth::apps
