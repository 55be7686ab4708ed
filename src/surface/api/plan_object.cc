#include "surface/api/plan_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/json/text.h"
#include "live/session/object_names.h"

namespace berth::api {
namespace {

using Json = nlohmann::ordered_json;
using json::json_text;

std::string wall_text(std::int64_t unix_micros) { return WorldEpoch{.unix_micros = unix_micros}.text(Instant()); }

std::string_view word(live::ActionPhase phase) {
  switch (phase) {
    case live::ActionPhase::kPlanned:
      return "planned";
    case live::ActionPhase::kRunning:
      return "running";
    case live::ActionPhase::kDone:
      return "done";
    case live::ActionPhase::kFailed:
      return "failed";
    case live::ActionPhase::kDropped:
      return "dropped";
  }
  return "";
}

/// Makes the parts of one plan.
class PlanWriter {
 public:
  PlanWriter(const ObjectFormat& format, const live::PlanStatus& status)
      : fleet_(format.fleet), status_(status), plan_(*status.plan) {}

  [[nodiscard]] Json actions(std::size_t count_max) const {
    Json actions = Json::array();
    for (std::size_t i = 0; i < std::min(count_max, plan_.actions.size()); ++i) actions.push_back(action(i));
    return actions;
  }

  /// Without the changes that are in the plan.
  [[nodiscard]] Json ahead() const {
    Json ahead = Json::array();
    for (const ChangeAhead& change : plan_.ahead) {
      if (change.after_seconds > 0) ahead.push_back(change_ahead(change));
    }
    return ahead;
  }

 private:
  [[nodiscard]] Json action(std::size_t index) const {
    const Action& action = plan_.actions[index];
    const Slice& slice = slice_of(action.what);
    Json json{{"id", fmt::format("{}", index + 1)},
              {"type", live::action_word(action.what)},
              {"gpu", live::gpu_name(slice.gpu)},
              {"profile", profile_of(slice)},
              {"start", slice.start}};
    const auto* assign = std::get_if<AssignSlice>(&action.what);
    const Holding* held = assign != nullptr && !assign->holding.services.empty() ? &assign->holding : nullptr;
    const live::ServiceName* holder = held != nullptr ? status_.names->find(held->services.front()) : nullptr;
    json["tenant"] = holder != nullptr ? Json(holder->tenant) : Json(nullptr);
    json["service"] = holder != nullptr ? Json(holder->name) : Json(nullptr);
    json["role"] = held != nullptr ? Json(role_word(held->role)) : Json(nullptr);
    json["reason"] = action.reason.text;
    json["preconditions"] = preconditions(slice.gpu);
    json["phase"] = word(status_.actions->phase(index));
    const std::string& message = status_.actions->message(index);
    json["message"] = message.empty() ? Json(nullptr) : Json(message);
    return json;
  }

  /// What must still stand on the GPU, and be the same service, when the action begins.
  [[nodiscard]] Json preconditions(GpuId gpu) const {
    Json slices = Json::object();
    Json services = Json::object();
    const auto fact = std::ranges::lower_bound(plan_.facts, gpu, {}, &GpuFact::gpu);
    if (fact != plan_.facts.end() && fact->gpu == gpu) {
      for (const SliceFact& each : fact->slices) {
        slices[fmt::format("{}-{}", profile_of(each.slice), each.slice.start)] = each.number;
      }
      for (const ServiceFact& each : fact->services) {
        if (const auto* name = status_.names->find(each.service)) {
          services[name->tenant + "/" + name->name] = each.revision;
        }
      }
    }
    return {{"slices", std::move(slices)}, {"services", std::move(services)}};
  }

  [[nodiscard]] Json change_ahead(const ChangeAhead& change) const {
    Json slices = Json::array();
    for (const Allocation& allocation : change.to) {
      const Holding& holding = allocation.holding;
      const auto* holder = holding.services.empty() ? nullptr : status_.names->find(holding.services.front());
      slices.push_back({{"profile", profile_of(holding.slice)},
                        {"start", holding.slice.start},
                        {"service", holder == nullptr ? Json(nullptr) : Json(holder->name)},
                        {"role", holder == nullptr ? Json(nullptr) : Json(role_word(holding.role))}});
    }
    return {{"gpu", live::gpu_name(change.gpu)}, {"after_seconds", change.after_seconds}, {"slices", slices}};
  }

  [[nodiscard]] std::string profile_of(const Slice& slice) const {
    return profile_name(fleet_.model_of(slice.gpu), slice.profile);
  }

  const Scenario& fleet_;
  const live::PlanStatus& status_;
  const Plan& plan_;
};

/// How far the plan may be from the best one, as a share of the bound.
std::optional<double> gap_of(const Plan& plan) {
  if (!plan.objective || !plan.bound || *plan.bound == 0) return std::nullopt;
  return (*plan.bound - *plan.objective) / std::abs(*plan.bound);
}

}  // namespace

std::string plan_object(const ObjectFormat& format, const live::PlanStatus& status, std::size_t actions_max) {
  const Plan& plan = *status.plan;
  const PlanWriter writer(format, status);
  const auto time_or_null = [&](const auto& at) { return at ? Json(format.epoch.text(*at)) : Json(nullptr); };
  const Json spec{{"epoch", plan.epoch},
                  {"base_version", plan.base_version},
                  {"made_at", format.epoch.text(plan.made_at)},
                  {"acts_at", time_or_null(status.acts_at)},
                  {"expires_at", time_or_null(plan.expires_at)},
                  {"objective", json::or_null(plan.objective)},
                  {"bound", json::or_null(plan.bound)},
                  {"gap", json::or_null(gap_of(plan))},
                  {"promised_gain", json::or_null(plan.promised_gain)},
                  {"conflict", status.conflict.empty() ? Json(nullptr) : Json(status.conflict)},
                  {"ahead", writer.ahead()},
                  {"actions", writer.actions(actions_max)}};
  const auto waits_until = status.expires_at_wall_us;
  const Json state{{"phase", phase_word(status.phase)},
                   {"message", status.message.empty() ? Json(nullptr) : Json(status.message)},
                   {"expires_at_wall", waits_until ? Json(wall_text(*waits_until)) : Json(nullptr)}};
  const ObjectIdentity identity{.kind = "Plan", .name = live::plan_name(plan.id), .created = plan.made_at};
  return object_of("Plan", metadata_json(format, identity), json_text(spec), state);
}

std::string_view phase_word(live::PlanPhase phase) {
  switch (phase) {
    case live::PlanPhase::kAwaitingApproval:
      return "awaiting_approval";
    case live::PlanPhase::kActing:
      return "acting";
    case live::PlanPhase::kDone:
      return "done";
    case live::PlanPhase::kExpired:
      return "expired";
    case live::PlanPhase::kRefused:
      return "refused";
    case live::PlanPhase::kSuperseded:
      return "superseded";
  }
  return "";
}

}  // namespace berth::api
