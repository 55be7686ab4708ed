/// GET /v1/status: the world's clock, steps, solver, planning, and the fleet's last minute.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "domain/values/snapshot.h"
#include "live/session/in_time.h"
#include "live/session/minute.h"
#include "surface/api/api_context.h"

namespace berth::api {

/// The part of the status that is read from the session.
struct StatusView {
  Instant now;
  std::optional<PlanningPause> pause;
  std::optional<live::FunnelShares> funnel;
  std::optional<double> goodput;
  live::InTimeCounts in_time = {};
  std::string no_changes = {};  ///< the windows without changes in force, in words; empty: none
};

/// Reads the view under the session's lock; `status_object` formats it without.
[[nodiscard]] StatusView view_status(const live::Session& session);
[[nodiscard]] std::string status_object(const ApiContext& context, const StatusView& view);

}  // namespace berth::api
