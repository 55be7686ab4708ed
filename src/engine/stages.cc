#include "engine/stages.h"

#include <fmt/format.h>

#include <utility>

#include "engine/verify.h"
#include "partition/retraining_rule.h"

namespace berth {
namespace {

/// What stands and serves, as a layout.
partition::Layout standing_layout(const Snapshot& snapshot) {
  partition::Layout layout;
  for (const StandingSlice& standing : snapshot.slices) {
    if (!standing.is_leaving) layout.push_back(standing.holding);
  }
  return layout;
}

/// The slice that a service has lent to its retraining, if any.
const StandingSlice* find_lent(const Snapshot& snapshot, ServiceId service) {
  for (const StandingSlice& standing : snapshot.slices) {
    const Holding& holding = standing.holding;
    if (holding.role == Role::kRetraining && holding.services == std::vector{service}) return &standing;
  }
  return nullptr;
}

Action assign(const Slice& slice, ServiceId service, Role role, std::string why) {
  return {.what = AssignSlice{.holding = {.slice = slice, .role = role, .services = {service}}, .point = std::nullopt},
          .reason = {.text = std::move(why), .numbers = {}}};
}

void lend_or_return(const Scenario& scenario, const Snapshot& snapshot, ServiceId service, Plan& plan) {
  const bool is_due = snapshot.services[service.index].is_retraining_due;
  const StandingSlice* lent = find_lent(snapshot, service);
  if (is_due && lent == nullptr) {
    const auto slice = partition::slice_to_lend(scenario, standing_layout(snapshot), service);
    if (slice)
      plan.actions.push_back(assign(*slice, service, Role::kRetraining, "retraining is due: least throughput lost"));
  }
  if (!is_due && lent != nullptr) {
    plan.actions.push_back(
        assign(lent->holding.slice, service, Role::kInference, "retraining is done: back to serving"));
  }
}

}  // namespace

Stage first_layout_stage(std::string policy, std::function<partition::LayoutOrInfeasible(const Snapshot&)> decide) {
  const auto run = [decide = std::move(decide)](const Snapshot& snapshot, Plan& plan) -> std::optional<std::string> {
    if (!snapshot.slices.empty() || snapshot.now != Instant()) return std::nullopt;
    const partition::LayoutOrInfeasible decided = decide(snapshot);
    if (const auto* infeasible = std::get_if<partition::Infeasible>(&decided)) return infeasible->why;
    for (const Holding& holding : std::get<partition::Layout>(decided)) {
      const Reason reason{.text = "first layout", .numbers = {}};
      plan.actions.push_back({.what = CreateSlice{holding.slice}, .reason = reason});
      plan.actions.push_back({.what = AssignSlice{.holding = holding, .point = std::nullopt}, .reason = reason});
    }
    return std::nullopt;
  };
  return {.name = std::move(policy), .run = run};
}

Stage retraining_stage(const Scenario& scenario) {
  const auto run = [&scenario](const Snapshot& snapshot, Plan& plan) -> std::optional<std::string> {
    // A plan that lays out everything anew is not mixed with lending; the next step lends.
    if (!plan.actions.empty() || is_frozen(scenario, snapshot.now + scenario.planning)) return std::nullopt;
    for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
      if (scenario.services[index].retraining) lend_or_return(scenario, snapshot, ServiceId{index}, plan);
    }
    return std::nullopt;
  };
  return {.name = "retraining", .run = run};
}

std::vector<std::vector<std::uint32_t>> history_counts(const Snapshot& snapshot) {
  std::vector<std::vector<std::uint32_t>> counts(snapshot.services.size());
  for (std::size_t index = 0; index < counts.size(); ++index) {
    for (const ServiceSecond& second : snapshot.services[index].seconds) {
      if (second.second < 0) counts[index].push_back(static_cast<std::uint32_t>(second.arrivals));
    }
  }
  return counts;
}

}  // namespace berth
