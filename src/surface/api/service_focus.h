/// What the first page shows about one service in addition to its row: the last plan that gives it slices, and its
/// events. Bounded for any number of plans and events.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/json/writer.h"
#include "live/session/catalog.h"
#include "live/session/event_log.h"
#include "live/session/plan_log.h"
#include "surface/api/objects.h"

namespace berth::api {

inline constexpr std::size_t kFocusActions = 40;
inline constexpr std::size_t kFocusEvents = 20;
inline constexpr std::size_t kFocusActionsSearched = 20'000;  ///< of the latest plans
inline constexpr std::size_t kFocusEventsSearched = 1'000;    ///< the latest ones

struct ServiceFocus {
  std::optional<live::PlanStatus> plan;   ///< the last one that gives it slices
  std::vector<std::size_t> actions;       ///< the indices of its actions on these slices
  std::vector<live::LoggedEvent> events;  ///< those about the service and its slices, oldest first
};

/// O(actions and events searched). To be called under the session's lock.
[[nodiscard]] ServiceFocus view_focus(const live::Session& session, const live::ServiceName& service);
/// Adds `plan` (null, or with `action_count`) and `events` to an open object.
void put_focus(json::Writer& json, const ObjectFormat& format, const ServiceFocus& focus);

}  // namespace berth::api
