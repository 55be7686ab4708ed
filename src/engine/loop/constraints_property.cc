// Random plans for two GPUs and three services: find_breach against a naive judge.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "engine/loop/constraints.h"
#include "engine/loop/test_fleet.h"
#include "engine/loop/verify.h"

namespace berth {
namespace {

using testing::create;
using testing::destroy;
using testing::give;
using testing::held;
using testing::slice_at;

constexpr std::uint64_t kConstraintCases = testing::by_build(40'000, 4'000);

constexpr Instant kNow = Instant::at_second(9000);
constexpr std::size_t kServices = 3;

/// Slices that can all exist at the same time.
const std::array<Slice, 8>& sites() {
  static const std::array<Slice, 8> all = {
      slice_at(0, "1g.10gb", 0), slice_at(0, "1g.10gb", 1), slice_at(0, "2g.20gb", 2), slice_at(0, "3g.40gb", 4),
      slice_at(1, "1g.10gb", 0), slice_at(1, "1g.10gb", 1), slice_at(1, "2g.20gb", 2), slice_at(1, "3g.40gb", 4)};
  return all;
}

bool by_chance(Rng& rng, std::uint64_t one_in) { return rng.below(one_in) == 0; }

struct Draw {
  Scenario scenario = testing::two_gpus();
  Snapshot snapshot;
  Plan plan;
};

void draw_rules(Rng& rng, Scenario& scenario) {
  scenario.services.push_back(scenario.services.front());
  scenario.services.back().name = "c";
  std::set<std::size_t> pinned;
  for (ServiceSpec& service : scenario.services) {
    if (by_chance(rng, 6)) service.floor_attainment = Decimal(9, 10);
    if (by_chance(rng, 3)) service.changes_per_hour = static_cast<std::int64_t>(rng.below(4));
    if (by_chance(rng, 4)) service.trust_domain = by_chance(rng, 2) ? "x" : "y";
    service.isolation = by_chance(rng, 6) ? Isolation::kGpu : by_chance(rng, 2) ? Isolation::kMig : Isolation::kMps;
    const std::size_t site = rng.below(sites().size());
    if (by_chance(rng, 4) && pinned.insert(site).second) service.pins.push_back({sites()[site]});
  }
  if (by_chance(rng, 4)) scenario.interference = {Decimal(1), Decimal(5, 4), Decimal(11, 10)};
}

std::vector<ServiceId> draw_holders(Rng& rng) {
  std::vector<ServiceId> holders;
  if (by_chance(rng, 8)) return holders;
  holders.push_back({static_cast<std::uint32_t>(rng.below(kServices))});
  const ServiceId other{static_cast<std::uint32_t>(rng.below(kServices))};
  if (by_chance(rng, 6) && other != holders.front()) holders.push_back(other);
  std::ranges::sort(holders);
  return holders;
}

Holding draw_holding(Rng& rng, const Slice& slice) {
  Holding holding = held(slice, draw_holders(rng));
  if (holding.services.size() == 1 && by_chance(rng, 5)) holding.role = Role::kRetraining;
  return holding;
}

void draw_snapshot(Rng& rng, Snapshot& snapshot) {
  snapshot.services.resize(kServices);
  const bool is_first = by_chance(rng, 12);
  snapshot.now = is_first ? Instant() : kNow;
  if (is_first) return;
  for (const Slice& slice : sites()) {
    if (by_chance(rng, 10)) snapshot.slices.push_back({.holding = draw_holding(rng, slice), .is_leaving = true});
    if (by_chance(rng, 2)) snapshot.slices.push_back({.holding = draw_holding(rng, slice), .is_ready = true});
  }
  for (ServiceState& service : snapshot.services) {
    for (const std::int64_t ago : {4000, 3600, 3599, 100, 0}) {
      if (by_chance(rng, 4)) service.changes.push_back({.at = kNow - Micros::seconds(ago), .count = 1});
    }
  }
}

/// Actions that the legal check accepts; it is checked again below.
void draw_actions(Rng& rng, Draw& draw) {
  std::set<Slice> stands;
  for (const StandingSlice& standing : draw.snapshot.slices) {
    if (!standing.is_leaving) stands.insert(standing.holding.slice);
  }
  const std::size_t count = 1 + rng.below(draw.snapshot.slices.empty() ? 12 : 5);
  for (std::size_t i = 0; i < count; ++i) {
    const Slice& slice = sites()[rng.below(sites().size())];
    if (!stands.contains(slice)) {
      stands.insert(slice);
      draw.plan.actions.push_back(create(slice));
    } else if (by_chance(rng, 3)) {
      stands.erase(slice);
      draw.plan.actions.push_back(destroy(slice));
      continue;
    }
    Action action = give(draw_holding(rng, slice));
    const bool is_named = by_chance(rng, 4);
    const PointChoice named{.variant = 0, .batch = 1, .processes = by_chance(rng, 12) ? 2 : 1};
    if (is_named) std::get<AssignSlice>(action.what).point = named;
    if (!by_chance(rng, 6)) draw.plan.actions.push_back(action);
  }
}

// ---- the naive judge

/// One life of a slice.
struct Life {
  Slice slice;
  std::vector<ServiceId> first_holders;
  std::vector<ServiceId> holders;
  Role role = Role::kInference;
  bool is_new = false;
  bool is_over = false;
};

std::vector<Life> lives_of(const Draw& draw) {
  std::vector<Life> lives;
  for (const StandingSlice& standing : draw.snapshot.slices) {
    if (standing.is_leaving) continue;
    const Holding& holding = standing.holding;
    lives.push_back({holding.slice, holding.services, holding.services, holding.role, false, false});
  }
  const auto living = [&](const Slice& slice) -> Life& {
    return *std::ranges::find_if(lives, [&](const Life& life) { return life.slice == slice && !life.is_over; });
  };
  for (const Action& action : draw.plan.actions) {
    if (const auto* cut = std::get_if<CreateSlice>(&action.what))
      lives.push_back({cut->slice, {}, {}, {}, true, false});
    if (const auto* gone = std::get_if<DestroySlice>(&action.what)) living(gone->slice).is_over = true;
    if (const auto* given = std::get_if<AssignSlice>(&action.what)) {
      living(given->holding.slice).holders = given->holding.services;
      living(given->holding.slice).role = given->holding.role;
    }
  }
  return lives;
}

std::int64_t changes_of(const std::vector<Life>& lives, ServiceId service) {
  std::int64_t changes = 0;
  for (const Life& life : lives) {
    if (life.is_new) changes += std::ranges::count(life.holders, service);
    if (life.is_over) changes += std::ranges::count(life.is_new ? life.holders : life.first_holders, service);
  }
  return changes;
}

/// The requests per second of a service's slices: 1g, 2g and 3g serve 100, 200 and 300.
double capacity_of(const Draw& draw, const std::vector<Life>& lives, ServiceId service) {
  double sum = 0;
  for (const Life& life : lives) {
    if (life.is_over || life.role == Role::kRetraining) continue;
    const GpuModel& model = draw.scenario.model_of(life.slice.gpu);
    const double rate = 100.0 * model.profiles[life.slice.profile.index].compute_slices;
    if (std::ranges::count(life.holders, service) > 0) sum += rate / static_cast<double>(life.holders.size());
  }
  return draw.scenario.interference.size() > 1 ? sum / 1.25 : sum;
}

bool does_touch(const Draw& draw, GpuId gpu) {
  if (draw.snapshot.slices.empty() && draw.snapshot.now == Instant()) return true;
  return std::ranges::any_of(draw.plan.actions, [&](const Action& action) {
    if (const auto* cut = std::get_if<CreateSlice>(&action.what)) return cut->slice.gpu == gpu;
    if (const auto* gone = std::get_if<DestroySlice>(&action.what)) return gone->slice.gpu == gpu;
    return std::get<AssignSlice>(action.what).holding.slice.gpu == gpu;
  });
}

bool keeps_pin(const Draw& draw, const std::vector<Life>& lives, const Slice& slice, ServiceId owner) {
  for (const Action& action : draw.plan.actions) {
    const auto* gone = std::get_if<DestroySlice>(&action.what);
    const auto* given = std::get_if<AssignSlice>(&action.what);
    if (gone != nullptr && gone->slice == slice) return false;
    const bool is_given = given != nullptr && given->holding.slice == slice;
    if (is_given && given->holding.services != std::vector{owner}) return false;
  }
  return !does_touch(draw, slice.gpu) || std::ranges::any_of(lives, [&](const Life& life) {
    return life.slice == slice && !life.is_over && life.holders == std::vector{owner};
  });
}

/// Whether two services share a slice (or a GPU) that the plan acts on.
bool do_meet(const Draw& draw, const std::vector<Life>& lives, ServiceId one, ServiceId other, bool is_in_slice) {
  for (const Life& mine : lives) {
    for (const Life& theirs : lives) {
      if (mine.is_over || theirs.is_over || !does_touch(draw, mine.slice.gpu)) continue;
      if (is_in_slice ? mine.slice != theirs.slice : mine.slice.gpu != theirs.slice.gpu) continue;
      if (std::ranges::count(mine.holders, one) > 0 && std::ranges::count(theirs.holders, other) > 0) return true;
    }
  }
  return false;
}

bool names_unmeasured_point(const Draw& draw) {
  return std::ranges::any_of(draw.plan.actions, [](const Action& action) {
    const auto* given = std::get_if<AssignSlice>(&action.what);
    return given != nullptr && given->point && given->point->processes == 2 && !given->holding.services.empty() &&
           given->holding.role == Role::kInference;
  });
}

/// The names of all constraints that the plan breaks.
std::set<std::string> broken_by(const Draw& draw, const std::vector<Life>& lives) {
  std::set<std::string> broken;
  if (names_unmeasured_point(draw)) broken.insert("point");
  const bool is_first = draw.snapshot.slices.empty() && draw.snapshot.now == Instant();
  for (std::uint32_t index = 0; index < kServices; ++index) {
    const ServiceSpec& spec = draw.scenario.services[index];
    const ServiceId service{index};
    for (const Pin& pin : spec.pins) {
      if (!keeps_pin(draw, lives, pin.slice, service)) broken.insert(spec.name + ".pins");
    }
    for (std::uint32_t neighbour = 0; neighbour < kServices; ++neighbour) {
      if (neighbour == index) continue;
      const bool is_near = do_meet(draw, lives, service, {neighbour}, false);
      const bool is_inside = do_meet(draw, lives, service, {neighbour}, true);
      const bool is_hurt = spec.isolation == Isolation::kGpu ? is_near : spec.isolation == Isolation::kMig && is_inside;
      if (is_hurt) broken.insert(spec.name + ".isolation");
      const bool is_stranger = spec.trust_domain && draw.scenario.services[neighbour].trust_domain != spec.trust_domain;
      if (is_near && is_stranger) broken.insert(spec.name + ".trust_domain");
    }
    std::int64_t recent = 0;
    for (const ChangeCount& change : draw.snapshot.services[index].changes) {
      recent += change.at > kNow - Micros::seconds(3600) ? change.count : 0;
    }
    const std::int64_t changes = changes_of(lives, service);
    const bool is_over = !is_first && spec.changes_per_hour && changes > 0 && recent + changes > *spec.changes_per_hour;
    if (is_over) broken.insert(spec.name + ".changes_per_hour");
  }
  return broken;
}

/// States floors, correct or wrong in one of the possible ways; returns the constraint that is then broken, if any.
std::set<std::string> state_floors(Rng& rng, const std::vector<Life>& lives, Draw& draw) {
  std::set<std::string> broken;
  const bool is_admitted = by_chance(rng, 5);
  std::vector<ConstraintId> floors;
  for (std::uint32_t index = 0; index < kServices; ++index) {
    const ServiceSpec& spec = draw.scenario.services[index];
    if (!spec.floor_attainment) continue;
    if (is_admitted) floors.push_back(constraint_of({index}, ConstraintKind::kFloor));
    const double planned = capacity_of(draw, lives, {index});
    const std::uint64_t way = rng.below(8);
    const bool is_missing = way == 0;
    const bool is_lie = way == 1;
    const bool is_short = way == 2;
    if (is_missing || is_lie || (is_short && !is_admitted)) broken.insert(spec.name + ".floor");
    if (is_missing) continue;
    // Where a plan may leave a floor unmet, no plan meets it.
    const double missed = is_admitted ? 1e6 : planned * 1.01 + 1;
    draw.plan.floors.push_back({.service = {index},
                                .needed = is_short ? missed : planned * rng.unit(),
                                .planned = is_lie ? planned * 1.01 + 1 : planned});
  }
  if (!is_admitted) return broken;
  draw.plan.unmet_floors = FloorsNotDecided{};
  if (rng.below(2) == 0) draw.plan.unmet_floors = ProvenConflict{.constraints = floors};
  return broken;
}

/// The constraint that a message names in brackets, or "point".
std::string named_in(const std::string& message) {
  if (message.find("wanted a measured point") != std::string::npos) return "point";
  const auto from = message.find('(');
  const auto to = message.find(')', from);
  return from == std::string::npos ? message : message.substr(from + 1, to - from - 1);
}

TEST(ConstraintsProperty, AgreesWithANaiveJudge) {
  std::map<std::string, int> seen;
  for (const std::uint64_t seed : testing::case_seeds(kConstraintCases)) {
    Rng rng(seed);
    Draw draw;
    draw_rules(rng, draw.scenario);
    draw_snapshot(rng, draw.snapshot);
    draw_actions(rng, draw);
    const std::vector<Life> lives = lives_of(draw);
    const std::set<std::string> lies = state_floors(rng, lives, draw);
    ASSERT_EQ(find_objection(draw.scenario, draw.snapshot, draw.plan, kNow), std::nullopt) << seed;
    if (draw.plan.actions.empty()) continue;
    std::set<std::string> broken = broken_by(draw, lives);
    // A point that does not exist has no rate to compare.
    if (!broken.contains("point")) broken.insert(lies.begin(), lies.end());
    const auto breach = find_breach(draw.scenario, draw.snapshot, draw.plan, kNow);
    ASSERT_EQ(breach.has_value(), !broken.empty()) << seed << ": " << breach.value_or("nothing found");
    const std::string named = breach ? named_in(*breach) : ".accepted";
    ASSERT_TRUE(!breach || broken.contains(named)) << seed << ": " << *breach;
    ++seen[named.substr(std::min(named.find('.'), named.size()))];
  }
  for (const char* kind : {".accepted", ".pins", ".isolation", ".trust_domain", ".changes_per_hour", ".floor", ""}) {
    EXPECT_GT(seen[kind], static_cast<int>(kConstraintCases / 200)) << kind;
  }
}

}  // namespace
}  // namespace berth
