#include "surface/api/plan_routes.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "live/session/object_names.h"
#include "live/session/session.h"
#include "surface/api/api_context.h"
#include "surface/api/paging.h"
#include "surface/api/plan_object.h"
#include "surface/api/request_body.h"

namespace berth::api {
namespace {

ApiError no_plan_named(const std::string& name) {
  return {.status = 404, .code = "not_found", .message = fmt::format("there is no plan {}", name)};
}

ApiError conflict(std::string code, std::string message) {
  return {.status = 409, .code = std::move(code), .message = std::move(message)};
}

/// The plan of that name, unless it is forgotten.
const live::PlanStatus* find_plan(const live::Session& session, const std::string& name) {
  const auto number = live::plan_number(name);
  return number ? session.plans().find(*number) : nullptr;
}

/// Why a plan cannot be approved.
ApiError refusal(const live::Session& session, const live::PlanStatus& plan, live::ApprovalOutcome outcome) {
  const std::string name = live::plan_name(plan.plan->id);
  switch (outcome) {
    case live::ApprovalOutcome::kPaused:
      return conflict("planning_paused",
                      fmt::format("{} waits, but planning is paused: {}", name, session.snapshot().pause->reason));
    case live::ApprovalOutcome::kChanged: {
      ApiError error = conflict("plan_changed", fmt::format("what {} stands on has changed", name));
      error.difference = plan.difference;
      return error;
    }
    case live::ApprovalOutcome::kUnknown:
      return no_plan_named(name);
    case live::ApprovalOutcome::kNotRecorded:
      return read_only_error(session.why_not_recorded());
    case live::ApprovalOutcome::kAccepted:
    case live::ApprovalOutcome::kNotWaiting:
      break;
  }
  const std::string phase(live::word(plan.phase));
  ApiError error =
      conflict("not_waiting", fmt::format("{}: wanted the phase awaiting_approval, found {}", name, phase));
  error.wanted = "awaiting_approval";
  error.found = phase;
  return error;
}

// ---- plans

/// Newest first.
ApiResult<HttpAnswer> list_plans(const ApiContext& context, const Call& call) {
  const auto page = context.session.with([&](const live::Session& session) {
    const auto& plans = session.plans().plans();
    const auto status = [&](std::size_t i) -> const live::PlanStatus& { return plans[plans.size() - 1 - i]; };
    const ListKeys keys{.count = plans.size(),
                        .key = [&](std::size_t i) { return number_key(UINT64_MAX - status(i).plan->id); }};
    return read_page(call.request, keys, [&](std::size_t i) { return live::PlanStatus(status(i)); });
  });
  return page_response(page, [&](const live::PlanStatus& status) { return plan_object(context.format, status); });
}

ApiResult<HttpAnswer> get_plan(const ApiContext& context, const Call& call) {
  const std::string& name = call.parameter("id");
  const bool is_current = name == "current";
  const auto status = context.session.with([&](const live::Session& session) {
    const live::PlanStatus* found = is_current ? session.plans().current() : find_plan(session, name);
    return found == nullptr ? std::nullopt : std::optional(*found);
  });
  if (status) return json_response(200, plan_object(context.format, *status));
  if (!is_current) return tl::unexpected(no_plan_named(name));
  return tl::unexpected(ApiError{.status = 404, .code = "no_plan", .message = "no plan was made yet"});
}

/// 200 with the plan, 409 if it does not await approval or its facts no longer hold.
ApiResult<HttpAnswer> approve_plan(const ApiContext& context, const Call& call) {
  auto reason = optional_reason(call.request);
  if (!reason) return tl::unexpected(reason.error());
  const std::string& name = call.parameter("id");
  const auto status = context.session.with([&](live::Session& session) -> ApiResult<live::PlanStatus> {
    const live::PlanStatus* plan = find_plan(session, name);
    if (plan == nullptr) return tl::unexpected(no_plan_named(name));
    const std::uint64_t id = plan->plan->id;
    const live::ApprovalOutcome outcome = session.approve(id, std::move(*reason));
    plan = session.plans().find(id);
    if (plan == nullptr) return tl::unexpected(no_plan_named(name));
    if (outcome != live::ApprovalOutcome::kAccepted) return tl::unexpected(refusal(session, *plan, outcome));
    return *plan;
  });
  if (!status) return tl::unexpected(status.error());
  return json_response(200, plan_object(context.format, *status));
}

/// The approval is recorded: either the plan took effect, or the facts that it relied on had changed.
ApiResult<HttpAnswer> answer_begun_approval(const ApiContext& context, const Call& call) {
  const auto status = context.session.with([&](const live::Session& session) -> ApiResult<live::PlanStatus> {
    const live::PlanStatus* plan = find_plan(session, call.parameter("id"));
    if (plan == nullptr) return tl::unexpected(no_plan_named(call.parameter("id")));
    if (plan->phase != live::PlanPhase::kSuperseded) return *plan;
    return tl::unexpected(refusal(session, *plan, live::ApprovalOutcome::kChanged));
  });
  if (!status) return tl::unexpected(status.error());
  return json_response(200, plan_object(context.format, *status));
}

// ---- the pause

ApiResult<HttpAnswer> get_planning(const ApiContext& context, const Call& /*call*/) {
  const auto pause = context.session.with([](const live::Session& session) { return session.snapshot().pause; });
  return json_response(200, planning_object(context.format, pause));
}

ApiResult<HttpAnswer> set_planning(const ApiContext& context, const Call& call) {
  const auto tree = parse_body(call.request);
  if (!tree) return tl::unexpected(tree.error());
  yaml::Report report("body");
  const yaml::Value root(*tree, report);
  root.check_keys({"paused", "reason"});
  const bool is_paused = root.at("paused").truth();
  const yaml::Value reason = root.at("reason");
  std::string text = is_paused || reason.is_written() ? read_reason(reason) : "";
  if (report.has_failed()) return tl::unexpected(error_of(report.parts()));
  const auto pause = context.session.with([&](live::Session& session) -> ApiResult<std::optional<PlanningPause>> {
    const bool is_recorded = is_paused ? session.pause(std::move(text)) : session.resume(std::move(text));
    if (!is_recorded) return tl::unexpected(read_only_error(session.why_not_recorded()));
    return session.snapshot().pause;
  });
  if (!pause) return tl::unexpected(pause.error());
  return json_response(200, planning_object(context.format, *pause));
}

}  // namespace

std::vector<Route> plan_routes() {
  return {
      {.method = "GET", .path = "/v1/plans", .answer = list_plans, .takes_query = true},
      {.method = "GET", .path = "/v1/plans/{id}", .answer = get_plan},
      {.method = "POST",
       .path = "/v1/plans/{id}/approve",
       .answer = approve_plan,
       .answer_begun = answer_begun_approval},
      {.method = "GET", .path = "/v1/planning", .answer = get_planning},
      {.method = "PUT", .path = "/v1/planning", .answer = set_planning},
  };
}

}  // namespace berth::api
