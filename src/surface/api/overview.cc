#include "surface/api/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "base/core/text.h"
#include "base/json/text.h"
#include "live/session/lost_slices.h"
#include "live/session/object_names.h"
#include "live/session/service_watch.h"
#include "live/session/session.h"
#include "surface/api/plan_object.h"

namespace berth::api {
namespace {

using Json = nlohmann::ordered_json;

// ---- read

OverviewSlice view_overview_slice(const live::Session& session, const StandingSlice& standing, live::SliceState state) {
  OverviewSlice view{.slice = standing.holding.slice, .state = state, .holders = {}};
  for (const ServiceId id : standing.holding.services) {
    const ServiceSpec& service = session.scenario().services[id.index];
    view.holders.emplace_back(id, live::ServiceName{.tenant = service.tenant, .name = service.name});
  }
  return view;
}

OverviewGpu view_overview_gpu(const live::Session& session, GpuId gpu) {
  OverviewGpu view{.gpu = view_gpu(session, gpu), .slices = {}};
  const auto here = session.snapshot().slices_on(gpu);
  for (auto it = here.begin(); it != here.end(); ++it) {
    view.slices.push_back(view_overview_slice(session, *it, session.slice_state(it.index())));
  }
  for (const live::LostSlice* lost : session.lost_slices().on(session.snapshot(), gpu)) {
    view.slices.push_back(view_overview_slice(session, lost->slice, live::SliceState::kLost));
  }
  return view;
}

OverviewService view_overview_service(const live::Session& session, const live::ServiceEntry& entry) {
  const live::ServiceSlices& held = session.watch().slices_of(entry.id);
  return {.id = entry.id, .service = view_service(session, entry), .staying = held.staying, .serving = held.serving};
}

void count_gpus(const Snapshot& snapshot, OverviewView& view) {
  for (const GpuState& gpu : snapshot.gpus) {  // later ones are ok and open
    view.lost += gpu.health == GpuHealth::kLost ? 1 : 0;
    view.cordoned += gpu.scheduling == GpuScheduling::kCordoned ? 1 : 0;
    view.draining += gpu.scheduling == GpuScheduling::kDraining ? 1 : 0;
  }
}

void read_events(const live::Session& session, std::uint64_t asked_after, OverviewView& view) {
  const live::EventLog& log = session.events();
  view.last_event = session.last_safe_event();
  const std::uint64_t newest = view.last_event > kOverviewEvents ? view.last_event - kOverviewEvents : 0;
  const std::uint64_t after = std::max({std::min(asked_after, view.last_event), newest, log.oldest_sequence() - 1});
  const std::uint64_t count = view.last_event > after ? view.last_event - after : 0;
  view.events = log.after(after, std::min<std::uint64_t>(kOverviewEvents, count));
}

// ---- written

Json slice_json(const GpuModel& model, const OverviewSlice& view) {
  Json services = Json::array();
  for (const auto& [id, name] : view.holders) {
    services.push_back({{"number", id.index}, {"name", name.tenant + "/" + name.name}});
  }
  return {{"profile", profile_name(model, view.slice.profile)},
          {"start", view.slice.start},
          {"length", length_of(model, view.slice.profile)},
          {"state", live::word(view.state)},
          {"services", services}};
}

Json gpu_json(const ObjectFormat& format, const OverviewGpu& view) {
  const GpuModel& model = format.fleet.model_of(view.gpu.gpu);
  const GpuState& state = view.gpu.state;
  Json slices = Json::array();
  for (const OverviewSlice& slice : view.slices) slices.push_back(slice_json(model, slice));
  return {{"name", live::gpu_name(view.gpu.gpu)},
          {"model", model.name},
          {"units", std::max(1, model.units)},
          {"health", state.health == GpuHealth::kOk ? "ok" : "lost"},
          {"scheduling", scheduling_word(state.scheduling)},
          {"reason", state.health == GpuHealth::kLost ? state.health_reason : state.scheduling_reason},
          {"slices", slices}};
}

Json service_json(const OverviewService& view) {
  const ServiceSpec& spec = *view.service.spec;
  const auto& minute = view.service.last_minute;
  Json conditions = Json::object();
  for (const live::Condition& condition : view.service.conditions) {
    conditions[std::string(live::word(condition.type))] = {{"status", live::word(condition.status)},
                                                           {"message", condition.message}};
  }
  Json json{{"number", view.id.index},
            {"tenant", spec.tenant},
            {"name", spec.name},
            {"phase", live::word(view.service.phase)},
            {"slices", view.staying},
            {"serving", view.serving},
            {"capacity", view.service.capacity_per_second},
            {"latency_target_ms", spec.target_ms.to_double()},
            {"floor", spec.floor_attainment ? Json(spec.floor_attainment->to_double()) : Json(nullptr)},
            {"conditions", conditions}};
  json["seconds"] = minute ? Json(minute->seconds) : Json(nullptr);
  json["last_minute"] = last_minute_json(minute);
  return json;
}

/// GPUs of a local world that must not be changed: one machine has few.
std::size_t count_observed(const ObjectFormat& format) {
  std::size_t count = 0;
  for (std::uint32_t gpu = 0; gpu < format.fleet.gpu_count(); ++gpu) {
    count += format.devices.device({gpu}).why_observed ? 1 : 0;
  }
  return count;
}

Json plan_json(const ObjectFormat& format, const std::optional<live::PlanStatus>& plan) {
  if (!plan) return nullptr;
  Json json = Json::parse(plan_object(format, *plan, kOverviewActions));
  json["action_count"] = plan->actions->size();
  return json;
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

OverviewView view_overview(const live::Session& session, const OverviewQuery& query) {
  OverviewView view;
  view.status = view_status(session);
  count_gpus(session.snapshot(), view);
  const std::size_t gpu_count = session.scenario().gpu_count();
  const std::size_t first_gpu = std::min(query.gpus, gpu_count);
  for (std::size_t i = first_gpu; i < std::min(gpu_count, first_gpu + kOverviewGpus); ++i) {
    view.gpus.push_back(view_overview_gpu(session, {static_cast<std::uint32_t>(i)}));
  }
  const auto& services = session.catalog().services;
  view.service_count = services.size();
  auto service = std::next(services.begin(), static_cast<std::ptrdiff_t>(std::min(query.services, services.size())));
  for (; service != services.end() && view.services.size() < kOverviewServices; ++service) {
    view.services.push_back(view_overview_service(session, service->second));
  }
  const auto& plans = session.plans().plans();
  if (!plans.empty()) view.plan = plans.back();
  read_events(session, query.events, view);
  return view;
}

std::string overview_object(const ApiContext& context, const OverviewView& view) {
  const ObjectFormat& format = context.format;
  Json fleet{{"gpus", format.fleet.gpu_count()},
             {"lost", view.lost},
             {"cordoned", view.cordoned},
             {"draining", view.draining}};
  if (format.devices.is_local()) fleet["observed"] = count_observed(format);
  Json gpus = Json::array();
  for (const OverviewGpu& gpu : view.gpus) gpus.push_back(gpu_json(format, gpu));
  Json services = Json::array();
  for (const OverviewService& service : view.services) services.push_back(service_json(service));
  std::vector<std::string> events;
  events.reserve(view.events.size());
  for (const live::LoggedEvent& event : view.events) events.push_back(event_data(format, event));
  return json::object_text({{"status", status_object(context, view.status)},
                            {"fleet", json::json_text(fleet)},
                            {"gpus", json::json_text(gpus)},
                            {"service_count", json::json_text(view.service_count)},
                            {"services", json::json_text(services)},
                            {"plan", json::json_text(plan_json(format, view.plan))},
                            {"events", json::list_text(events)},
                            {"last_event", json::json_text(view.last_event)}});
}

}  // namespace berth::api
