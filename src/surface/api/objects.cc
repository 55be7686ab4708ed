#include "surface/api/objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json/text.h"
#include "domain/scenario/service_json.h"
#include "live/session/catalog.h"
#include "live/session/minute.h"
#include "live/session/object_names.h"
#include "live/session/service_watch.h"
#include "surface/api/device_json.h"
#include "surface/api/object_uid.h"

namespace berth::api {
namespace {

using Json = nlohmann::ordered_json;
using json::json_text;

constexpr const char* kApiVersion = "berth.dev/v1alpha1";

/// Of an object that people set.
Json set_metadata(const ObjectFormat& format, ObjectIdentity object, const live::ObjectMeta& meta) {
  object.created = meta.created;
  object.number = meta.number;
  Json metadata = metadata_json(format, object);
  metadata["resourceVersion"] = fmt::format("{}", meta.version);
  for (const auto& [key, value] : meta.labels) metadata["labels"][key] = value;
  return metadata;
}

// ---- services

Json slice_json(const ObjectFormat& format, const HeldSliceView& held) {
  return {{"gpu", live::gpu_name(held.slice.gpu)},
          {"profile", profile_name(format.fleet.model_of(held.slice.gpu), held.slice.profile)},
          {"start", held.slice.start},
          {"role", role_word(held.role)},
          {"state", live::word(held.state)}};
}

Json conditions_json(const ObjectFormat& format, const ServiceView& service) {
  Json conditions = Json::array();
  for (const live::Condition& condition : service.conditions) {
    conditions.push_back({{"type", live::word(condition.type)},
                          {"status", live::word(condition.status)},
                          {"reason", condition.reason},
                          {"message", condition.message},
                          {"since", format.epoch.text(condition.since)}});
  }
  return conditions;
}

// ---- GPUs and nodes

constexpr const char* kSchedulingWords[] = {"open", "cordoned", "draining"};

std::string health_word(GpuHealth health) { return health == GpuHealth::kOk ? "ok" : "lost"; }
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// A fact about all GPUs of a node: the latest `since`, and the reason if all GPUs have the same one.
struct NodeFact {
  Instant since;
  std::string reason;
  void add(Instant at, const std::string& why, bool is_first) {
    since = is_first ? at : std::max(since, at);
    if (is_first) {
      reason = why;
    } else if (reason != why) {
      reason.clear();
    }
  }
};

}  // namespace

Scenario fleet_of(Scenario scenario) {
  scenario.services.clear();
  scenario.layout.reset();
  return scenario;
}

// ---- what all have in common

Json metadata_json(const ObjectFormat& format, const ObjectIdentity& object) {
  Json metadata{{"name", object.name}};
  metadata["namespace"] = object.tenant.empty() ? Json(nullptr) : Json(object.tenant);
  // A slice keeps its uid when it gets a holder of another tenant.
  metadata["uid"] = object_uid({.kind = object.kind,
                                .tenant = object.kind == "GpuSlice" ? std::string_view() : object.tenant,
                                .name = object.name,
                                .created_unix_micros = format.epoch.unix_micros + object.created.micros(),
                                .number = object.number});
  metadata["resourceVersion"] = "1";
  metadata["labels"] = Json::object();
  metadata["creationTimestamp"] = format.epoch.text(object.created);
  return metadata;
}

std::string object_of(std::string_view kind, const Json& metadata, const std::string& spec, const Json& status) {
  return json::object_text({{"apiVersion", json_text(kApiVersion)},
                            {"kind", json_text(std::string(kind))},
                            {"metadata", json_text(metadata)},
                            {"spec", spec},
                            {"status", json_text(status)}});
}

// ---- words

std::string role_word(Role role) { return role == Role::kRetraining ? "retraining" : "inference"; }

std::string scheduling_word(GpuScheduling scheduling) { return kSchedulingWords[static_cast<std::size_t>(scheduling)]; }

Json last_minute_json(const std::optional<live::MinuteFigures>& figures) {
  if (!figures) return nullptr;
  return {{"requests", figures->requests},
          {"in_time", figures->in_time},
          {"late", figures->late},
          {"dropped", figures->dropped},
          {"goodput", json::or_null(figures->goodput())},
          {"latency_p50_ms", json::or_null(figures->latency_p50_ms)},
          {"latency_p99_ms", json::or_null(figures->latency_p99_ms)}};
}

// ---- objects

std::string tenant_object(const ObjectFormat& format, const TenantView& tenant) {
  const Json metadata = set_metadata(format, {.kind = "Tenant", .name = tenant.name}, tenant.meta);
  return object_of("Tenant", metadata, "{}", Json::object());
}

std::string service_object(const ObjectFormat& format, const ServiceView& service) {
  Json slices = Json::array();
  for (const HeldSliceView& held : service.slices) slices.push_back(slice_json(format, held));
  Json status{{"phase", live::word(service.phase)},
              {"conditions", conditions_json(format, service)},
              {"slices", slices},
              {"capacity_requests_per_second", service.capacity_per_second},
              {"last_minute", last_minute_json(service.last_minute)}};
  if (format.devices.is_local()) status["load"] = load_json(format.devices);
  const ObjectIdentity identity{.kind = "GpuService", .tenant = service.spec->tenant, .name = service.spec->name};
  const auto spec = format.spec_texts->text_of(service.spec, service.blobs, format.fleet);
  return object_of("GpuService", set_metadata(format, identity, service.meta), *spec, status);
}

std::string node_object(const ObjectFormat& format, const NodeView& node) {
  const GpuId first = gpus_of(format.fleet, node.node).first;
  const std::size_t count = node.gpus.size();
  Json gpus = Json::array();
  NodeFact health;
  NodeFact scheduling;
  std::size_t lost = 0;
  std::size_t open = 0;
  std::size_t draining = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const GpuId gpu{first.index + i};
    const GpuState& state = node.gpus[i];
    lost += state.health == GpuHealth::kLost ? 1 : 0;
    open += state.scheduling == GpuScheduling::kOpen ? 1 : 0;
    draining += state.scheduling == GpuScheduling::kDraining ? 1 : 0;
    health.add(state.health_since, state.health_reason, i == 0);
    scheduling.add(state.scheduling_since, state.scheduling_reason, i == 0);
    gpus.push_back({{"name", live::gpu_name(gpu)},
                    {"model", format.fleet.model_of(gpu).name},
                    {"health", health_word(state.health)},
                    {"scheduling", scheduling_word(state.scheduling)}});
  }
  if (lost > 0 && lost < count) health.reason = fmt::format("{} of {} GPUs are lost", lost, count);
  const GpuScheduling all = open > 0       ? GpuScheduling::kOpen
                            : draining > 0 ? GpuScheduling::kDraining
                                           : GpuScheduling::kCordoned;
  if (open > 0 && open < count) scheduling.reason = fmt::format("{} of {} GPUs are open", open, count);
  const Json status{{"health", lost == count ? "lost" : "ok"},
                    {"health_reason", text_or_null(health.reason)},
                    {"health_since", format.epoch.text(health.since)},
                    {"scheduling", scheduling_word(all)},
                    {"scheduling_reason", text_or_null(scheduling.reason)},
                    {"scheduling_since", format.epoch.text(scheduling.since)},
                    {"gpus", gpus}};
  return object_of("Node", metadata_json(format, {.kind = "Node", .name = node_name(node.node)}), "{}", status);
}

