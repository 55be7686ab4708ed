#include "engine/policy/registry.h"

#include <algorithm>

#include "base/core/ensure.h"
#include "engine/policy/detail/layouts.h"
#include "engine/policy/detail/planners.h"
#include "engine/policy/detail/rivals.h"
#include "engine/policy/detail/static_best.h"

namespace berth::policy {
namespace {

bool always(const Settings& /*settings*/) { return true; }

template <typename Predicate>
std::vector<std::string> names_where(Predicate holds) {
  std::vector<std::string> names;
  for (const Policy& policy : policies()) {
    if (holds(policy)) names.emplace_back(policy.name);
  }
  return names;
}

}  // namespace

const std::vector<Policy>& policies() {
  static const std::vector<Policy> rows = {
      {.name = "fixed", .knowledge = Knowledge::kScenario, .has_fixed_count = true, .make = detail::make_fixed},
      {.name = "shared",
       .knowledge = Knowledge::kScenario,
       .is_reference = true,
       .sharings = {Sharing::kTimeSlices, Sharing::kMps},
       .make = detail::make_shared},
      {.name = "whole", .knowledge = Knowledge::kHindsight, .is_reference = true, .make = detail::make_whole},
      {.name = "static-even", .knowledge = Knowledge::kScenario, .make = detail::make_static_even},
      {.name = "static-best",
       .knowledge = Knowledge::kHindsight,
       .searches_by_replay = true,
       .sizing_remark = "maximises goodput, not the worst share: it may need more GPUs than static-even",
       .make = detail::make_static_best},
      {.name = "paris", .knowledge = Knowledge::kHistory, .dispatch = Dispatch::kPush, .make = detail::make_paris},
      {.name = "ekya", .knowledge = Knowledge::kObserved, .replans = always, .make = detail::make_ekya},
      {.name = "astraea", .knowledge = Knowledge::kObserved, .replans = always, .make = detail::make_astraea},
      {.name = "migrator", .knowledge = Knowledge::kObserved, .replans = always, .make = detail::make_migrator},
      {.name = "berth",
       .knowledge = Knowledge::kObserved,
       .obeys_constraints = true,
       .obeys_warm_pools = true,
       .replans = detail::planner_replans,
       .make = detail::make_berth},
      {.name = "clairvoyant",
       .knowledge = Knowledge::kHindsight,
       .obeys_constraints = true,
       .replans = detail::planner_replans,
       .make = detail::make_clairvoyant},
  };
  return rows;
}

const Policy* find_policy(std::string_view name) {
  const auto row = std::ranges::find(policies(), name, &Policy::name);
  return row == policies().end() ? nullptr : &*row;
}

const Policy& policy_named(std::string_view name) {
  const Policy* row = find_policy(name);
  ENSURE(row != nullptr);
  return *row;
}

const std::vector<std::string>& names() {
  static const std::vector<std::string> all = names_where([](const Policy&) { return true; });
  return all;
}

const std::vector<std::string>& sizable_names() {
  static const std::vector<std::string> some = names_where([](const Policy& row) { return !row.has_fixed_count; });
  return some;
}

const std::vector<std::string>& reference_names() {
  static const std::vector<std::string> some = names_where([](const Policy& row) { return row.is_reference; });
  return some;
}

}  // namespace berth::policy
