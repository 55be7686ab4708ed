#include "surface/api/objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "base/overloaded.h"
#include "codec/json_text.h"
#include "codec/json_value.h"
#include "codec/service_json.h"
#include "surface/api/object_uid.h"
#include "surface/api/paging.h"

namespace berth::api {
namespace {

using Json = nlohmann::ordered_json;
using codec::json_text;

constexpr const char* kApiVersion = "berth.dev/v1alpha1";

std::string object_of(std::string_view kind, const Json& metadata, const std::string& spec, const Json& status) {
  return codec::object_text({{"apiVersion", json_text(kApiVersion)},
                             {"kind", json_text(std::string(kind))},
                             {"metadata", json_text(metadata)},
                             {"spec", spec},
                             {"status", json_text(status)}});
}

struct ObjectIdentity {
  std::string_view kind;
  std::string tenant = {};
  std::string name = {};
  Instant created = {};
};

Json metadata_of(const ObjectSource& source, const ObjectIdentity& object) {
  Json metadata{{"name", object.name}};
  metadata["namespace"] = object.tenant.empty() ? Json(nullptr) : Json(object.tenant);
  // A slice keeps its uid when it gets a holder of another tenant.
  metadata["uid"] = object_uid({.kind = object.kind,
                                .tenant = object.kind == "GpuSlice" ? std::string_view() : object.tenant,
                                .name = object.name,
                                .created_unix_micros = source.epoch.unix_micros + object.created.micros()});
  metadata["resourceVersion"] = "1";
  metadata["labels"] = Json::object();
  metadata["creationTimestamp"] = source.epoch.text(object.created);
  return metadata;
}

/// Of an object that people set.
Json set_metadata(const ObjectSource& source, ObjectIdentity object, const live::ObjectMeta& meta) {
  object.created = meta.created;
  Json metadata = metadata_of(source, object);
  metadata["resourceVersion"] = fmt::format("{}", meta.version);
  for (const auto& [key, value] : meta.labels) metadata["labels"][key] = value;
  metadata["creationTimestamp"] = source.epoch.text(meta.created);
  return metadata;
}

// ---- services

std::string role_word(Role role) { return role == Role::kRetraining ? "retraining" : "inference"; }

Json slice_brief(const live::Session& session, std::size_t index) {
  const StandingSlice& standing = session.snapshot().slices[index];
  const Slice& slice = standing.holding.slice;
  return {{"gpu", live::gpu_name(slice.gpu)},
          {"profile", profile_name(session.scenario().model_of(slice.gpu), slice.profile)},
          {"start", slice.start},
          {"role", role_word(standing.holding.role)},
          {"state", live::word(session.watch().state_of(session.snapshot(), index))}};
}

Json conditions_json(const ObjectSource& source, ServiceId service) {
  Json conditions = Json::array();
  for (const live::Condition& condition : source.session.watch().conditions_of(service)) {
    conditions.push_back({{"type", live::word(condition.type)},
                          {"status", live::word(condition.status)},
                          {"reason", condition.reason},
                          {"message", condition.message},
                          {"since", source.epoch.text(condition.since)}});
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

// ---- plans

std::string wall_text(std::int64_t unix_micros) { return WorldEpoch{.unix_micros = unix_micros}.text(Instant()); }

std::string_view word(live::ActionPhase phase) {
  switch (phase) {
    case live::ActionPhase::kPlanned:
      return "planned";
    case live::ActionPhase::kRunning:
      return "running";
    case live::ActionPhase::kDone:
      return "done";
    case live::ActionPhase::kFailed:
      return "failed";
    case live::ActionPhase::kDropped:
      return "dropped";
  }
  return "";
}

Json action_json(const Scenario& scenario, const live::ActionStatus& status, std::size_t id) {
  const Slice& slice = slice_of(status.action.what);
  Json json{{"id", fmt::format("{}", id)},
            {"type", live::action_word(status.action.what)},
            {"gpu", live::gpu_name(slice.gpu)},
            {"profile", profile_name(scenario.model_of(slice.gpu), slice.profile)},
            {"start", slice.start}};
  const auto* assign = std::get_if<AssignSlice>(&status.action.what);
  const bool has_holder = assign != nullptr && !assign->holding.services.empty();
  const ServiceSpec* service = has_holder ? &scenario.services[assign->holding.services.front().index] : nullptr;
  json["tenant"] = service != nullptr ? Json(service->tenant) : Json(nullptr);
  json["service"] = service != nullptr ? Json(service->name) : Json(nullptr);
  json["role"] = has_holder ? Json(role_word(assign->holding.role)) : Json(nullptr);
  json["reason"] = status.action.reason.text;
  json["phase"] = word(status.phase);
  json["message"] = status.message.empty() ? Json(nullptr) : Json(status.message);
  return json;
}

Json conflict_json(const Scenario& scenario, const Plan& plan) {
  const auto* conflict = plan.unmet_floors ? std::get_if<ProvenConflict>(&*plan.unmet_floors) : nullptr;
  if (conflict == nullptr) return nullptr;
  Json names = Json::array();
  for (const ConstraintId& id : conflict->constraints) names.push_back(constraint_name(scenario, id));
  return names;
}

Json ahead_json(const Scenario& scenario, const ChangeAhead& change) {
  Json slices = Json::array();
  for (const Allocation& allocation : change.to) {
    const Slice& slice = allocation.holding.slice;
    const auto& holders = allocation.holding.services;
    slices.push_back(
        {{"profile", profile_name(scenario.model_of(slice.gpu), slice.profile)},
         {"start", slice.start},
         {"service", holders.empty() ? Json(nullptr) : Json(scenario.services[holders.front().index].name)},
         {"role", holders.empty() ? Json(nullptr) : Json(role_word(allocation.holding.role))}});
  }
  return {{"gpu", live::gpu_name(change.gpu)}, {"after_seconds", change.after_seconds}, {"slices", slices}};
}

}  // namespace

std::string scheduling_word(GpuScheduling scheduling) { return kSchedulingWords[static_cast<std::size_t>(scheduling)]; }

Json last_minute_json(const std::optional<live::MinuteFigures>& figures) {
  if (!figures) return nullptr;
  return {{"requests", figures->requests},
          {"in_time", figures->in_time},
          {"late", figures->late},
          {"dropped", figures->dropped},
          {"goodput", codec::or_null(figures->goodput())},
          {"latency_p50_ms", codec::or_null(figures->latency_p50_ms)},
          {"latency_p99_ms", codec::or_null(figures->latency_p99_ms)}};
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

std::string tenant_object(const ObjectSource& source, const std::string& tenant) {
  const live::ObjectMeta& meta = source.session.catalog().tenants.at(tenant);
  return object_of("Tenant", set_metadata(source, {.kind = "Tenant", .name = tenant}, meta), "{}", Json::object());
}

std::string service_object(const ObjectSource& source, const live::ServiceEntry& entry) {
  const ServiceId id = entry.id;
  const Scenario& scenario = source.session.scenario();
  const ServiceSpec& service = scenario.services[id.index];
  const live::ServiceSlices& held = source.session.watch().slices_of(id);
  Json slices = Json::array();
  for (const std::size_t index : held.indices) slices.push_back(slice_brief(source.session, index));
  const Json status{{"phase", live::word(held.phase())},
                    {"conditions", conditions_json(source, id)},
                    {"slices", slices},
                    {"capacity_requests_per_second", capacity_of(source.session, id)},
                    {"last_minute", last_minute_json(source.session.figures().minute_of(id))}};
  const auto spec = codec::service_spec_json(service, scenario);
  const Json metadata =
      set_metadata(source, {.kind = "GpuService", .tenant = service.tenant, .name = service.name}, entry.meta);
  return object_of("GpuService", metadata, spec ? *spec : "null", status);
}

std::string node_object(const ObjectSource& source, NodeId node) {
  const Scenario& scenario = source.session.scenario();
  const GpuRange range = gpus_of(scenario, node);
  Json gpus = Json::array();
  NodeFact health;
  NodeFact scheduling;
  std::uint32_t lost = 0;
  std::uint32_t open = 0;
  std::uint32_t draining = 0;
  for (std::uint32_t i = 0; i < range.count; ++i) {
    const GpuId gpu{range.first.index + i};
    const GpuState state = source.session.gpu_state(gpu);
    lost += state.health == GpuHealth::kLost ? 1 : 0;
    open += state.scheduling == GpuScheduling::kOpen ? 1 : 0;
    draining += state.scheduling == GpuScheduling::kDraining ? 1 : 0;
    health.add(state.health_since, state.health_reason, i == 0);
    scheduling.add(state.scheduling_since, state.scheduling_reason, i == 0);
    gpus.push_back({{"name", live::gpu_name(gpu)},
                    {"model", scenario.model_of(gpu).name},
                    {"health", health_word(state.health)},
                    {"scheduling", scheduling_word(state.scheduling)}});
  }
  if (lost > 0 && lost < range.count) health.reason = fmt::format("{} of {} GPUs are lost", lost, range.count);
  const GpuScheduling all = open > 0       ? GpuScheduling::kOpen
                            : draining > 0 ? GpuScheduling::kDraining
                                           : GpuScheduling::kCordoned;
  if (open > 0 && open < range.count) scheduling.reason = fmt::format("{} of {} GPUs are open", open, range.count);
  const Json status{{"health", lost == range.count ? "lost" : "ok"},
                    {"health_reason", text_or_null(health.reason)},
                    {"health_since", source.epoch.text(health.since)},
                    {"scheduling", scheduling_word(all)},
                    {"scheduling_reason", text_or_null(scheduling.reason)},
                    {"scheduling_since", source.epoch.text(scheduling.since)},
                    {"gpus", gpus}};
  return object_of("Node", metadata_of(source, {.kind = "Node", .name = node_name(node)}), "{}", status);
}

std::string gpu_object(const ObjectSource& source, GpuId gpu) {
  const Scenario& scenario = source.session.scenario();
  const GpuState state = source.session.gpu_state(gpu);
  const Json status{{"model", scenario.model_of(gpu).name},
                    {"node", node_name(node_of(scenario, gpu))},
                    {"health", health_word(state.health)},
                    {"health_reason", text_or_null(state.health_reason)},
                    {"health_since", source.epoch.text(state.health_since)},
                    {"scheduling", scheduling_word(state.scheduling)},
                    {"scheduling_reason", text_or_null(state.scheduling_reason)},
                    {"scheduling_since", source.epoch.text(state.scheduling_since)},
                    {"units", scenario.model_of(gpu).units}};
  return object_of("Gpu", metadata_of(source, {.kind = "Gpu", .name = live::gpu_name(gpu)}), "{}", status);
}

std::string slice_key(const StandingSlice& standing) {
  // At one place a slice that leaves stands behind its successor.
  const Slice& slice = standing.holding.slice;
  return number_key(slice.gpu.index) + number_key(static_cast<std::uint64_t>(slice.start)) +
         number_key(slice.profile.index) + number_key(UINT64_MAX - standing.generation);
}

std::string slice_object(const ObjectSource& source, std::size_t index) {
  const Scenario& scenario = source.session.scenario();
  const StandingSlice& standing = source.session.snapshot().slices[index];
  const Slice& slice = standing.holding.slice;
  const auto& holders = standing.holding.services;
  const ServiceSpec* service = holders.empty() ? nullptr : &scenario.services[holders.front().index];
  const Json status{{"gpu", live::gpu_name(slice.gpu)},
                    {"profile", profile_name(scenario.model_of(slice.gpu), slice.profile)},
                    {"start", slice.start},
                    {"generation", standing.is_foreign ? Json(nullptr) : Json(standing.generation)},
                    {"state", live::word(source.session.watch().state_of(source.session.snapshot(), index))},
                    {"tenant", service != nullptr ? Json(service->tenant) : Json(nullptr)},
                    {"service", service != nullptr ? Json(service->name) : Json(nullptr)},
                    {"role", service != nullptr ? Json(role_word(standing.holding.role)) : Json(nullptr)}};
  const std::string which = standing.is_foreign ? "foreign" : fmt::format("{}", standing.generation);
  const std::string name = fmt::format("{}-{}", live::slice_name(scenario, slice), which);
  const Json metadata = metadata_of(source, {.kind = "GpuSlice",
                                             .tenant = service != nullptr ? service->tenant : "",
                                             .name = name,
                                             .created = source.session.watch().seen_at(index)});
  return object_of("GpuSlice", metadata, "{}", status);
}

std::string plan_object(const ObjectSource& source, const live::PlanStatus& plan, std::size_t actions_max) {
  const Scenario& scenario = source.session.scenario();
  Json actions = Json::array();
  for (std::size_t i = 0; i < std::min(actions_max, plan.actions.size()); ++i)
    actions.push_back(action_json(scenario, plan.actions[i], i + 1));
  Json ahead = Json::array();
  for (const ChangeAhead& change : plan.plan.ahead) {
    if (change.after_seconds > 0) ahead.push_back(ahead_json(scenario, change));
  }
  const auto gap = [&]() -> std::optional<double> {
    if (!plan.plan.objective || !plan.plan.bound || *plan.plan.bound == 0) return std::nullopt;
    return (*plan.plan.bound - *plan.plan.objective) / std::abs(*plan.plan.bound);
  }();
  const auto expires = plan.plan.expires_at;
  const Json spec{{"made_at", source.epoch.text(plan.plan.made_at)},
                  {"acts_at", plan.acts_at ? Json(source.epoch.text(*plan.acts_at)) : Json(nullptr)},
                  {"expires_at", expires ? Json(source.epoch.text(*expires)) : Json(nullptr)},
                  {"objective", codec::or_null(plan.plan.objective)},
                  {"bound", codec::or_null(plan.plan.bound)},
                  {"gap", codec::or_null(gap)},
                  {"promised_gain", codec::or_null(plan.plan.promised_gain)},
                  {"conflict", conflict_json(scenario, plan.plan)},
                  {"ahead", ahead},
                  {"actions", actions}};
  const auto waits_until = plan.expires_at_wall_us;
  const Json status{{"phase", phase_word(plan.phase)},
                    {"message", plan.message.empty() ? Json(nullptr) : Json(plan.message)},
                    {"expires_at_wall", waits_until ? Json(wall_text(*waits_until)) : Json(nullptr)}};
  const Json metadata =
      metadata_of(source, {.kind = "Plan", .name = live::plan_name(plan.plan.id), .created = plan.plan.made_at});
  return object_of("Plan", metadata, json_text(spec), status);
}

std::string planning_object(const ObjectSource& source) {
  const auto& pause = source.session.snapshot().pause;
  return json_text({{"paused", pause.has_value()},
                    {"reason", pause ? Json(pause->reason) : Json(nullptr)},
                    {"since", pause ? Json(source.epoch.text(pause->since)) : Json(nullptr)}});
}

std::string_view phase_word(live::PlanPhase phase) {
  switch (phase) {
    case live::PlanPhase::kAwaitingApproval:
      return "awaiting_approval";
    case live::PlanPhase::kActing:
      return "acting";
    case live::PlanPhase::kDone:
      return "done";
    case live::PlanPhase::kExpired:
      return "expired";
    case live::PlanPhase::kRefused:
      return "refused";
    case live::PlanPhase::kSuperseded:
      return "superseded";
  }
  return "";
}

std::string event_data(const ObjectSource& source, const live::LoggedEvent& event) {
  return json_text({{"sequence", event.sequence},
                    {"time", source.epoch.text(event.at)},
                    {"kind", live::event_word(event.kind)},
                    {"object",
                     {{"kind", live::object_word(event.object.kind)},
                      {"namespace", text_or_null(event.object.tenant)},
                      {"name", event.object.name}}},
                    {"message", text_or_null(event.message)}});
}

std::string list_object(const std::vector<std::string>& items, const std::string& next) {
  return codec::object_text(
      {{"items", codec::list_text(items)},
       {"metadata", codec::object_text({{"continue", next.empty() ? "null" : json_text(next)}})}});
}

}  // namespace berth::api