std::string gpu_object(const ObjectFormat& format, const GpuView& gpu) {
  const GpuModel& model = format.fleet.model_of(gpu.gpu);
  const GpuState& state = gpu.state;
  Json status{{"model", model.name},
              {"node", node_name(node_of(format.fleet, gpu.gpu))},
              {"health", health_word(state.health)},
              {"health_reason", text_or_null(state.health_reason)},
              {"health_since", format.epoch.text(state.health_since)},
              {"scheduling", scheduling_word(state.scheduling)},
              {"scheduling_reason", text_or_null(state.scheduling_reason)},
              {"scheduling_since", format.epoch.text(state.scheduling_since)},
              {"units", std::max(1, model.units)},
              {"allocated_units", gpu.allocated_units}};
  if (format.devices.is_local()) add_device(status, format.devices.device(gpu.gpu));
  return object_of("Gpu", metadata_json(format, {.kind = "Gpu", .name = live::gpu_name(gpu.gpu)}), "{}", status);
}

std::string slice_object(const ObjectFormat& format, const SliceView& view) {
  const Slice& slice = view.slice;
  const auto& holder = view.holder;
  Json status{{"gpu", live::gpu_name(slice.gpu)},
              {"profile", profile_name(format.fleet.model_of(slice.gpu), slice.profile)},
              {"start", slice.start},
              {"generation", view.is_foreign ? Json(nullptr) : Json(view.generation)},
              {"state", live::word(view.state)},
              {"tenant", holder ? Json(holder->tenant) : Json(nullptr)},
              {"service", holder ? Json(holder->name) : Json(nullptr)},
              {"role", holder ? Json(role_word(view.role)) : Json(nullptr)}};
  if (format.devices.is_local()) add_device_slice(status, format.devices.slice(slice));
  const ObjectIdentity identity{.kind = "GpuSlice",
                                .tenant = holder ? holder->tenant : "",
                                .name = live::slice_name(format.fleet, slice, view.is_foreign ? 0 : view.generation),
                                .created = view.seen_at};
  return object_of("GpuSlice", metadata_json(format, identity), "{}", status);
}

std::string planning_object(const ObjectFormat& format, const std::optional<PlanningPause>& pause) {
  return json_text({{"paused", pause.has_value()},
                    {"reason", pause ? Json(pause->reason) : Json(nullptr)},
                    {"since", pause ? Json(format.epoch.text(pause->since)) : Json(nullptr)}});
}

std::string event_data(const ObjectFormat& format, const live::LoggedEvent& event) {
  return json_text({{"sequence", event.sequence},
                    {"time", format.epoch.text(event.at)},
                    {"kind", live::event_word(event.kind)},
                    {"object",
                     {{"kind", live::object_word(event.object.kind)},
                      {"namespace", text_or_null(event.object.tenant)},
                      {"name", event.object.name}}},
                    {"generation", json::or_null(event.generation)},
                    {"message", text_or_null(event.message)}});
}

}  // namespace berth::api
