// The operators' constraints, checked against the journal of a replay of `berth` rather than its plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/loop/planner_policy.h"
#include "planner/window/carry.h"
#include "planner/window/check.h"
#include "sim/study/testing/policy_run.h"

namespace berth::study {
namespace {

constexpr std::int64_t kObeyedRunSeconds = 300;

/// Requests per second of each service on 1g, 2g, 3g, 4g and 7g, at one point each, so that a slice's rate is known.
/// Each service prefers other sizes: a large slices, b small ones, c those between.
constexpr std::array<const char*, 5> kSizes = {"1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"};
constexpr std::array<std::array<int, 5>, 3> kRates = {
    {{0, 0, 300, 350, 700}, {150, 200, 225, 250, 300}, {50, 250, 275, 300, 400}}};

std::vector<testing::Row> rows_of(std::size_t service) {
  constexpr int kLatencyMs = 40;
  std::vector<testing::Row> rows;
  for (std::size_t size = 0; size < kSizes.size(); ++size) {
    const int rate = kRates[service][size];
    if (rate > 0)
      rows.push_back({.profile = kSizes[size], .batch = rate * kLatencyMs / 1000, .latency_ms = kLatencyMs});
  }
  return rows;
}

double rate_on(std::size_t service, const Slice& slice) {
  std::string name = profile_name(testing::a100(), slice.profile);
  if (name == "full") name = "7g.80gb";
  return kRates[service][static_cast<std::size_t>(std::ranges::find(kSizes, name) - kSizes.begin())];
}

/// Three services on `gpus` A100. Their loads rotate every 50 s, so that slices are created and destroyed.
Scenario turning(std::int64_t gpus) {
  std::vector<ServiceSpec> services;
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<std::uint32_t> counts;
    for (std::int64_t second = 0; second < kObeyedRunSeconds; ++second) {
      const bool is_busy = (second / 50 + static_cast<std::int64_t>(i)) % 3 == 0;
      counts.push_back(static_cast<std::uint32_t>((is_busy ? 500 : 40) * gpus + second * 13 % 23));
    }
    services.push_back(testing::service_of(std::string(1, "abc"[i]), rows_of(i), testing::counted(std::move(counts))));
    services.back().start = Micros::seconds(1);
  }
  Scenario scenario = testing::scenario_of(std::move(services), {}, gpus);
  scenario.layout.reset();
  scenario.window_seconds = 60;
  return scenario;
}

/// A replay: the slice records of its journal, in order of time, and its plans.
struct Done {
  std::vector<world::SliceRecord> slices;
  std::vector<PlanRecord> plans;
  measure::PolicyResult result;
};

Done done_by(const Scenario& scenario, std::string_view policy = "berth", const PlannerOptions& options = {}) {
  Done done;
  policy::Settings settings;
  settings.berth = options;
  settings.berth.record = [&](const PlanRecord& record) { done.plans.push_back(record); };
  ReplayHooks hooks;
  hooks.journal = [&](std::string_view, const sim::JournalRecord& record) {
    if (const auto* slice = std::get_if<world::SliceRecord>(&record)) done.slices.push_back(*slice);
  };
  done.result = *replay_policy(scenario, policy, 1, hooks, settings);
  EXPECT_EQ(done.result.infeasible.value_or(""), "");
  return done;
}

bool is_change(const world::SliceRecord& record) {
  const bool cuts = record.event == world::SliceEvent::kCreated || record.event == world::SliceEvent::kDestroyed;
  return cuts && record.at > Instant();
}

int changes_in(const Done& done) { return static_cast<int>(std::ranges::count_if(done.slices, is_change)); }

/// Calls `judge` after each record with the existing slices and their latest records.
template <class Judge>
void walk(const Done& done, const Judge& judge) {
  std::map<Slice, world::SliceRecord> standing;
  for (std::size_t i = 0; i < done.slices.size(); ++i) {
    const world::SliceRecord& record = done.slices[i];
    if (record.event == world::SliceEvent::kDestroyed) {
      standing.erase(record.slice);
    } else if (record.event != world::SliceEvent::kRetrainingDone) {
      standing[record.slice] = record;
    }
    const bool is_last_then = i + 1 == done.slices.size() || done.slices[i + 1].at > record.at;
    if (is_last_then) judge(record.at, standing);
  }
}

/// The beginning of a change, and the record of the journal that shows it.
struct Beginning {
  Instant at;
  world::SliceRecord shown_by;
};

/// When the part of a change that `record` ends (a drain: begins) began.
Instant part_began_at(const world::SliceRecord& record, const Scenario& scenario) {
  switch (record.event) {
    case world::SliceEvent::kCreated:
      return record.at - scenario.changes.create;
    case world::SliceEvent::kDestroyed:
      return record.at - scenario.changes.destroy;
    case world::SliceEvent::kServing: {
      Micros start;
      for (const ServiceId service : record.services) start = std::max(start, scenario.services[service.index].start);
      return record.at - scenario.changes.plumbing - (record.role == Role::kInference ? start : Micros());
    }
    case world::SliceEvent::kLost:
    case world::SliceEvent::kDraining:
    case world::SliceEvent::kRetrainingStarted:
    case world::SliceEvent::kRetrainingDone:
      return record.at;
  }
  return record.at;
}

/// Every beginning of a change after the first layout, in order of the journal. A change begins with a drain, or with
/// creating, destroying or starting a slice, unless that continues a change under way: a slice that waited for the room
/// of another, one destroyed or started again when its drain is over, and one started when it is created.
std::vector<Beginning> beginnings_of_changes(const std::vector<world::SliceRecord>& journal, const Scenario& scenario) {
  const Micros drain_max = Micros::seconds(1);
  std::vector<Beginning> beginnings;
  std::map<Slice, world::SliceRecord> last;
  std::map<GpuId, Instant> room_made_at;
  for (const world::SliceRecord& record : journal) {
    if (record.event == world::SliceEvent::kRetrainingStarted || record.event == world::SliceEvent::kRetrainingDone)
      continue;
    const Instant began_at = part_began_at(record, scenario);
    const auto before = last.find(record.slice);
    bool goes_on = record.at == Instant();
    if (record.event == world::SliceEvent::kCreated) {
      const auto room = room_made_at.find(record.slice.gpu);
      goes_on = goes_on || (room != room_made_at.end() && room->second == began_at);
    } else if (record.event != world::SliceEvent::kDraining && before != last.end()) {
      const Instant since = before->second.at;
      goes_on = goes_on || (before->second.event == world::SliceEvent::kDraining && began_at <= since + drain_max) ||
                (before->second.event == world::SliceEvent::kCreated && began_at == since);
    }
    if (!goes_on) beginnings.push_back({.at = began_at, .shown_by = record});
    last[record.slice] = record;
    if (record.event == world::SliceEvent::kDestroyed) room_made_at[record.slice.gpu] = record.at;
  }
  return beginnings;
}

TEST(ObeyedRules, EveryBeginningOfAChangeIsFound) {
  const Scenario scenario = turning(1);
  const Micros create = scenario.changes.create;
  const Micros destroy = scenario.changes.destroy;
  const Micros start = scenario.changes.plumbing + Micros::seconds(1);
  const Instant from = Instant::at_second(100);
  const Slice old = testing::slice_at(0, "3g.40gb", 0);
  const Slice other = testing::slice_at(0, "3g.40gb", 4);
  const auto record = [](Instant at, world::SliceEvent event, const Slice& slice,
                         std::vector<ServiceId> services = {{0}}) {
    return world::SliceRecord{.at = at, .event = event, .slice = slice, .services = std::move(services)};
  };
  using enum world::SliceEvent;
  const auto seconds_of = [&](const std::vector<world::SliceRecord>& journal) {
    std::vector<Instant> instants;
    for (const Beginning& each : beginnings_of_changes(journal, scenario)) instants.push_back(each.at);
    return instants;
  };
  const Micros batch(40'000);
  // One change: drained, destroyed, another created in its room and started.
  const Instant created_at = from + batch + destroy + create;
  EXPECT_EQ(seconds_of({record(from, kDraining, old), record(from + batch + destroy, kDestroyed, old),
                        record(created_at, kCreated, other), record(created_at + start, kServing, other)}),
            std::vector{from});
  // Created where there was room, and started.
  EXPECT_EQ(seconds_of({record(from + create, kCreated, other), record(from + create + start, kServing, other)}),
            std::vector{from});
  // A slice without an owner is destroyed, and another given to a service, without a drain.
  EXPECT_EQ(seconds_of({record(Instant(), kCreated, old, {}), record(Instant(), kCreated, other, {}),
                        record(from + destroy, kDestroyed, old, {}), record(from + start, kServing, other)}),
            (std::vector{from, from}));
  // The room was made earlier, and a start begins again when its slice gets other holders.
  const Instant later = from + Micros::seconds(5);
  EXPECT_EQ(seconds_of({record(from, kDraining, old), record(from + batch + destroy, kDestroyed, old),
                        record(later + create, kCreated, other),
                        record(later + create + Micros(1) + start, kServing, other)}),
            (std::vector{from, later, later + create + Micros(1)}));
}

/// Expects that no change begins in a frozen window of the scenario; how many begin outside.
int expect_frozen_windows_are_kept(const Done& done, const Scenario& scenario) {
  const std::vector<Beginning> beginnings = beginnings_of_changes(done.slices, scenario);
  for (const Beginning& beginning : beginnings) {
    for (const FrozenWindow& window : scenario.frozen) {
      EXPECT_FALSE(window.from <= beginning.at && beginning.at < window.until)
          << testing::shown(beginning.shown_by) << " began at " << beginning.at.micros() << " in the window from "
          << window.from.second();
    }
  }
  return static_cast<int>(beginnings.size());
}

TEST(ObeyedRules, WithoutRulesSlicesComeAndGo) {
  // Without changes the tests below would prove nothing.
  EXPECT_GT(changes_in(done_by(turning(1))), 15);
  EXPECT_GT(changes_in(done_by(turning(2))), 15);
}

TEST(ObeyedRules, NothingBeginsInFrozenWindows) {
  for (const std::int64_t planning_ms : {0, 2500}) {
    SCOPED_TRACE(planning_ms);
    Scenario scenario = turning(2);
    scenario.planning = Micros(planning_ms * 1000);
    for (const auto& [from, until] : {std::pair(0, 40), {95, 130}, {180, 181}, {201, 260}}) {
      scenario.frozen.push_back({.from = Instant::at_second(from), .until = Instant::at_second(until)});
    }
    const Done done = done_by(scenario);
    EXPECT_GT(expect_frozen_windows_are_kept(done, scenario), 10);
  }
}

TEST(ObeyedRules, PinnedSlicesStandAndAreTheirOwnersAlone) {
  Scenario scenario = turning(2);
  scenario.services[1].pins = {{testing::slice_at(0, "2g.20gb", 4)}, {testing::slice_at(1, "1g.10gb", 0)}};
  scenario.services[2].pins = {{testing::slice_at(0, "1g.10gb", 6)}};
  const Done done = done_by(scenario);
  EXPECT_GT(changes_in(done), 10);
  std::map<Slice, std::uint32_t> owners;
  for (std::uint32_t i = 0; i < 3; ++i) {
    for (const Pin& pin : scenario.services[i].pins) owners[pin.slice] = i;
  }
  walk(done, [&](Instant at, const std::map<Slice, world::SliceRecord>& standing) {
    for (const auto& [slice, owner] : owners) {
      const auto found = standing.find(slice);
      ASSERT_TRUE(found != standing.end()) << at.second();
      EXPECT_EQ(found->second.services, std::vector<ServiceId>{{owner}}) << at.second();
    }
  });
}

/// The services that hold a slice of each GPU, without slices that are leaving.
std::map<GpuId, std::set<ServiceId>> holders(const std::map<Slice, world::SliceRecord>& standing) {
  std::map<GpuId, std::set<ServiceId>> holders;
  for (const auto& [slice, record] : standing) {
    if (record.event == world::SliceEvent::kDraining) continue;
    holders[slice.gpu].insert(record.services.begin(), record.services.end());
  }
  return holders;
}

TEST(ObeyedRules, WhoWantsAGpuAloneHasItAlone) {
  Scenario scenario = turning(2);
  scenario.services[1].isolation = Isolation::kGpu;
  const Done done = done_by(scenario);
  EXPECT_GT(changes_in(done), 5);
  walk(done, [&](Instant at, const std::map<Slice, world::SliceRecord>& standing) {
    for (const auto& [gpu, services] : holders(standing)) {
      EXPECT_TRUE(services.size() == 1 || !services.contains({1})) << "GPU " << gpu.index << " at " << at.micros();
    }
  });
}

TEST(ObeyedRules, TrustDomainsDoNotMeet) {
  Scenario scenario = turning(2);
  scenario.services[0].trust_domain = "x";
  scenario.services[1].trust_domain = "x";
  const Done done = done_by(scenario);
  EXPECT_GT(changes_in(done), 5);
  bool have_shared = false;
  walk(done, [&](Instant at, const std::map<Slice, world::SliceRecord>& standing) {
    for (const auto& [gpu, services] : holders(standing)) {
      have_shared = have_shared || services.size() > 1;
      EXPECT_FALSE(services.contains({2}) && services.size() > 1) << "GPU " << gpu.index << " at " << at.micros();
    }
  });
  EXPECT_TRUE(have_shared);  // a and b may
}

TEST(ObeyedRules, BudgetsOfChangesAreNotPassed) {
  Scenario free = turning(2);
  const Done before = done_by(free);
  Scenario scenario = turning(2);
  constexpr std::array<std::int64_t, 3> kBudgets = {4, 0, 7};
  for (std::size_t i = 0; i < 3; ++i) scenario.services[i].changes_per_hour = kBudgets[i];
  const Done done = done_by(scenario);
  std::array<std::int64_t, 3> wanted{};
  std::array<std::int64_t, 3> spent{};
  for (const world::SliceRecord& record : before.slices) {
    if (is_change(record) && record.services.size() == 1) ++wanted[record.services.front().index];
  }
  for (const world::SliceRecord& record : done.slices) {
    if (!is_change(record)) continue;
    for (const ServiceId service : record.services) ++spent[service.index];
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_GT(wanted[i], kBudgets[i]);
    EXPECT_LE(spent[i], kBudgets[i]);
    EXPECT_EQ(done.result.services[i].figures.changes, spent[i]);
  }
  EXPECT_GT(spent[0] + spent[2], 0);
}

/// Requests per second of the slices that a service has or is about to have, started or not, without slices that are
/// leaving.
double capacity_of(const std::map<Slice, world::SliceRecord>& standing, ServiceId service) {
  double rate = 0;
  for (const auto& [slice, record] : standing) {
    const bool is_its = record.services == std::vector<ServiceId>{service};
    if (is_its && record.role == Role::kInference && record.event != world::SliceEvent::kDraining)
      rate += rate_on(service.index, slice);
  }
  return rate;
}

TEST(ObeyedRules, FloorsAreKeptWithWhatStands) {
  Scenario scenario = turning(2);
  // A steady load of little worth, with a floor for all of it.
  scenario.services[1].arrivals = testing::counted(std::vector<std::uint32_t>(kObeyedRunSeconds, 240));
  scenario.services[1].weight = Decimal(1, 10'000);
  const auto least = [&](const Done& done) {
    double capacity = 1e9;
    Instant changed_at;
    walk(done, [&](Instant at, const std::map<Slice, world::SliceRecord>& standing) {
      // A handover takes time: the floor is checked when all slices are up.
      const bool is_settled = std::ranges::all_of(standing, [](const auto& each) {
        return each.second.event == world::SliceEvent::kServing ||
               each.second.event == world::SliceEvent::kRetrainingStarted;
      });
      if (is_settled) capacity = std::min(capacity, capacity_of(standing, {1}));
      changed_at = at;
    });
    EXPECT_GT(changed_at, Instant::at_second(100));
    return capacity;
  };
  EXPECT_LT(least(done_by(scenario)), 240);
  scenario.services[1].floor_attainment = Decimal(1);
  const Done done = done_by(scenario);
  EXPECT_GT(changes_in(done), 10);
  EXPECT_GE(least(done), 240 * 0.99);  // with forecasts, which may err a little
  for (const PlanRecord& plan : done.plans) EXPECT_FALSE(plan.unmet_floors.has_value());
  EXPECT_GT(done.result.services[1].figures.slo_attainment.value_or(0), 0.97);
}

TEST(ObeyedRules, AllTogether) {
  Scenario scenario = turning(3);
  scenario.planning = Micros::seconds(1);
  scenario.frozen = {{.from = Instant::at_second(100), .until = Instant::at_second(120)}};
  scenario.services[0].isolation = Isolation::kGpu;
  scenario.services[1].pins = {{testing::slice_at(2, "3g.40gb", 4)}};
  scenario.services[1].changes_per_hour = 6;
  scenario.services[2].trust_domain = "y";
  scenario.services[1].trust_domain = "y";
  scenario.services[2].floor_attainment = Decimal(1, 2);
  const Done done = done_by(scenario);
  std::int64_t spent = 0;
  for (const world::SliceRecord& record : done.slices) {
    if (is_change(record) && record.services == std::vector<ServiceId>{{1}}) ++spent;
  }
  EXPECT_LE(spent, 6);
  EXPECT_GT(expect_frozen_windows_are_kept(done, scenario), 0);
  walk(done, [&](Instant, const std::map<Slice, world::SliceRecord>& standing) {
    const auto pinned = standing.find(testing::slice_at(2, "3g.40gb", 4));
    ASSERT_TRUE(pinned != standing.end());
    EXPECT_EQ(pinned->second.services, std::vector<ServiceId>{{1}});
    for (const auto& [gpu, services] : holders(standing)) {
      EXPECT_TRUE(services.size() == 1 || !services.contains({0})) << gpu.index;
    }
  });
}

TEST(ObeyedRules, PinsThatContradictEachOtherAreInfeasible) {
  Scenario scenario = turning(1);
  scenario.services[1].pins = {{testing::slice_at(0, "1g.10gb", 0)}};
  scenario.services[2].pins = {{testing::slice_at(0, "1g.10gb", 1)}};
  scenario.services[2].isolation = Isolation::kGpu;
  const auto result = replay_policy(scenario, "berth", 1, {});
  ASSERT_TRUE(result.has_value());
  EXPECT_NE(result->infeasible.value_or("").find("b.pins, c.pins and c.isolation cannot all be met"),
            std::string::npos);
}

// ---- rules of policies rather than of operators

TEST(BerthInTime, DoesNotLookAhead) {
  Scenario scenario = turning(2);
  const Done whole = done_by(scenario);
  constexpr std::int64_t kUntil = 120;
  Scenario other = scenario;
  for (ServiceSpec& service : other.services) {
    auto& counts = std::get<CountTrace>(service.arrivals.source).counts;
    for (std::int64_t second = kUntil; second < kObeyedRunSeconds; ++second) {
      counts[static_cast<std::size_t>(second)] = static_cast<std::uint32_t>(second * 31 % 900);
    }
  }
  const Done changed = done_by(other);
  const auto until = [&](const Done& done) {
    std::vector<world::SliceRecord> records;
    for (const world::SliceRecord& record : done.slices) {
      if (record.at < Instant::at_second(kUntil)) records.push_back(record);
    }
    return records;
  };
  EXPECT_EQ(until(whole), until(changed));
  EXPECT_NE(whole.slices, changed.slices);
  std::size_t same = 0;
  for (std::size_t i = 0; i < whole.plans.size() && i < changed.plans.size(); ++i) {
    if (whole.plans[i].made_at > Instant::at_second(kUntil)) break;
    EXPECT_EQ(whole.plans[i].made_at, changed.plans[i].made_at);
    EXPECT_EQ(whole.plans[i].answer.objective, changed.plans[i].answer.objective);
    ++same;
  }
  EXPECT_GT(same, 20U);
}

TEST(BerthInTime, EachPlanBeginsWithWhatIsLeftOfTheLast) {
  PlannerOptions options;
  options.nodes_max = 40;  // so few that a search finds little without the previous plan
  const Done done = done_by(turning(3), "clairvoyant", options);
  int left = 0;
  for (std::size_t i = 1; i < done.plans.size(); ++i) {
    const PlanRecord& last = done.plans[i - 1];
    const PlanRecord& now = done.plans[i];
    const auto slots = static_cast<int>(now.acts_at.second() - last.acts_at.second());
    const planner::Schedule known = planner::carried_over(now.problem, last.answer.schedule, slots);
    if (known.gpus.empty() || planner::find_fault(now.problem, known)) continue;
    ++left;
    const double value = planner::evaluate(now.problem, known).objective;
    EXPECT_GE(now.answer.objective, value * (1 - 1e-9)) << now.made_at.second();
  }
  EXPECT_GT(left, 10);
}

}  // namespace
}  // namespace berth::study
