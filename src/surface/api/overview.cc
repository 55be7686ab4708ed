#include "surface/api/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "codec/json_text.h"
#include "codec/json_value.h"

namespace berth::api {
namespace {

using Json = nlohmann::ordered_json;

Json service_name(const ServiceSpec& service) { return service.tenant + "/" + service.name; }

/// Placement units that a slice covers; a whole GPU without MIG is one.
int length_of(const GpuModel& model, ProfileId profile) {
  if (profile.is_full()) return std::max(1, model.units);
  return model.profiles[profile.index].length;
}

Json slice_json(const live::Session& session, std::size_t index) {
  const StandingSlice& standing = session.snapshot().slices[index];
  const Slice& slice = standing.holding.slice;
  const GpuModel& model = session.scenario().model_of(slice.gpu);
  Json services = Json::array();
  for (const ServiceId service : standing.holding.services) {
    services.push_back({{"number", service.index}, {"name", service_name(session.scenario().services[service.index])}});
  }
  return {{"profile", profile_name(model, slice.profile)},
          {"start", slice.start},
          {"length", length_of(model, slice.profile)},
          {"state", live::word(session.watch().state_of(session.snapshot(), index))},
          {"services", services}};
}

Json gpu_json(const live::Session& session, GpuId gpu) {
  const GpuModel& model = session.scenario().model_of(gpu);
  const GpuState state = session.gpu_state(gpu);
  Json slices = Json::array();
  const auto& all = session.snapshot().slices;
  const auto gpu_of = [](const StandingSlice& standing) { return standing.holding.slice.gpu; };
  for (auto it = std::ranges::lower_bound(all, gpu, {}, gpu_of); it != all.end() && gpu_of(*it) == gpu; ++it) {
    slices.push_back(slice_json(session, static_cast<std::size_t>(it - all.begin())));
  }
  return {{"name", live::gpu_name(gpu)},
          {"model", model.name},
          {"units", std::max(1, model.units)},
          {"health", state.health == GpuHealth::kOk ? "ok" : "lost"},
          {"scheduling", scheduling_word(state.scheduling)},
          {"reason", state.health == GpuHealth::kLost ? state.health_reason : state.scheduling_reason},
          {"slices", slices}};
}

Json service_json(const ObjectSource& source, ServiceId id) {
  const live::Session& session = source.session;
  const ServiceSpec& service = session.scenario().services[id.index];
  const live::ServiceSlices& held = session.watch().slices_of(id);
  const auto minute = session.figures().minute_of(id);
  Json conditions = Json::object();
  for (const live::Condition& condition : session.watch().conditions_of(id)) {
    conditions[std::string(live::word(condition.type))] = {{"status", live::word(condition.status)},
                                                           {"message", condition.message}};
  }
  Json json{{"number", id.index},
            {"tenant", service.tenant},
            {"name", service.name},
            {"phase", live::word(held.phase())},
            {"slices", held.staying},
            {"serving", held.serving},
            {"capacity", capacity_of(session, id)},
            {"latency_target_ms", service.target_ms.to_double()},
            {"floor", service.floor_attainment ? Json(service.floor_attainment->to_double()) : Json(nullptr)},
            {"conditions", conditions}};
  json["seconds"] = minute ? Json(minute->seconds) : Json(nullptr);
  json["last_minute"] = last_minute_json(minute);
  return json;
}

Json plan_json(const ObjectSource& source) {
  const auto& plans = source.session.plans().plans();
  if (plans.empty()) return nullptr;
  const live::PlanStatus& plan = plans.back();
  Json json = Json::parse(plan_object(source, plan, kOverviewActions));
  json["action_count"] = plan.actions.size();
  return json;
}

Json fleet_json(const live::Session& session) {
  std::size_t lost = 0;
  std::size_t cordoned = 0;
  std::size_t draining = 0;
  const std::uint32_t count = session.scenario().gpu_count();
  for (std::uint32_t gpu = 0; gpu < count; ++gpu) {
    const GpuState state = session.snapshot().gpu_state({gpu});
    lost += state.health == GpuHealth::kLost ? 1 : 0;
    cordoned += state.scheduling == GpuScheduling::kCordoned ? 1 : 0;
    draining += state.scheduling == GpuScheduling::kDraining ? 1 : 0;
  }
  return {{"gpus", count}, {"lost", lost}, {"cordoned", cordoned}, {"draining", draining}};
}

}  // namespace

ApiResult<OverviewQuery> parse_overview_query(const HttpRequest& request) {
  OverviewQuery query;
  std::set<std::string> seen;
  for (const HttpField& pair : request.query) {
    const auto value = parse_count(pair.value, INT64_MAX);
    const bool is_known = pair.name == "gpus" || pair.name == "services" || pair.name == "events";
    if (!is_known || !seen.insert(pair.name).second || !value) {
      const std::string wanted = is_known ? "a whole number, once" : "gpus, services or events";
      return tl::unexpected(ApiError{.status = 400,
                                     .code = "bad_query",
                                     .message = fmt::format("{}: wanted {}", pair.name, wanted),
                                     .field = pair.name,
                                     .wanted = wanted,
                                     .found = is_known ? pair.value : pair.name});
    }
    const auto number = static_cast<std::uint64_t>(*value);
    if (pair.name == "gpus") query.gpus = number;
    if (pair.name == "services") query.services = number;
    if (pair.name == "events") query.events = number;
  }
  return query;
}

std::string overview_object(const ObjectSource& source, const OverviewQuery& query, const std::string& status) {
  const live::Session& session = source.session;
  Json gpus = Json::array();
  const std::size_t gpu_count = session.scenario().gpu_count();
  const std::size_t first_gpu = std::min(query.gpus, gpu_count);
  for (std::size_t i = first_gpu; i < std::min(gpu_count, first_gpu + kOverviewGpus); ++i) {
    gpus.push_back(gpu_json(session, {static_cast<std::uint32_t>(i)}));
  }
  const auto ids = services_in_order(session.scenario(), "");
  Json services = Json::array();
  const std::size_t first_service = std::min(query.services, ids.size());
  for (std::size_t i = first_service; i < std::min(ids.size(), first_service + kOverviewServices); ++i) {
    services.push_back(service_json(source, ids[i]));
  }
  const live::EventLog& log = session.events();
  const std::uint64_t last = log.last_sequence();
  const std::uint64_t newest = last > kOverviewEvents ? last - kOverviewEvents : 0;
  const std::uint64_t after = std::max({std::min(query.events, last), newest, log.oldest_sequence() - 1});
  std::vector<std::string> events;
  for (const live::LoggedEvent& event : log.after(after, kOverviewEvents)) events.push_back(event_data(source, event));
  return codec::object_text({{"status", status},
                             {"fleet", codec::json_text(fleet_json(session))},
                             {"gpus", codec::json_text(gpus)},
                             {"service_count", codec::json_text(ids.size())},
                             {"services", codec::json_text(services)},
                             {"plan", codec::json_text(plan_json(source))},
                             {"events", codec::list_text(events)},
                             {"last_event", codec::json_text(last)}});
}

std::string service_key(const ServiceSpec& service) { return service.tenant + '\x01' + service.name; }

std::vector<ServiceId> services_in_order(const Scenario& scenario, std::string_view tenant) {
  std::vector<ServiceId> services;
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    if (scenario.services[index].is_absent) continue;
    if (tenant.empty() || scenario.services[index].tenant == tenant) services.push_back({index});
  }
  std::ranges::sort(services, {}, [&](ServiceId id) { return service_key(scenario.services[id.index]); });
  return services;
}

}  // namespace berth::api
