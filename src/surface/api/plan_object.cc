#include "surface/api/plan_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/json/writer.h"
#include "live/session/object_names.h"

namespace berth::api {
namespace {

using json::Writer;

std::string wall_text(std::int64_t unix_micros) { return WorldEpoch{.unix_micros = unix_micros}.text(Instant()); }

std::optional<std::string> text_or_nothing(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// Writes the members of one plan.
class PlanWriter {
 public:
  PlanWriter(Writer& json, const ObjectFormat& format, const live::PlanStatus& status)
      : json_(json), fleet_(format.fleet), status_(status), plan_(*status.plan) {}

  void put_actions(std::size_t count_max) {
    json_.open_list("actions");
    for (std::size_t i = 0; i < std::min(count_max, plan_.actions.size()); ++i) write_action(i);
    json_.close_list();
  }
  void put_actions(std::span<const std::size_t> indices) {
    json_.open_list("actions");
    for (const std::size_t index : indices) write_action(index);
    json_.close_list();
  }

  /// Leaves out the changes that are part of this plan.
  void put_ahead() {
    json_.open_list("ahead");
    for (const ChangeAhead& change : plan_.ahead) {
      if (change.after_seconds > 0) write_change_ahead(change);
    }
    json_.close_list();
  }

 private:
  void write_action(std::size_t index) {
    const Action& action = plan_.actions[index];
    const Slice& slice = slice_of(action.what);
    json_.open_object().member("id", fmt::format("{}", index + 1)).member("type", live::action_word(action.what));
    json_.member("gpu", live::gpu_name(slice.gpu)).member("profile", profile_of(slice)).member("start", slice.start);
    const auto* assign = std::get_if<AssignSlice>(&action.what);
    const Holding* held = assign != nullptr && !assign->holding.services.empty() ? &assign->holding : nullptr;
    const live::ServiceName* holder = held != nullptr ? status_.names->find(held->services.front()) : nullptr;
    json_.member("tenant", holder != nullptr ? std::optional(holder->tenant) : std::nullopt);
    json_.member("service", holder != nullptr ? std::optional(holder->name) : std::nullopt);
    json_.member("role", held != nullptr ? std::optional(role_word(held->role)) : std::nullopt);
    json_.member("reason", action.reason.text);
    put_preconditions(slice.gpu);
    json_.member("phase", live::word(status_.actions->phase(index)));
    json_.member("message", text_or_nothing(status_.actions->message(index))).close_object();
  }

  /// The slices and services that must be unchanged on the GPU when the action begins.
  void put_preconditions(GpuId gpu) {
    const auto fact = std::ranges::lower_bound(plan_.facts, gpu, {}, &GpuFact::gpu);
    const bool is_known = fact != plan_.facts.end() && fact->gpu == gpu;
    json_.open_object("preconditions").open_object("slices");
    if (is_known) {
      for (const SliceFact& each : fact->slices) {
        json_.member(fmt::format("{}-{}", profile_of(each.slice), each.slice.start), each.number);
      }
    }
    json_.close_object().open_object("services");
    if (is_known) {
      for (const ServiceFact& each : fact->services) {
        const auto* name = status_.names->find(each.service);
        if (name != nullptr) json_.member(name->tenant + "/" + name->name, each.revision);
      }
    }
    json_.close_object().close_object();
  }

  void write_change_ahead(const ChangeAhead& change) {
    json_.open_object().member("gpu", live::gpu_name(change.gpu)).member("after_seconds", change.after_seconds);
    json_.open_list("slices");
    for (const Allocation& allocation : change.to) {
      const Holding& holding = allocation.holding;
      const auto* holder = holding.services.empty() ? nullptr : status_.names->find(holding.services.front());
      json_.open_object().member("profile", profile_of(holding.slice)).member("start", holding.slice.start);
      json_.member("service", holder == nullptr ? std::nullopt : std::optional(holder->name));
      json_.member("role", holder == nullptr ? std::nullopt : std::optional(role_word(holding.role))).close_object();
    }
    json_.close_list().close_object();
  }

  [[nodiscard]] std::string profile_of(const Slice& slice) const {
    return profile_name(fleet_.model_of(slice.gpu), slice.profile);
  }

  Writer& json_;
  const Scenario& fleet_;
  const live::PlanStatus& status_;
  const Plan& plan_;
};

/// `actions`: what PlanWriter::put_actions takes.
template <class Actions>
void put_plan_with(Writer& json, const ObjectFormat& format, const live::PlanStatus& status, const Actions& actions) {
  const Plan& plan = *status.plan;
  PlanWriter parts(json, format, status);
  const auto text_of_time = [&](const std::optional<Instant>& at) {
    return at ? std::optional(format.epoch.text(*at)) : std::nullopt;
  };
  put_head(json, format, {.kind = "Plan", .name = live::plan_name(plan.id), .created = plan.made_at});
  json.open_object("spec").member("epoch", plan.epoch).member("base_version", plan.base_version);
  json.member("made_at", format.epoch.text(plan.made_at)).member("acts_at", text_of_time(status.acts_at));
  json.member("expires_at", text_of_time(plan.expires_at));
  json.member("objective", plan.objective).member("bound", plan.bound).member("gap", live::gap_of(plan));
  json.member("promised_gain", plan.promised_gain);
  if (status.conflict.empty()) json.member("conflict", nullptr);
  if (!status.conflict.empty()) json.list("conflict", status.conflict);
  parts.put_ahead();
  parts.put_actions(actions);
  json.close_object().open_object("status").member("phase", live::word(status.phase));
  json.member("message", text_or_nothing(status.message));
  const auto waits_until = status.expires_at_wall_us;
  json.member("expires_at_wall", waits_until ? std::optional(wall_text(*waits_until)) : std::nullopt).close_object();
}

}  // namespace

void put_plan(Writer& json, const ObjectFormat& format, const live::PlanStatus& status, std::size_t actions_max) {
  put_plan_with(json, format, status, actions_max);
}

void put_plan(Writer& json, const ObjectFormat& format, const live::PlanStatus& status,
              std::span<const std::size_t> actions) {
  put_plan_with(json, format, status, actions);
}

std::string plan_object(const ObjectFormat& format, const live::PlanStatus& status, std::size_t actions_max) {
  Writer json;
  put_plan(json.open_object(), format, status, actions_max);
  return json.close_object().take();
}

}  // namespace berth::api
