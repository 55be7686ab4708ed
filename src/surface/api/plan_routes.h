/// Approval of plans, and the pause of planning. Who calls these holds the session's lock.
#pragma once

#include "live/session.h"
#include "surface/api/objects.h"
#include "surface/api/router.h"

namespace berth::api {

/// GET /v1/plans/{id}, where "current" is the plan that acts or waits.
[[nodiscard]] ApiResult<HttpAnswer> get_plan(const ObjectSource& source, const Call& call);
/// POST /v1/plans/{id}/approve: the plan. 404; 409 `not_waiting`, `planning_paused`, or `plan_changed` with what
/// changed.
[[nodiscard]] ApiResult<HttpAnswer> approve_plan(live::Session& session, const ObjectSource& source, const Call& call);
/// PUT /v1/planning: {"paused":true,"reason":".."} or {"paused":false}.
[[nodiscard]] ApiResult<HttpAnswer> set_planning(live::Session& session, const ObjectSource& source, const Call& call);

}  // namespace berth::api
