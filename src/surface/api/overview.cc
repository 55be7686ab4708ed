#include "surface/api/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "base/core/text.h"
#include "base/json/writer.h"
#include "live/session/lost_slices.h"
#include "live/session/object_names.h"
#include "live/session/service_watch.h"
#include "live/session/session.h"
#include "surface/api/device_json.h"
#include "surface/api/plan_object.h"
#include "surface/api/service_query.h"

namespace berth::api {
namespace {

using json::Writer;

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

void count_gpus(const live::Session& session, OverviewView& view) {
  const Snapshot& snapshot = session.snapshot();
  for (std::uint32_t index = 0; index < snapshot.gpus.size(); ++index) {  // later ones are ok and open
    const GpuState& gpu = snapshot.gpus[index];
    view.lost += gpu.health == GpuHealth::kLost ? 1 : 0;
    view.cordoned += gpu.scheduling == GpuScheduling::kCordoned ? 1 : 0;
    view.drained += session.is_drained({index}) ? 1 : 0;
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

void write_slice(Writer& json, const GpuModel& model, const OverviewSlice& view) {
  json.open_object().member("profile", profile_name(model, view.slice.profile)).member("start", view.slice.start);
  json.member("length", length_of(model, view.slice.profile)).member("state", live::word(view.state));
  json.list("services", view.holders, [](Writer& to, const auto& holder) {
    const auto& [id, name] = holder;
    to.open_object().member("number", id.index).member("name", name.tenant + "/" + name.name).close_object();
  });
  json.close_object();
}

void write_gpu(Writer& json, const ObjectFormat& format, const OverviewGpu& view) {
  const GpuModel& model = format.fleet.model_of(view.gpu.gpu);
  const GpuState& state = view.gpu.state;
  const bool is_lost = state.health == GpuHealth::kLost;
  json.open_object().member("name", live::gpu_name(view.gpu.gpu)).member("model", model.name);
  json.member("units", std::max(1, model.units)).member("health", state.health == GpuHealth::kOk ? "ok" : "lost");
  json.member("scheduling", scheduling_word(state.scheduling)).member("drained", view.gpu.is_drained);
  json.member("reason", is_lost ? state.health_reason : state.scheduling_reason);
  json.list("slices", view.slices, [&](Writer& to, const OverviewSlice& slice) { write_slice(to, model, slice); });
  json.member("unprofiled_reason", why_unprofiled(format, view.gpu));
  if (format.devices.is_local()) {
    const live::DeviceView device = format.devices.device(view.gpu.gpu);
    put_use(json, model, device, kOverviewProcesses);
    json.member("process_count", device.processes ? std::optional(device.processes->size()) : std::nullopt);
  }
  json.close_object();
}

void write_service(Writer& json, const ObjectFormat& format, const OverviewService& view) {
  const ServiceSpec& spec = *view.service.spec;
  const auto& floor = spec.floor_attainment;
  const auto& minute = view.service.last_minute;
  json.open_object().member("number", view.id.index).member("tenant", spec.tenant).member("name", spec.name);
  json.member("phase", live::word(view.service.phase)).member("slices", view.staying);
  json.member("serving", view.serving).member("capacity", view.service.need.capacity);
  json.member("needed", view.service.need.slices);
  json.member("latency_target_ms", spec.target_ms.to_double());
  json.member("agreed", view.service.need.agreed.share);
  json.member("floor", floor ? std::optional(floor->to_double()) : std::nullopt).open_object("conditions");
  for (const live::Condition& condition : view.service.conditions) {
    json.open_object(live::word(condition.type)).member("status", live::word(condition.status));
    json.member("message", condition.message).close_object();
  }
  json.close_object().member("seconds", minute ? std::optional(minute->seconds) : std::nullopt);
  put_last_minute(json, minute);
  if (spec.running.program && format.devices.programs) {
    put_programs(json, format.devices.programs(spec.tenant, spec.name));
  }
  json.close_object();
}

void write_held_slice(Writer& json, const ObjectFormat& format, const HeldSliceView& held) {
  const GpuModel& model = format.fleet.model_of(held.slice.gpu);
  json.open_object().member("gpu", live::gpu_name(held.slice.gpu));
  json.member("profile", profile_name(model, held.slice.profile)).member("start", held.slice.start);
  json.member("role", role_word(held.role)).member("state", live::word(held.state)).close_object();
}

void put_focused_service(Writer& json, const ObjectFormat& format, const std::optional<OverviewFocus>& focus) {
  json.key("focus");
  if (!focus) {
    json.value(nullptr);
    return;
  }
  json.open_object().key("service");
  write_service(json, format, focus->service);
  json.list("slices", focus->service.service.slices,
            [&](Writer& to, const HeldSliceView& held) { write_held_slice(to, format, held); });
  put_focus(json, format, focus->rest);
  json.close_object();
}

/// The observed GPUs of a local world. Iterates over all GPUs: one machine has few.
std::size_t count_observed(const ObjectFormat& format) {
  std::size_t count = 0;
  for (std::uint32_t gpu = 0; gpu < format.fleet.gpu_count(); ++gpu) {
    count += format.devices.device({gpu}).why_observed ? 1 : 0;
  }
  return count;
}

void put_newest_plan(Writer& json, const ObjectFormat& format, const std::optional<live::PlanStatus>& plan) {
  json.key("plan");
  if (!plan) {
    json.value(nullptr);
    return;
  }
  put_plan(json.open_object(), format, *plan, kOverviewActions);
  json.member("action_count", plan->actions->size()).close_object();
}

}  // namespace

ApiResult<OverviewQuery> parse_overview_query(const HttpRequest& request) {
  OverviewQuery query;
  std::set<std::string> seen;
  for (const HttpField& pair : request.query) {
    if (pair.name == "service" && seen.insert(pair.name).second) {
      auto service = parse_service_name(pair.value);
      if (!service) return tl::unexpected(service.error());
      query.service = std::move(*service);
      continue;
    }
    const auto value = parse_count(pair.value, INT64_MAX);
    const bool is_known = pair.name == "gpus" || pair.name == "services" || pair.name == "events";
    if (!is_known || !seen.insert(pair.name).second || !value) {
      const std::string wanted = is_known ? "a whole number, once" : "gpus, services, events or one service";
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
  count_gpus(session, view);
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
  view.has_focus = query.service.has_value();
  if (query.service) {
    const auto focused = services.find(*query.service);
    if (focused != services.end()) {
      view.focus = OverviewFocus{.service = view_overview_service(session, focused->second),
                                 .rest = view_focus(session, *query.service)};
    }
  }
  const auto& plans = session.plans().plans();
  if (!plans.empty()) view.plan = plans.back();
  read_events(session, query.events, view);
  return view;
}

std::string overview_object(const ApiContext& context, const OverviewView& view) {
  const ObjectFormat& format = context.format;
  Writer json;
  json.open_object().key("status").written(status_object(context, view.status));
  json.open_object("fleet").member("gpus", format.fleet.gpu_count()).member("lost", view.lost);
  json.member("cordoned", view.cordoned).member("draining", view.draining).member("drained", view.drained);
  if (format.devices.is_local()) json.member("observed", count_observed(format));
  json.close_object();
  json.list("gpus", view.gpus, [&](Writer& to, const OverviewGpu& gpu) { write_gpu(to, format, gpu); });
  json.member("service_count", view.service_count);
  json.list("services", view.services,
            [&](Writer& to, const OverviewService& service) { write_service(to, format, service); });
  put_newest_plan(json, format, view.plan);
  if (view.has_focus) put_focused_service(json, format, view.focus);
  json.list("events", view.events,
            [&](Writer& to, const live::LoggedEvent& event) { to.written(event_data(format, event)); });
  return json.member("last_event", view.last_event).close_object().take();
}

}  // namespace berth::api
