#include "surface/api/service_focus.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "live/session/session.h"
#include "surface/api/plan_object.h"

namespace berth::api {
namespace {

// ---- the plan

bool is_for(const live::PlanStatus& plan, const AssignSlice& assign, const live::ServiceName& service) {
  return std::ranges::any_of(assign.holding.services, [&](ServiceId id) {
    const live::ServiceName* name = plan.names->find(id);
    return name != nullptr && *name == service;
  });
}

/// The indices of the actions that change a slice which the plan gives to the service.
std::vector<std::size_t> actions_for(const live::PlanStatus& plan, const live::ServiceName& service) {
  const std::vector<Action>& actions = plan.plan->actions;
  std::vector<Slice> given;
  for (const Action& action : actions) {
    const auto* assign = std::get_if<AssignSlice>(&action.what);
    if (assign != nullptr && is_for(plan, *assign, service)) given.push_back(slice_of(action.what));
  }
  std::vector<std::size_t> indices;
  if (given.empty()) return indices;
  std::ranges::sort(given);
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (std::ranges::binary_search(given, slice_of(actions[i].what))) indices.push_back(i);
  }
  return indices;
}

void find_plan_for(const live::Session& session, const live::ServiceName& service, ServiceFocus& focus) {
  const auto& plans = session.plans().plans();
  std::size_t searched = 0;
  for (auto plan = plans.rbegin(); plan != plans.rend() && searched < kFocusActionsSearched; ++plan) {
    searched += plan->plan->actions.size() + 1;
    focus.actions = actions_for(*plan, service);
    if (focus.actions.empty()) continue;
    focus.plan = *plan;
    return;
  }
}

// ---- events

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/// Whether the text has the name as a whole, not as a part of a longer one.
bool mentions(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool is_begun = at > 0 && (is_of_name(text[at - 1]) || text[at - 1] == '/');
    if (!is_begun && (end == text.size() || !is_of_name(text[end]))) return true;
  }
  return false;
}

/// Messages name services as "tenant/name"; those about a slice are its holder.
bool concerns(const live::LoggedEvent& event, const live::ServiceName& service, std::string_view full_name) {
  const live::ObjectName& object = event.object;
  if (object.kind == live::ObjectKind::kGpuService) {
    return object.tenant == service.tenant && object.name == service.name;
  }
  return mentions(event.message, full_name);
}

void find_events_of(const live::Session& session, const live::ServiceName& service, ServiceFocus& focus) {
  const live::EventLog& log = session.events();
  const std::uint64_t last = session.last_safe_event();
  const std::uint64_t oldest = log.oldest_sequence() - 1;
  const std::uint64_t after = std::max(oldest, last > kFocusEventsSearched ? last - kFocusEventsSearched : 0);
  const std::string full_name = service.tenant + "/" + service.name;
  for (live::LoggedEvent& event : log.after(after, last > after ? last - after : 0)) {
    if (concerns(event, service, full_name)) focus.events.push_back(std::move(event));
  }
  if (focus.events.size() > kFocusEvents) {
    focus.events.erase(focus.events.begin(), focus.events.end() - static_cast<std::ptrdiff_t>(kFocusEvents));
  }
}

}  // namespace

ServiceFocus view_focus(const live::Session& session, const live::ServiceName& service) {
  ServiceFocus focus;
  find_plan_for(session, service, focus);
  find_events_of(session, service, focus);
  return focus;
}

void put_focus(json::Writer& json, const ObjectFormat& format, const ServiceFocus& focus) {
  json.key("plan");
  if (focus.plan) {
    const std::size_t count = std::min(focus.actions.size(), kFocusActions);
    put_plan(json.open_object(), format, *focus.plan, std::span(focus.actions).first(count));
    json.member("action_count", focus.actions.size()).close_object();
  } else {
    json.value(nullptr);
  }
  json.list("events", focus.events,
            [&](json::Writer& to, const live::LoggedEvent& event) { to.written(event_data(format, event)); });
}

}  // namespace berth::api
