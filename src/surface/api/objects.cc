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

namespace berth::api {
namespace {

using Json = nlohmann::ordered_json;
using codec::json_text;

constexpr const char* kApiVersion = "berth.dev/v1alpha1";
constexpr std::int64_t kMinuteSeconds = 60;

std::string object_of(std::string_view kind, const Json& metadata, const std::string& spec, const Json& status) {
  return codec::object_text({{"apiVersion", json_text(kApiVersion)},
                             {"kind", json_text(std::string(kind))},
                             {"metadata", json_text(metadata)},
                             {"spec", spec},
                             {"status", json_text(status)}});
}

Json metadata_of(const ObjectSource& source, const std::string& tenant, const std::string& name) {
  Json metadata{{"name", name}};
  metadata["namespace"] = tenant.empty() ? Json(nullptr) : Json(tenant);
  metadata["resourceVersion"] = "1";
  metadata["labels"] = Json::object();
  metadata["creationTimestamp"] = source.epoch.text(Instant());
  return metadata;
}

// ---- services

struct ServiceView {
  std::vector<const StandingSlice*> slices;  ///< that stay or leave
  std::size_t ready_count = 0;
  std::size_t staying_count = 0;
};

ServiceView view_of(const Snapshot& snapshot, ServiceId service) {
  ServiceView view;
  for (const StandingSlice& standing : snapshot.slices) {
    const auto& holders = standing.holding.services;
    if (std::ranges::find(holders, service) == holders.end()) continue;
    view.slices.push_back(&standing);
    if (standing.is_leaving) continue;
    ++view.staying_count;
    if (standing.is_ready && standing.holding.role == Role::kInference) ++view.ready_count;
  }
  return view;
}

std::string phase_of(const ServiceView& view) {
  if (view.ready_count > 0) return "Running";
  if (view.staying_count > 0) return "Starting";
  return view.slices.empty() ? "Waiting" : "Draining";
}

std::string slice_state(const StandingSlice& standing) {
  if (standing.is_leaving) return "draining";
  if (standing.holding.services.empty()) return standing.is_ready ? "idle" : "creating";
  if (!standing.is_ready) return "starting";
  return standing.holding.role == Role::kRetraining ? "retraining" : "serving";
}

std::string role_word(Role role) { return role == Role::kRetraining ? "retraining" : "inference"; }

/// Counts of the last minute that was observed; null before the first second.
Json last_minute(const ServiceState& state) {
  ServiceSecond sum;
  std::int64_t seconds = 0;
  for (auto it = state.seconds.rbegin(); it != state.seconds.rend() && it->second >= 0; ++it) {
    if (seconds++ == kMinuteSeconds) break;
    sum.arrivals += it->arrivals;
    sum.in_time += it->in_time;
    sum.late += it->late;
    sum.dropped += it->dropped;
  }
  if (seconds == 0) return nullptr;
  // Latencies and accuracies are not part of what the engine observes.
  return {{"requests", sum.arrivals}, {"in_time", sum.in_time},    {"late", sum.late},         {"dropped", sum.dropped},
          {"goodput", nullptr},       {"latency_p50_ms", nullptr}, {"latency_p99_ms", nullptr}};
}

Json slice_brief(const Scenario& scenario, const StandingSlice& standing) {
  const Slice& slice = standing.holding.slice;
  return {{"gpu", live::gpu_name(slice.gpu)},
          {"profile", profile_name(scenario.model_of(slice.gpu), slice.profile)},
          {"start", slice.start},
          {"role", role_word(standing.holding.role)},
          {"state", slice_state(standing)}};
}

// ---- plans

std::string_view word(live::PlanPhase phase) {
  switch (phase) {
    case live::PlanPhase::kActing:
      return "acting";
    case live::PlanPhase::kDone:
      return "done";
    case live::PlanPhase::kRefused:
      return "refused";
  }
  return "";
}

std::string_view word(live::ActionPhase phase) {
  switch (phase) {
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

std::string type_of(const SliceChange& change) {
  return std::visit(Overloaded{
                        [](const CreateSlice&) { return "create"; },
                        [](const DestroySlice&) { return "destroy"; },
                        [](const AssignSlice&) { return "assign"; },
                    },
                    change);
}

Json action_json(const Scenario& scenario, const live::ActionStatus& status, std::size_t id) {
  const Slice& slice = slice_of(status.action.what);
  Json json{{"id", fmt::format("{}", id)},
            {"type", type_of(status.action.what)},
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

std::string tenant_object(const ObjectSource& source, const std::string& tenant) {
  return object_of("Tenant", metadata_of(source, "", tenant), "{}", Json::object());
}

std::string service_object(const ObjectSource& source, ServiceId id) {
  const Scenario& scenario = source.session.scenario();
  const Snapshot& snapshot = source.session.snapshot();
  const ServiceSpec& service = scenario.services[id.index];
  const ServiceView view = view_of(snapshot, id);
  Json slices = Json::array();
  for (const StandingSlice* standing : view.slices) slices.push_back(slice_brief(scenario, *standing));
  const Json status{
      {"phase", phase_of(view)}, {"slices", slices}, {"last_minute", last_minute(snapshot.services[id.index])}};
  const auto spec = codec::service_spec_json(service, scenario);
  return object_of("GpuService", metadata_of(source, service.tenant, service.name), spec ? *spec : "null", status);
}

std::string node_object(const ObjectSource& source, NodeId node) {
  const GpuRange range = gpus_of(source.session.scenario(), node);
  Json gpus = Json::array();
  for (std::uint32_t i = 0; i < range.count; ++i) gpus.push_back(live::gpu_name({range.first.index + i}));
  return object_of("Node", metadata_of(source, "", node_name(node)), "{}", {{"gpus", gpus}});
}

std::string gpu_object(const ObjectSource& source, GpuId gpu) {
  const Scenario& scenario = source.session.scenario();
  const GpuState state = source.session.snapshot().gpu_state(gpu);
  constexpr const char* kScheduling[] = {"open", "cordoned", "draining"};
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  const Json status{{"model", scenario.model_of(gpu).name},
                    {"node", node_name(node_of(scenario, gpu))},
                    {"health", state.health == GpuHealth::kOk ? "ok" : "lost"},
                    {"health_reason", text_or_null(state.health_reason)},
                    {"health_since", source.epoch.text(state.health_since)},
                    {"scheduling", kScheduling[static_cast<std::size_t>(state.scheduling)]},
                    {"scheduling_reason", text_or_null(state.scheduling_reason)},
                    {"scheduling_since", source.epoch.text(state.scheduling_since)},
                    {"units", scenario.model_of(gpu).units}};
  return object_of("Gpu", metadata_of(source, "", live::gpu_name(gpu)), "{}", status);
}

std::string slice_object(const ObjectSource& source, const StandingSlice& standing) {
  const Scenario& scenario = source.session.scenario();
  const Slice& slice = standing.holding.slice;
  const auto& holders = standing.holding.services;
  const ServiceSpec* service = holders.empty() ? nullptr : &scenario.services[holders.front().index];
  const Json status{{"gpu", live::gpu_name(slice.gpu)},
                    {"profile", profile_name(scenario.model_of(slice.gpu), slice.profile)},
                    {"start", slice.start},
                    {"generation", standing.generation},
                    {"state", slice_state(standing)},
                    {"tenant", service != nullptr ? Json(service->tenant) : Json(nullptr)},
                    {"service", service != nullptr ? Json(service->name) : Json(nullptr)},
                    {"role", service != nullptr ? Json(role_word(standing.holding.role)) : Json(nullptr)}};
  const std::string name = fmt::format("{}-{}", live::slice_name(scenario, slice), standing.generation);
  return object_of("GpuSlice", metadata_of(source, service != nullptr ? service->tenant : "", name), "{}", status);
}

std::string plan_object(const ObjectSource& source, const live::PlanStatus& plan) {
  const Scenario& scenario = source.session.scenario();
  Json actions = Json::array();
  for (std::size_t i = 0; i < plan.actions.size(); ++i)
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
                  {"acts_at", source.epoch.text(plan.acted_at)},
                  {"expires_at", expires ? Json(source.epoch.text(*expires)) : Json(nullptr)},
                  {"objective", codec::or_null(plan.plan.objective)},
                  {"bound", codec::or_null(plan.plan.bound)},
                  {"gap", codec::or_null(gap)},
                  {"promised_gain", nullptr},
                  {"conflict", conflict_json(scenario, plan.plan)},
                  {"ahead", ahead},
                  {"actions", actions}};
  const Json status{{"phase", word(plan.phase)},
                    {"message", plan.message.empty() ? Json(nullptr) : Json(plan.message)}};
  const Json metadata = metadata_of(source, "", live::plan_name(plan.plan.id));
  return object_of("Plan", metadata, json_text(spec), status);
}

std::string event_data(const ObjectSource& source, const live::LoggedEvent& event) {
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return json_text({{"sequence", event.sequence},
                    {"time", source.epoch.text(event.at)},
                    {"kind", live::event_word(event.kind)},
                    {"object",
                     {{"kind", live::object_word(event.object.kind)},
                      {"namespace", text_or_null(event.object.tenant)},
                      {"name", event.object.name}}},
                    {"message", text_or_null(event.message)}});
}

std::vector<std::string> tenants_of(const Scenario& scenario) {
  std::set<std::string> tenants;
  for (const ServiceSpec& service : scenario.services) tenants.insert(service.tenant);
  return {tenants.begin(), tenants.end()};
}

std::string list_object(const std::vector<std::string>& items, const std::string& next) {
  return codec::object_text(
      {{"items", codec::list_text(items)},
       {"metadata", codec::object_text({{"continue", next.empty() ? "null" : json_text(next)}})}});
}

}  // namespace berth::api
