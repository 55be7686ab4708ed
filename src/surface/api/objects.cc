#include "surface/api/objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/json/writer.h"
#include "domain/scenario/service_json.h"
#include "live/session/catalog.h"
#include "live/session/minute.h"
#include "live/session/object_names.h"
#include "live/session/service_watch.h"
#include "surface/api/device_json.h"
#include "surface/api/object_uid.h"
#include "surface/api/warm_routes.h"
#include "tier/enforce/choice_json.h"

namespace berth::api {
namespace {

using json::Writer;

constexpr const char* kApiVersion = "berth.dev/v1alpha1";

std::optional<std::string> text_or_null(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// The part of an object's metadata that clients set, and its version.
struct SetMetadata {
  std::string version = "1";
  live::Labels labels = {};
};

void put_head_with(Writer& json, const ObjectFormat& format, const ObjectIdentity& object, const SetMetadata& set) {
  json.member("apiVersion", kApiVersion).member("kind", object.kind).open_object("metadata");
  json.member("name", object.name).member("namespace", text_or_null(object.tenant));
  // A slice keeps its uid when it gets a holder of another tenant.
  json.member("uid", object_uid({.kind = object.kind,
                                 .tenant = object.kind == "GpuSlice" ? std::string_view() : object.tenant,
                                 .name = object.name,
                                 .created_unix_micros = format.epoch.unix_micros + object.created.micros(),
                                 .number = object.number}));
  json.member("resourceVersion", set.version).open_object("labels");
  for (const auto& [key, value] : set.labels) json.member(key, value);
  json.close_object().member("creationTimestamp", format.epoch.text(object.created)).close_object();
}

/// Adds the head of an object that clients set.
void put_set_head(Writer& json, const ObjectFormat& format, ObjectIdentity object, const live::ObjectMeta& meta) {
  object.created = meta.created;
  object.number = meta.number;
  put_head_with(json, format, object, {.version = fmt::format("{}", meta.version), .labels = meta.labels});
}

// ---- services

void write_slice(Writer& json, const ObjectFormat& format, const HeldSliceView& held) {
  json.open_object().member("gpu", live::gpu_name(held.slice.gpu));
  json.member("profile", profile_name(format.fleet.model_of(held.slice.gpu), held.slice.profile));
  json.member("start", held.slice.start).member("role", role_word(held.role));
  json.member("state", live::word(held.state)).close_object();
}

void write_condition(Writer& json, const ObjectFormat& format, const live::Condition& condition) {
  json.open_object().member("type", live::word(condition.type)).member("status", live::word(condition.status));
  json.member("reason", condition.reason).member("message", condition.message);
  json.member("since", format.epoch.text(condition.since)).close_object();
}

/// A condition that services have only while it holds.
void write_crash_loop(Writer& json, const ObjectFormat& format, const live::ProgramLoop& looping) {
  json.open_object().member("type", "CrashLoop").member("status", "True").member("reason", "FailsAgain");
  json.member("message", fmt::format("the program on {} failed {} times in ten minutes; the latest: {}", looping.slice,
                                     looping.failures, looping.message));
  json.member("since", format.epoch.text(looping.since)).close_object();
}

/// Likewise: the GPU agent would not start the program, as its own file has changed, or the scenario names it.
void write_refused_program(Writer& json, const std::string& why) {
  json.open_object().member("type", "ProgramRefused").member("status", "True").member("reason", "NotAllowed");
  json.member("message", "spec." + why);
  json.key("since").value(nullptr).close_object();
}

// ---- GPUs and nodes

std::string health_word(GpuHealth health) { return health == GpuHealth::kOk ? "ok" : "lost"; }
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

ProcessOrder program_anywhere(const std::string& tenant, const ProgramChoice& program) {
  return {.template_name = program.template_name,
          .parameters = program.parameters,
          .tenant = tenant,
          .slice = "gpu-0-full-0",
          .generation = 1,
          .device_uuid = "GPU-00000000-0000-0000-0000-000000000000"};
}

// ---- common parts

void put_head(Writer& json, const ObjectFormat& format, const ObjectIdentity& object) {
  put_head_with(json, format, object, {});
}

// ---- words

std::string role_word(Role role) { return role == Role::kRetraining ? "retraining" : "inference"; }

std::string scheduling_word(GpuScheduling scheduling) { return std::string(live::word(scheduling)); }

std::optional<std::string> why_unprofiled(const ObjectFormat& format, const GpuView& gpu) {
  if (gpu.has_profile) return std::nullopt;
  return fmt::format("no service has a profile for {}: none can run here", format.fleet.model_of(gpu.gpu).name);
}

void put_last_minute(Writer& json, const std::optional<live::MinuteFigures>& figures) {
  json.key("last_minute");
  if (!figures) {
    json.value(nullptr);
    return;
  }
  json.open_object().member("requests", figures->requests).member("in_time", figures->in_time);
  json.member("late", figures->late).member("dropped", figures->dropped).member("goodput", figures->goodput());
  json.member("latency_p50_ms", figures->latency_p50_ms);
  json.member("latency_p99_ms", figures->latency_p99_ms).close_object();
}

// ---- objects

std::string tenant_object(const ObjectFormat& format, const TenantView& tenant) {
  Writer json;
  put_set_head(json.open_object(), format, {.kind = "Tenant", .name = tenant.name}, tenant.meta);
  json.open_object("spec").close_object().open_object("status").close_object();
  return json.close_object().take();
}

std::string service_object(const ObjectFormat& format, const ServiceView& service) {
  const ObjectIdentity identity{.kind = "GpuService", .tenant = service.spec->tenant, .name = service.spec->name};
  std::optional<live::ServicePrograms> programs;
  if (service.spec->running.program && format.devices.programs) {
    programs = format.devices.programs(service.spec->tenant, service.spec->name);
  }
  std::optional<std::string> why_refused;
  if (service.spec->running.program && format.devices.why_no_program) {
    why_refused = format.devices.why_no_program(program_anywhere(service.spec->tenant, *service.spec->running.program));
  }
  Writer json;
  put_set_head(json.open_object(), format, identity, service.meta);
  json.key("spec").written(*format.spec_texts->text_of(service.spec, service.blobs, format.fleet));
  json.open_object("status").member("phase", live::word(service.phase));
  json.open_list("conditions");
  for (const live::Condition& condition : service.conditions) write_condition(json, format, condition);
  if (programs && programs->looping) write_crash_loop(json, format, *programs->looping);
  if (why_refused) write_refused_program(json, *why_refused);
  json.close_list();
  json.list("slices", service.slices, [&](Writer& to, const HeldSliceView& held) { write_slice(to, format, held); });
  json.member("capacity_requests_per_second", service.need.capacity);
  json.member("needed_requests_per_second", service.need.rate).member("needed_slices", service.need.slices);
  json.member("agreed_attainment", service.need.agreed.share);
  if (service.tier) {
    json.open_object("tier").member("since", format.epoch.text(service.tier->at));
    tier::put_choice(json, *service.tier);
    json.close_object();
  }
  if (service.warm) {
    put_warm(json.open_object("warm"), format, *service.warm);
    json.close_object();
  }
  put_last_minute(json, service.last_minute);
  if (format.devices.is_local()) put_load(json, format.devices);
  if (service.spec->running.program && programs) put_programs(json, *programs);
  return json.close_object().close_object().take();
}

std::string node_object(const ObjectFormat& format, const NodeView& node) {
  const std::size_t count = node.gpus.size();
  Writer gpus;
  gpus.open_list();
  NodeFact health;
  NodeFact scheduling;
  std::size_t lost = 0;
  std::size_t open = 0;
  std::size_t draining = 0;
  std::size_t drained = 0;
  for (const GpuView& gpu : node.gpus) {
    const GpuState& state = gpu.state;
    const bool is_first = gpu.gpu == node.gpus.front().gpu;
    lost += state.health == GpuHealth::kLost ? 1 : 0;
    open += state.scheduling == GpuScheduling::kOpen ? 1 : 0;
    draining += state.scheduling == GpuScheduling::kDraining ? 1 : 0;
    drained += gpu.is_drained ? 1 : 0;
    health.add(state.health_since, state.health_reason, is_first);
    scheduling.add(state.scheduling_since, state.scheduling_reason, is_first);
    gpus.open_object().member("name", live::gpu_name(gpu.gpu)).member("model", format.fleet.model_of(gpu.gpu).name);
    gpus.member("health", health_word(state.health)).member("scheduling", scheduling_word(state.scheduling));
    gpus.member("drained", gpu.is_drained).close_object();
  }
  if (lost > 0 && lost < count) health.reason = fmt::format("{} of {} GPUs are lost", lost, count);
  const GpuScheduling all = open > 0       ? GpuScheduling::kOpen
                            : draining > 0 ? GpuScheduling::kDraining
                                           : GpuScheduling::kCordoned;
  if (open > 0 && open < count) scheduling.reason = fmt::format("{} of {} GPUs are open", open, count);
  Writer json;
  put_head(json.open_object(), format, {.kind = "Node", .name = node_name(node.node)});
  json.open_object("spec").close_object().open_object("status");
  json.member("health", lost == count ? "lost" : "ok").member("health_reason", text_or_null(health.reason));
  json.member("health_since", format.epoch.text(health.since)).member("scheduling", scheduling_word(all));
  json.member("drained", drained == count);
  json.member("scheduling_reason", text_or_null(scheduling.reason));
  json.member("scheduling_since", format.epoch.text(scheduling.since));
  json.key("gpus").written(gpus.close_list().take());
  return json.close_object().close_object().take();
}

std::string gpu_object(const ObjectFormat& format, const GpuView& gpu) {
  const GpuModel& model = format.fleet.model_of(gpu.gpu);
  const GpuState& state = gpu.state;
  Writer json;
  put_head(json.open_object(), format, {.kind = "Gpu", .name = live::gpu_name(gpu.gpu)});
  json.open_object("spec").close_object().open_object("status").member("model", model.name);
  json.member("node", node_name(node_of(format.fleet, gpu.gpu))).member("health", health_word(state.health));
  json.member("health_reason", text_or_null(state.health_reason));
  json.member("health_since", format.epoch.text(state.health_since));
  json.member("scheduling", scheduling_word(state.scheduling)).member("drained", gpu.is_drained);
  json.member("scheduling_reason", text_or_null(state.scheduling_reason));
  json.member("scheduling_since", format.epoch.text(state.scheduling_since));
  json.member("units", std::max(1, model.units)).member("allocated_units", gpu.allocated_units);
  json.member("unprofiled_reason", why_unprofiled(format, gpu));
  if (format.devices.is_local()) put_device(json, model, format.devices.device(gpu.gpu));
  return json.close_object().close_object().take();
}

std::string slice_object(const ObjectFormat& format, const SliceView& view) {
  const Slice& slice = view.slice;
  const auto& holder = view.holder;
  const ObjectIdentity identity{.kind = "GpuSlice",
                                .tenant = holder ? holder->tenant : "",
                                .name = live::slice_name(format.fleet, slice, view.is_foreign ? 0 : view.generation),
                                .created = view.seen_at};
  Writer json;
  put_head(json.open_object(), format, identity);
  json.open_object("spec").close_object().open_object("status").member("gpu", live::gpu_name(slice.gpu));
  json.member("profile", profile_name(format.fleet.model_of(slice.gpu), slice.profile)).member("start", slice.start);
  json.member("generation", view.is_foreign ? std::nullopt : std::optional(view.generation));
  json.member("state", live::word(view.state));
  json.member("tenant", holder ? std::optional(holder->tenant) : std::nullopt);
  json.member("service", holder ? std::optional(holder->name) : std::nullopt);
  json.member("role", holder ? std::optional(role_word(view.role)) : std::nullopt);
  if (format.devices.is_local()) put_device_slice(json, format.devices.slice(slice));
  return json.close_object().close_object().take();
}

std::string planning_object(const ObjectFormat& format, const std::optional<PlanningPause>& pause) {
  Writer json;
  json.open_object().member("paused", pause.has_value());
  json.member("reason", pause ? std::optional(pause->reason) : std::nullopt);
  json.member("since", pause ? std::optional(format.epoch.text(pause->since)) : std::nullopt);
  return json.close_object().take();
}

std::string event_data(const ObjectFormat& format, const live::LoggedEvent& event) {
  Writer json;
  json.open_object().member("sequence", event.sequence).member("time", format.epoch.text(event.at));
  json.member("kind", live::event_word(event.kind));
  json.open_object("object").member("kind", live::object_word(event.object.kind));
  json.member("namespace", text_or_null(event.object.tenant)).member("name", event.object.name).close_object();
  json.member("generation", event.generation).member("message", text_or_null(event.message));
  return json.close_object().take();
}

}  // namespace berth::api
