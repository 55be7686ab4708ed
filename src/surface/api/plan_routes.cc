#include "surface/api/plan_routes.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "surface/api/paging.h"
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
  const std::string name = live::plan_name(plan.plan.id);
  switch (outcome) {
    case live::ApprovalOutcome::kPaused:
      return conflict("planning_paused",
                      fmt::format("{} waits, but planning is paused: {}", name, session.snapshot().pause->reason));
    case live::ApprovalOutcome::kChanged: {
      ApiError error = conflict("plan_changed", fmt::format("what {} stands on has changed: {}", name, plan.message));
      error.difference = plan.difference;
      return error;
    }
    case live::ApprovalOutcome::kUnknown:
      return no_plan_named(name);
    case live::ApprovalOutcome::kAccepted:
    case live::ApprovalOutcome::kNotWaiting:
      break;
  }
  const std::string phase(phase_word(plan.phase));
  ApiError error = conflict("not_waiting", fmt::format("wanted a plan that awaits approval, found {} {}", name, phase));
  error.wanted = "awaiting_approval";
  error.found = phase;
  return error;
}

}  // namespace

ApiResult<HttpAnswer> get_plan(const ObjectSource& source, const Call& call) {
  const std::string& name = call.parameter("id");
  const bool is_current = name == "current";
  const live::PlanStatus* plan = is_current ? source.session.plans().current() : find_plan(source.session, name);
  if (plan != nullptr) return json_response(200, plan_object(source, *plan));
  if (!is_current) return tl::unexpected(no_plan_named(name));
  return tl::unexpected(ApiError{.status = 404, .code = "no_plan", .message = "no plan was made yet"});
}

ApiResult<HttpAnswer> approve_plan(live::Session& session, const ObjectSource& source, const Call& call) {
  auto reason = optional_reason(call.request);
  if (!reason) return tl::unexpected(reason.error());
  const live::PlanStatus* plan = find_plan(session, call.parameter("id"));
  if (plan == nullptr) return tl::unexpected(no_plan_named(call.parameter("id")));
  const std::uint64_t id = plan->plan.id;
  const live::ApprovalOutcome outcome = session.approve(id, std::move(*reason));
  plan = session.plans().find(id);
  if (plan == nullptr) return tl::unexpected(no_plan_named(call.parameter("id")));
  if (outcome != live::ApprovalOutcome::kAccepted) return tl::unexpected(refusal(session, *plan, outcome));
  return json_response(200, plan_object(source, *plan));
}

ApiResult<HttpAnswer> set_planning(live::Session& session, const ObjectSource& source, const Call& call) {
  const auto tree = parse_body(call.request);
  if (!tree) return tl::unexpected(tree.error());
  yaml::Report report("body");
  const yaml::Value root(*tree, report);
  root.check_keys({"paused", "reason"});
  const bool is_paused = root.at("paused").truth();
  const yaml::Value reason = root.at("reason");
  std::string text = is_paused || reason.is_written() ? read_reason(reason) : "";
  if (report.has_failed()) return tl::unexpected(error_of(report.parts()));
  if (is_paused) {
    session.pause(std::move(text));
  } else {
    session.resume(std::move(text));
  }
  return json_response(200, planning_object(source));
}

}  // namespace berth::api
