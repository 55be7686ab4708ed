/// The content of the first page in one answer: a part of the fleet, of the services and of the last plan, and new
/// events. Bounded for a fleet of any size, and consistent: all of it is read at one instant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/ports/http_server.h"
#include "live/session/event_log.h"
#include "live/session/plan_log.h"
#include "live/session/service_watch.h"
#include "surface/api/api_context.h"
#include "surface/api/api_error.h"
#include "surface/api/service_focus.h"
#include "surface/api/status.h"

namespace berth::api {

inline constexpr std::size_t kOverviewGpus = 48;
inline constexpr std::size_t kOverviewServices = 50;
inline constexpr std::size_t kOverviewActions = 40;
inline constexpr std::size_t kOverviewProcesses = 4;  ///< of each GPU of a local world
inline constexpr std::size_t kOverviewEvents = 60;

/// The query of GET /v1/overview: whole numbers, 0 unless given, and a service.
struct OverviewQuery {
  std::size_t gpus = 0;      ///< the first GPU
  std::size_t services = 0;  ///< the first service, in the order of /v1/services
  std::uint64_t events = 0;  ///< events after this sequence number; the latest kOverviewEvents if there are more
  std::optional<live::ServiceName> service = std::nullopt;  ///< shown in detail
};

/// Error (400): an unknown or repeated parameter, a value that is not a whole number, or not TENANT/NAME.
[[nodiscard]] ApiResult<OverviewQuery> parse_overview_query(const HttpRequest& request);

/// A GPU's slice as the overview shows it.
struct OverviewSlice {
  Slice slice;
  live::SliceState state = live::SliceState::kCreating;
  std::vector<std::pair<ServiceId, live::ServiceName>> holders;
};

struct OverviewGpu {
  GpuView gpu;
  std::vector<OverviewSlice> slices;
};

struct OverviewService {
  ServiceId id;
  ServiceView service;
  std::size_t staying = 0;  ///< slices
  std::size_t serving = 0;  ///< slices
};

/// The service that is shown in detail. Its slices are in its view.
struct OverviewFocus {
  OverviewService service;
  ServiceFocus rest;
};

struct OverviewView {
  StatusView status;
  std::size_t lost = 0;      ///< GPUs, like the next three
  std::size_t cordoned = 0;  ///< also the drained ones
  std::size_t drained = 0;
  std::size_t draining = 0;
  std::vector<OverviewGpu> gpus;
  std::size_t service_count = 0;
  std::vector<OverviewService> services;
  bool has_focus = false;                ///< a service in detail was asked for
  std::optional<OverviewFocus> focus;    ///< absent: there is no such service
  std::optional<live::PlanStatus> plan;  ///< the last one
  std::vector<live::LoggedEvent> events;
  std::uint64_t last_event = 0;
};

/// Reads the view under the session's lock; `overview_object` formats it without.
[[nodiscard]] OverviewView view_overview(const live::Session& session, const OverviewQuery& query);
[[nodiscard]] std::string overview_object(const ApiContext& context, const OverviewView& view);

}  // namespace berth::api
