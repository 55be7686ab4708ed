#include "live/session/service_watch.h"

#include <gtest/gtest.h>

#include <utility>

#include "live/session/demo.h"

namespace berth::live {
namespace {

constexpr std::size_t kPlaced = 0;
constexpr std::size_t kServing = 1;
constexpr std::size_t kFloorMet = 2;

/// One service of the demo's fleet, with a floor.
Scenario scenario_of_one() {
  Scenario scenario = demo_scenario();
  scenario.services.resize(1);
  scenario.services[0].floor_attainment = Decimal(9, 10);
  return scenario;
}

StandingSlice slice_at(int start, std::uint64_t generation) {
  StandingSlice standing;
  standing.holding.slice = {.gpu = {0}, .start = start, .profile = {0}};
  standing.holding.services = {{0}};
  standing.generation = generation;
  standing.assignment = generation;
  return standing;
}

struct Watched {
  Scenario scenario = scenario_of_one();
  ServiceWatch watch{scenario, true};
  Snapshot snapshot;

  void at(std::int64_t second, std::vector<StandingSlice> slices) {
    snapshot.now = Instant::at_second(second);
    snapshot.slices = std::move(slices);
    watch.update(snapshot);
  }
  [[nodiscard]] ServicePhase phase() const { return watch.slices_of({0}).phase(); }
  [[nodiscard]] Condition condition(std::size_t type) const { return watch.conditions_of({0})[type]; }
};

TEST(ServiceWatch, PhasesFollowTheSlices) {
  Watched watched;
  watched.at(0, {});
  EXPECT_EQ(watched.phase(), ServicePhase::kWaiting);
  StandingSlice slice = slice_at(0, 1);
  watched.at(1, {slice});
  EXPECT_EQ(watched.phase(), ServicePhase::kStarting);
  slice.is_ready = true;
  watched.at(2, {slice});
  EXPECT_EQ(watched.phase(), ServicePhase::kRunning);
  slice.is_ready = false;
  slice.is_leaving = true;
  watched.at(3, {slice});
  EXPECT_EQ(watched.phase(), ServicePhase::kDraining);
  watched.at(4, {});
  EXPECT_EQ(watched.phase(), ServicePhase::kWaiting);
}

TEST(ServiceWatch, ASliceThatRetrainsDoesNotServe) {
  Watched watched;
  StandingSlice slice = slice_at(0, 1);
  slice.is_ready = true;
  slice.holding.role = Role::kRetraining;
  watched.at(0, {slice});
  EXPECT_EQ(watched.phase(), ServicePhase::kStarting);
  EXPECT_EQ(watched.condition(kServing).status, ConditionStatus::kFalse);
  EXPECT_EQ(watched.watch.state_of(watched.snapshot, 0), SliceState::kRetraining);
}

TEST(ServiceWatch, SinceIsWhenTheStatusChanged) {
  Watched watched;
  StandingSlice slice = slice_at(0, 1);
  watched.at(0, {});
  watched.at(5, {});
  EXPECT_EQ(watched.condition(kPlaced).since, Instant::at_second(0));
  watched.at(7, {slice});
  slice.is_ready = true;
  watched.at(9, {slice});
  EXPECT_EQ(watched.condition(kPlaced).status, ConditionStatus::kTrue);
  EXPECT_EQ(watched.condition(kPlaced).since, Instant::at_second(7));
  EXPECT_EQ(watched.condition(kServing).since, Instant::at_second(9));
  // Another slice changes the message, not the status.
  StandingSlice other = slice_at(1, 2);
  watched.at(12, {slice, other});
  EXPECT_EQ(watched.condition(kPlaced).message, "holds 2 slices");
  EXPECT_EQ(watched.condition(kPlaced).since, Instant::at_second(7));
  EXPECT_EQ(watched.condition(kServing).message, "1 of 2 slices serve");
}

TEST(ServiceWatch, AnotherSpecDoesNotChangeSince) {
  Watched watched;
  StandingSlice slice = slice_at(0, 1);
  slice.is_ready = true;
  watched.at(3, {slice});
  watched.scenario.services[0].floor_attainment.reset();
  watched.watch.read_spec({0});
  watched.at(9, {slice});
  EXPECT_EQ(watched.condition(kPlaced).since, Instant::at_second(3));
  EXPECT_EQ(watched.condition(kServing).since, Instant::at_second(3));
  EXPECT_EQ(watched.condition(kFloorMet).status, ConditionStatus::kTrue);  // it was unknown
  EXPECT_EQ(watched.condition(kFloorMet).since, Instant::at_second(9));
  // The reason why it fits nowhere is determined again.
  watched.scenario.services[0].table.points.clear();
  watched.watch.read_spec({0});
  watched.at(12, {});
  EXPECT_EQ(watched.condition(kPlaced).reason, "FitsNoGpu");
  EXPECT_EQ(watched.condition(kPlaced).since, Instant::at_second(12));
}

TEST(ServiceWatch, KnowsTheModelsThatSomeServiceIsMeasuredOn) {
  Watched watched;
  const std::string model = watched.scenario.fleet.front().model.name;
  EXPECT_TRUE(watched.watch.has_profile_for(model));
  EXPECT_FALSE(watched.watch.has_profile_for("T4-16GB"));
  Variant small{.name = "small", .table = {.model = "m", .points = {}}, .accuracy = {}};
  small.table.points.push_back({.gpu = "T4-16GB", .profile = "full", .requests_per_second = {}, .latency_ms = {}});
  watched.scenario.services[0].variants.push_back(small);
  watched.watch.read_spec({0});
  EXPECT_TRUE(watched.watch.has_profile_for("T4-16GB"));
  watched.scenario.services[0].is_absent = true;
  watched.watch.forget({0});
  EXPECT_FALSE(watched.watch.has_profile_for(model)) << "no service is there";
}

TEST(ServiceWatch, AnotherServiceAtThePlaceBeginsAnew) {
  Watched watched;
  Solution solution;
  solution.floors = {{{.service = {0}, .needed = 100, .planned = 100}}};
  watched.watch.plan_made(solution);
  watched.at(1, {});
  EXPECT_EQ(watched.condition(kFloorMet).status, ConditionStatus::kTrue);
  watched.watch.forget({0});
  watched.at(5, {});
  EXPECT_EQ(watched.condition(kPlaced).since, Instant::at_second(5));
  EXPECT_EQ(watched.condition(kFloorMet).status, ConditionStatus::kUnknown) << "the floor was its predecessor's";
}

TEST(ServiceWatch, AConflictThatNamesAServiceGoesWithIt) {
  Watched watched;
  watched.scenario.services.push_back(std::as_const(watched.scenario.services)[0]);
  Solution solution;
  solution.floors = {{{.service = {0}, .needed = 100, .planned = 99}}};
  solution.plan.unmet_floors = ProvenConflict{
      .constraints = {constraint_of({0}, ConstraintKind::kFloor), constraint_of({1}, ConstraintKind::kPins)}};
  watched.watch.plan_made(solution);
  watched.at(1, {});
  EXPECT_EQ(watched.condition(kFloorMet).reason, "Conflict");
  watched.watch.forget({1});
  watched.at(2, {});
  EXPECT_EQ(watched.condition(kFloorMet).status, ConditionStatus::kFalse);
  EXPECT_EQ(watched.condition(kFloorMet).reason, "NotDecided");
}

TEST(ServiceWatch, FloorMetFollowsTheLastPlan) {
  Watched watched;
  watched.at(0, {});
  EXPECT_EQ(watched.condition(kFloorMet).status, ConditionStatus::kUnknown);
  Solution solution;
  solution.floors = {{{.service = {0}, .needed = 100, .planned = 100}}};
  watched.watch.plan_made(solution);
  watched.at(1, {});
  EXPECT_EQ(watched.condition(kFloorMet).status, ConditionStatus::kTrue);
  EXPECT_EQ(watched.condition(kFloorMet).since, Instant::at_second(1));
  solution.floors->front().planned = 99;
  solution.plan.unmet_floors = ProvenConflict{.constraints = {constraint_of({0}, ConstraintKind::kFloor)}};
  watched.watch.plan_made(solution);
  // The next plan changes nothing, and does not look for the reason again; an order does not mention floors.
  solution.plan.unmet_floors.reset();
  watched.watch.plan_made(solution);
  Solution order;
  order.plan.is_ordered = true;
  watched.watch.plan_made(order);
  watched.at(2, {});
  const Condition unmet = watched.condition(kFloorMet);
  EXPECT_EQ(unmet.status, ConditionStatus::kFalse);
  EXPECT_EQ(unmet.reason, "Conflict");
  EXPECT_NE(unmet.message.find("planned 99.0 requests per second, needed 100.0"), std::string::npos) << unmet.message;
  EXPECT_NE(unmet.message.find("no plan keeps all of"), std::string::npos) << unmet.message;
}

TEST(ServiceWatch, AFailureIsTheReasonUntilAPlanKnowsIt) {
  Watched watched;
  const auto plan_at = [&](std::int64_t second) {
    Solution solution;
    solution.plan.made_at = Instant::at_second(second);
    watched.watch.plan_made(solution);
  };
  watched.snapshot.services.emplace_back();
  plan_at(0);
  watched.at(5, {slice_at(0, 1)});
  watched.watch.slice_failed({0}, "its slice was lost with gpu-0");
  watched.at(6, {});
  plan_at(4);
  EXPECT_EQ(watched.condition(kPlaced).message, "its slice was lost with gpu-0") << "that plan did not know it";
  plan_at(7);
  EXPECT_EQ(watched.condition(kPlaced).reason, "NoSlice");
}

TEST(ServiceWatch, AServiceWhoseChangesAreUsedUpSaysSo) {
  Watched watched;
  watched.scenario.services[0].changes_per_hour = 3;
  ServiceState& service = watched.snapshot.services.emplace_back();
  service.changes.push_back({.at = Instant::at_second(10), .count = 3});
  Solution solution;
  solution.plan.made_at = Instant::at_second(20);
  watched.watch.plan_made(solution);
  watched.at(20, {});
  EXPECT_EQ(watched.condition(kPlaced).reason, "ChangesUsedUp");
  EXPECT_EQ(watched.condition(kPlaced).message, "its 3 changes per hour are used up");
  watched.at(3611, {});
  EXPECT_EQ(watched.condition(kPlaced).reason, "NoSlice") << "an hour later";
}

TEST(ServiceWatch, AServiceWithoutASliceSaysWhy) {
  Watched watched;
  const auto reason = [&] { return watched.condition(kPlaced).reason; };
  ServiceState& service = watched.snapshot.services.emplace_back();
  service.since = Instant::at_second(3);
  watched.at(3, {});
  EXPECT_EQ(reason(), "NotPlanned");
  Solution solution;
  solution.plan.made_at = Instant::at_second(2);
  watched.watch.plan_made(solution);
  EXPECT_EQ(reason(), "NotPlanned") << "that plan did not know it";
  solution.plan.made_at = Instant::at_second(3);
  watched.watch.plan_made(solution);
  EXPECT_EQ(reason(), "NoSlice");

  for (std::int64_t second = 3; second < 103; ++second) service.seconds.push_back({.service = {0}, .second = second});
  watched.at(103, {});
  EXPECT_EQ(reason(), "NoLoad");
  watched.watch.slice_failed({0}, "the creation failed");
  EXPECT_EQ(reason(), "SliceFailed");
  Plan proposal;
  proposal.id = 7;
  proposal.actions = {{.what = AssignSlice{.holding = slice_at(0, 1).holding, .point = std::nullopt}, .reason = {}}};
  watched.watch.proposal_waits(proposal);
  EXPECT_EQ(watched.condition(kPlaced).message, "plan-7 gives it slices, and awaits approval");
  watched.watch.proposal_ended();
  EXPECT_EQ(reason(), "SliceFailed");
  watched.scenario.frozen = {{.from = Instant::at_second(100), .until = Instant::at_second(104)}};
  watched.at(103, {});
  EXPECT_EQ(reason(), "Frozen");
  EXPECT_EQ(watched.condition(kPlaced).message, "a frozen window: no change begins before second 104 of the world");
  watched.scenario.no_changes = {.week_at_start = Micros::seconds(20),
                                 .spans = {{.from_minute = 2, .until_minute = 3}}};
  watched.at(102, {});
  EXPECT_EQ(watched.condition(kPlaced).message,
            "a window without changes: no change begins before second 160 of the world");
  watched.scenario.no_changes = {};
  watched.snapshot.gpus.resize(watched.scenario.gpu_count());
  for (GpuState& gpu : watched.snapshot.gpus) gpu.health = GpuHealth::kLost;
  watched.at(104, {});
  EXPECT_EQ(reason(), "NoOpenGpu");
  watched.snapshot.pause = PlanningPause{.reason = "upgrade", .since = Instant::at_second(104)};
  watched.at(104, {});
  EXPECT_EQ(watched.condition(kPlaced).message, "planning is paused: upgrade");

  // Once it serves, an old failure explains nothing.
  watched.snapshot.pause.reset();
  watched.snapshot.gpus.clear();
  StandingSlice slice = slice_at(0, 1);
  slice.is_ready = true;
  watched.at(105, {slice});
  watched.at(106, {});
  EXPECT_EQ(reason(), "NoLoad");
}

TEST(ServiceWatch, NoFloorIsMet) {
  Watched watched;
  watched.scenario.services[0].floor_attainment.reset();
  watched.at(0, {});
  EXPECT_EQ(watched.condition(kFloorMet).status, ConditionStatus::kTrue);
  EXPECT_EQ(watched.condition(kFloorMet).reason, "NoFloor");
}

TEST(ServiceWatch, AServiceThatFitsNoGpuSaysWhatItWouldNeed) {
  Watched watched;
  watched.scenario.services[0].table.points = {{.gpu = "B200-180GB",
                                                .profile = "1g.23gb",
                                                .batch = 1,
                                                .processes = 1,
                                                .requests_per_second = Decimal(10),
                                                .latency_ms = Decimal(10)}};
  watched.at(0, {});
  const Condition placed = watched.condition(kPlaced);
  EXPECT_EQ(placed.status, ConditionStatus::kFalse);
  EXPECT_EQ(placed.reason, "FitsNoGpu");
  EXPECT_NE(placed.message.find("B200-180GB 1g.23gb"), std::string::npos) << placed.message;
  EXPECT_NE(placed.message.find("A100-80GB"), std::string::npos) << placed.message;
}

TEST(ServiceWatch, AWholeGpuThatCannotBeUsedFitsNobody) {
  Watched watched;
  watched.scenario.services[0].table.points = {{.gpu = "A100-80GB",
                                                .profile = "full",
                                                .batch = 1,
                                                .processes = 1,
                                                .requests_per_second = Decimal(10),
                                                .latency_ms = Decimal(10)}};
  watched.at(0, {});
  EXPECT_NE(watched.condition(kPlaced).reason, "FitsNoGpu");
  watched.scenario.fleet[0].model.has_full = false;
  watched.watch.read_spec({0});
  watched.at(1, {});
  EXPECT_EQ(watched.condition(kPlaced).reason, "FitsNoGpu");
  EXPECT_NE(watched.condition(kPlaced).message.find("A100-80GB without full"), std::string::npos);
}

TEST(ServiceWatch, AGpuWithASliceOfOthersIsNamed) {
  Watched watched;
  watched.scenario.fleet.resize(1);
  watched.scenario.fleet[0].count = 2;
  Solution planned;
  planned.plan.made_at = Instant::at_second(5);
  watched.watch.plan_made(planned);
  const auto foreign_on = [](std::uint32_t gpu) {
    return StandingSlice{.holding = {.slice = {.gpu = {gpu}, .start = 0, .profile = {0}}, .services = {}},
                         .is_foreign = true};
  };
  watched.at(6, {foreign_on(1)});
  EXPECT_EQ(watched.condition(kPlaced).reason, "NoSlice");
  EXPECT_TRUE(watched.condition(kPlaced).message.ends_with(
      "; gpu-1: a slice of others stands there, and no plan changes anything on that GPU"))
      << watched.condition(kPlaced).message;
  watched.snapshot.gpus.resize(1);
  watched.snapshot.gpus[0].scheduling = GpuScheduling::kCordoned;
  watched.at(7, {foreign_on(1)});
  EXPECT_EQ(watched.condition(kPlaced).reason, "NoOpenGpu");
  EXPECT_EQ(watched.condition(kPlaced).message,
            "gpu-1: a slice of others stands there, and no plan changes anything on that GPU; every other GPU is lost, "
            "cordoned or draining");
  watched.snapshot.gpus.clear();
  watched.at(8, {foreign_on(0), foreign_on(1)});
  EXPECT_EQ(watched.condition(kPlaced).message,
            "gpu-0, gpu-1: slices of others stand there, and no plan changes anything on those GPUs");
}

TEST(ServiceWatch, ASliceIsCreatingUntilTheWorldHasCreatedIt) {
  Watched watched;
  StandingSlice old_slice = slice_at(0, 1);
  old_slice.is_ready = true;
  watched.watch.slice_created(old_slice.holding.slice);
  watched.at(0, {old_slice});
  EXPECT_EQ(watched.watch.state_of(watched.snapshot, 0), SliceState::kServing);
  // Its successor at the same place waits until it is gone.
  old_slice.is_ready = false;
  old_slice.is_leaving = true;
  const StandingSlice successor = slice_at(0, 2);
  watched.at(1, {successor, old_slice});
  EXPECT_EQ(watched.watch.state_of(watched.snapshot, 0), SliceState::kCreating);
  EXPECT_EQ(watched.watch.state_of(watched.snapshot, 1), SliceState::kDraining);
  EXPECT_EQ(watched.watch.seen_at(0), Instant::at_second(1));
  EXPECT_EQ(watched.watch.seen_at(1), Instant::at_second(0));
  watched.watch.slice_gone(old_slice.holding.slice);
  watched.at(2, {successor});
  EXPECT_EQ(watched.watch.state_of(watched.snapshot, 0), SliceState::kCreating);
  watched.watch.slice_created(successor.holding.slice);
  EXPECT_EQ(watched.watch.state_of(watched.snapshot, 0), SliceState::kStarting);
  EXPECT_EQ(watched.watch.seen_at(0), Instant::at_second(1));
}

}  // namespace
}  // namespace berth::live
