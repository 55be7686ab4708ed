#include "planner/window/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/core/rng.h"
#include "domain/mig/catalogue.h"

namespace berth::planner {
namespace {

/// Two services on A100s, measured on every size; a load of 10 and 40 requests per second, without rules.
Scenario plain_scenario(std::int64_t gpus = 1) {
  Scenario scenario;
  scenario.fleet = {{.model = *mig::find_gpu_model("A100-80GB"), .count = gpus, .usd_per_gpu_hour = {}}};
  for (const char* name : {"a", "b"}) {
    ServiceSpec service;
    service.name = service.tenant = name;
    service.target = Micros(100'000);
    service.target_ms = Decimal(100);
    service.arrivals.seconds = 600;
    for (const char* profile : {"1g.10gb", "2g.20gb", "3g.40gb", "7g.80gb"}) {
      const std::int64_t size = profile[0] - '0';
      service.table.points.push_back({.gpu = "A100-80GB",
                                      .profile = profile,
                                      .batch = 1,
                                      .processes = 1,
                                      .requests_per_second = Decimal(100 * size),
                                      .latency_ms = Decimal(10, size)});
    }
    scenario.services.push_back(service);
  }
  return scenario;
}

Slice a100_slice(std::uint32_t gpu, const char* profile, int start) {
  return {.gpu = {gpu}, .start = start, .profile = *mig::find_profile(*mig::find_gpu_model("A100-80GB"), profile)};
}

Moment moment_at(std::int64_t second, int slots) {
  Moment moment;
  moment.begins = Instant::at_second(second);
  moment.slots = slots;
  moment.tail_seconds = 100;
  moment.retraining.resize(2);
  for (const double load : {10.0, 40.0}) {
    moment.outlooks.push_back({.loads = std::vector<double>(static_cast<std::size_t>(slots) + 1, load),
                               .mean_rate = load,
                               .changes_left = std::nullopt});
  }
  return moment;
}

Problem problem_of(const Scenario& scenario, const Moment& moment) {
  return make_problem(scenario, make_frame(scenario), moment);
}

Retraining every(std::int64_t seconds, std::int64_t offset) {
  Retraining retraining;
  retraining.every = Micros::seconds(seconds);
  retraining.offset = Micros::seconds(offset);
  retraining.time_on = {{1, Micros::seconds(40)}, {3, Micros::seconds(20)}};
  return retraining;
}

// ---- retraining

struct DueCase {
  const char* what;
  Micros every;
  Micros offset;
  std::int64_t begins;
  int slots;
  std::vector<int> due;
  double tail_fresh;  ///< of a tail of 100 s
};

TEST(Window, DueSlotsLieInTheWindowAndNotAtItsFirstInstant) {
  const std::vector<DueCase> cases = {
      {"two", Micros::seconds(30), Micros::seconds(10), 5, 60, {5, 35}, 5},
      {"at the begin: was due before", Micros::seconds(30), Micros::seconds(10), 40, 60, {30}, 0},
      {"at the end: the first of the tail", Micros::seconds(30), Micros::seconds(10), 10, 30, {}, 0},
      {"the first is to come", Micros::seconds(500), Micros::seconds(100), 0, 60, {}, 40},
      {"at second 0", Micros::seconds(50), Micros(), 0, 60, {50}, 40},
      {"longer than window and tail", Micros::seconds(500), Micros(), 10, 60, {}, 100},
      {"within a second", Micros(2'500'000), Micros(), 0, 6, {2, 5}, 1.5},
      {"twice within a second", Micros(400'000), Micros(), 0, 2, {0, 1}, 0},
  };
  for (const DueCase& each : cases) {
    SCOPED_TRACE(each.what);
    Scenario scenario = plain_scenario();
    Retraining retraining = every(1, 0);
    retraining.every = each.every;
    retraining.offset = each.offset;
    scenario.services[0].retraining = retraining;
    const Problem problem = problem_of(scenario, moment_at(each.begins, each.slots));
    ASSERT_TRUE(problem.services[0].retraining.has_value());
    EXPECT_FALSE(problem.services[1].retraining.has_value());
    EXPECT_THAT(problem.services[0].retraining->due_slots, ::testing::ElementsAreArray(each.due));
    EXPECT_NEAR(problem.services[0].retraining->tail_fresh_seconds, each.tail_fresh, 1e-9);
  }
}

TEST(Window, WhereARetrainingStands) {
  Scenario scenario = plain_scenario();
  scenario.services[0].retraining = every(300, 0);
  scenario.services[0].retraining->swap = Micros(1'200'000);
  Moment moment = moment_at(10, 60);
  const auto terms = [&](const RetrainingNow& now) {
    moment.retraining[0] = now;
    return *problem_of(scenario, moment).services[0].retraining;
  };
  const RetrainingTerms half = terms({.is_stale = true, .progress = 0.5, .fresh_in = {}});
  EXPECT_TRUE(half.is_stale);
  EXPECT_EQ(half.progress, 0.5);
  EXPECT_EQ(half.fresh_in, 0);
  EXPECT_EQ(half.swap_slots, 2);  // not fresh before
  EXPECT_FALSE(half.keeps_unfinished);
  // A stale model is not done, whatever its progress.
  EXPECT_LT(terms({.is_stale = true, .progress = 1.2, .fresh_in = {}}).progress, kDone);
  EXPECT_GT(terms({.is_stale = true, .progress = 1.2, .fresh_in = {}}).progress, 0.999);
  const RetrainingTerms swaps = terms({.is_stale = false, .progress = 0, .fresh_in = Micros(2'100'000)});
  EXPECT_TRUE(swaps.is_stale);
  EXPECT_EQ(swaps.fresh_in, 3);
  EXPECT_EQ(swaps.progress, 0);
  EXPECT_FALSE(terms({.is_stale = false, .progress = 0.5, .fresh_in = {}}).is_stale);
  EXPECT_EQ(terms({.is_stale = false, .progress = 0.5, .fresh_in = {}}).progress, 0);
  scenario.services[0].retraining->keeps_unfinished = true;
  EXPECT_TRUE(terms({}).keeps_unfinished);
}

TEST(Window, ProgressAtTheEndIsWorthPartOfTheBetterAnswersUntilTheNextIsDue) {
  Scenario scenario = plain_scenario();
  scenario.services[0].retraining = every(300, 0);
  scenario.services[0].accuracy = {.before_micro = 600'000, .after_micro = 900'000};
  const auto worth = [&](const Moment& moment) {
    return problem_of(scenario, moment).services[0].retraining->progress_value;
  };
  const Moment moment = moment_at(0, 100);
  const double value = 0.5 / 10;                       // half of the services' weight, of 10 requests per second
  const double most = 0.3 * value * 10 * (300 - 100);  // all answers from the window's end on until the next is due
  const double usual = worth(moment);
  EXPECT_GT(usual, 0.3 * most);
  EXPECT_LE(usual, most);
  // In proportion to the time left until then, to the tail's load and to the gain.
  EXPECT_NEAR(worth(moment_at(50, 150)), usual / 2, 1e-9 * usual);
  EXPECT_NEAR(worth(moment_at(0, 300)), 0, 1e-12);
  Moment busier = moment;
  busier.outlooks[0].loads.back() = 30;
  EXPECT_NEAR(worth(busier), 3 * usual, 1e-9 * usual);
  scenario.services[0].accuracy = {.before_micro = 800'000, .after_micro = 900'000};
  EXPECT_NEAR(worth(moment), usual / 3, 1e-9 * usual);
  scenario.services[0].accuracy = {.before_micro = 900'000, .after_micro = 800'000};
  EXPECT_EQ(worth(moment), 0);
}

TEST(Window, AFreshModelAtTheEndIsWorthWhatLiesBeyondTheTail) {
  Scenario scenario = plain_scenario();
  scenario.services[0].retraining = every(300, 0);
  scenario.services[0].accuracy = {.before_micro = 600'000, .after_micro = 900'000};
  const auto terms = [&](const Moment& moment) { return *problem_of(scenario, moment).services[0].retraining; };
  Moment moment = moment_at(0, 100);
  moment.tail_seconds = 50;
  const double value = 0.5 / 10;
  EXPECT_NEAR(terms(moment).fresh_value, 0.3 * value * 10 * (300 - 100 - 50), 1e-9);
  EXPECT_LT(terms(moment).progress_value, 0.3 * value * 10 * (300 - 100))
      << "what is done is worth more than nearly done";
  moment.tail_seconds = 250;
  EXPECT_EQ(terms(moment).fresh_value, 0) << "the tail counts it all";
  // Nothing is answered after the run.
  moment.tail_seconds = 50;
  moment.seconds_beyond_tail = 30;
  EXPECT_NEAR(terms(moment).fresh_value, 0.3 * value * 10 * 30, 1e-9);
  EXPECT_LE(terms(moment).progress_value, 0.3 * value * 10 * (50 + 30));
  moment.tail_seconds = 0;
  moment.seconds_beyond_tail = 0;
  EXPECT_EQ(terms(moment).progress_value, 0);
  scenario.services[0].accuracy = {.before_micro = 900'000, .after_micro = 800'000};
  moment.seconds_beyond_tail = 100;
  EXPECT_EQ(terms(moment).fresh_value, 0);
}

// ---- what an answer is worth

TEST(Window, ARequestIsWorthTheShareOfItsServiceOrOne) {
  Scenario scenario = plain_scenario();
  scenario.services[0].weight = Decimal(3);
  const Moment moment = moment_at(0, 20);
  const Problem mean = problem_of(scenario, moment);
  EXPECT_NEAR(mean.services[0].value, 0.75 / 10, 1e-12);
  EXPECT_NEAR(mean.services[1].value, 0.25 / 40, 1e-12);
  scenario.objective = Objective::kRequests;
  const Problem all = problem_of(scenario, moment);
  EXPECT_EQ(all.services[0].value, 1);
  EXPECT_EQ(all.services[1].value, 1);
}

TEST(Window, VariantsBringTheirAccuracies) {
  Scenario scenario = plain_scenario();
  scenario.services[1].accuracy = {.before_micro = 700'000, .after_micro = 800'000};
  scenario.services[1].variants.push_back({.name = "int8",
                                           .table = scenario.services[1].table,
                                           .accuracy = {.before_micro = 650'000, .after_micro = 750'000}});
  const Problem problem = problem_of(scenario, moment_at(0, 20));
  ASSERT_EQ(problem.services[0].variants.size(), 1U);
  ASSERT_EQ(problem.services[1].variants.size(), 2U);
  EXPECT_EQ(problem.services[1].variants[0].accuracy_after, 0.8);
  EXPECT_EQ(problem.services[1].variants[1].accuracy_before, 0.65);
}

// ---- floors

/// The part of the expected load that a capacity would serve.
double served_by(const Outlook& outlook, std::size_t count, double capacity) {
  double served = 0;
  for (std::size_t i = 0; i < count; ++i) served += std::min(outlook.loads[i], capacity);
  return served;
}

TEST(Window, AFloorIsTheLeastCapacityThatServesItsShare) {
  Rng rng(5);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    Moment moment;
    moment.slots = 1 + static_cast<int>(rng.below(30));
    moment.samples = 1 + static_cast<int>(rng.below(5));
    const auto count = static_cast<std::size_t>(moment.slots) * static_cast<std::size_t>(moment.samples);
    Outlook outlook;
    for (std::size_t i = 0; i < count; ++i) {
      outlook.loads.push_back(rng.below(5) == 0 ? 0 : static_cast<double>(rng.below(500)));
    }
    for (int i = 0; i < moment.samples; ++i) outlook.loads.push_back(1e6);  // the tail binds no service
    const double attainment = static_cast<double>(1 + rng.below(100)) / 100;
    const double rate = floor_rate(outlook, moment, attainment);
    const double wanted = attainment * served_by(outlook, count, 1e9);
    EXPECT_GE(served_by(outlook, count, rate), wanted * (1 - 1e-9));
    if (wanted > 0) {
      EXPECT_LT(served_by(outlook, count, rate * (1 - 1e-6)), wanted);
    } else {
      EXPECT_EQ(rate, 0);
    }
  }
}

TEST(Window, FloorsBindOnlyThoseWhoHaveOne) {
  Scenario scenario = plain_scenario();
  scenario.services[1].floor_attainment = Decimal(9, 10);
  const Problem problem = problem_of(scenario, moment_at(0, 20));
  EXPECT_EQ(problem.services[0].floor_rate, 0);
  EXPECT_NEAR(problem.services[1].floor_rate, 36, 1e-6);
  EXPECT_EQ(problem.floors_from, 0);
}

// ---- frozen windows

TEST(Window, NothingBeginsInFrozenSlotsAndFloorsWaitForTheFirstFreeOne) {
  Scenario scenario = plain_scenario();
  EXPECT_TRUE(problem_of(scenario, moment_at(0, 20)).is_frozen.empty());
  scenario.frozen = {{.from = Instant::at_second(95), .until = Instant::at_second(103)},
                     {.from = Instant(105'500'000), .until = Instant(107'500'000)},
                     {.from = Instant(109'100'000), .until = Instant(109'900'000)}};
  const Problem problem = problem_of(scenario, moment_at(100, 10));
  EXPECT_EQ(problem.is_frozen, (std::vector<char>{1, 1, 1, 0, 0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(problem.floors_from, 3);
  EXPECT_EQ(problem_of(scenario, moment_at(103, 10)).floors_from, 0);
  EXPECT_EQ(problem_of(scenario, moment_at(96, 5)).floors_from, 5);  // never in this window
}

// ---- standing pieces

TEST(Window, WhatStandsHasItsOwnerUseAndTime) {
  const Scenario scenario = plain_scenario(2);
  const Frame frame = make_frame(scenario);
  Moment moment = moment_at(0, 20);
  const auto standing = [](const Slice& slice, std::vector<ServiceId> services, int use, std::int64_t ready_us) {
    return StandingNow{.holding = {.slice = slice, .role = Role::kInference, .services = std::move(services)},
                       .use = use,
                       .ready_in = Micros(ready_us)};
  };
  moment.standing = {standing(a100_slice(1, "1g.10gb", 0), {{1}}, 0, 0),
                     standing(a100_slice(1, "1g.10gb", 1), {{0}}, kRetraining, 2'000'001),
                     standing(a100_slice(1, "2g.20gb", 2), {}, 0, -5'000'000),
                     // A service retrains on one slice: this one counts as unowned.
                     standing(a100_slice(1, "1g.10gb", 4), {{0}}, kRetraining, 0),
                     // No service was measured on it, so the frame has no such site.
                     standing(a100_slice(1, "1g.10gb+me", 6), {{0}}, 0, 0)};
  moment.is_gpu_leaving = {1, 0};
  const Problem problem = make_problem(scenario, frame, moment);
  ASSERT_EQ(problem.gpus.size(), 2U);
  EXPECT_TRUE(problem.gpus[0].standing.empty());
  EXPECT_EQ(problem.gpus[0].free_from, 1);
  EXPECT_EQ(problem.gpus[1].free_from, 0);
  const auto& found = problem.gpus[1].standing;
  ASSERT_EQ(found.size(), 4U);
  EXPECT_TRUE(std::ranges::is_sorted(found, {}, [](const StandingPiece& each) { return each.piece.site; }));
  const auto at = [&](const Slice& slice) {
    const auto it = std::ranges::find_if(
        found, [&](const StandingPiece& each) { return each.piece.site == *frame.site_of(slice); });
    return it == found.end() ? StandingPiece{} : *it;
  };
  const StandingPiece serves = at(a100_slice(1, "1g.10gb", 0));
  EXPECT_EQ(std::pair(serves.piece.service, serves.piece.use), std::pair(ServiceIndex(1), 0));
  EXPECT_EQ(serves.ready_in, 0);
  const StandingPiece retrains = at(a100_slice(1, "1g.10gb", 1));
  EXPECT_EQ(std::pair(retrains.piece.service, retrains.piece.use), std::pair(ServiceIndex(0), kRetraining));
  EXPECT_EQ(retrains.ready_in, 3);  // a part of a slot is a slot
  for (const Slice& slice : {a100_slice(1, "2g.20gb", 2), a100_slice(1, "1g.10gb", 4)}) {
    const StandingPiece unused = at(slice);
    EXPECT_EQ(std::pair(unused.piece.service, unused.piece.use), std::pair(kNoService, 0));
    EXPECT_EQ(unused.ready_in, 0);
  }
}

// ---- rules

TEST(Window, BudgetsPinsIsolationAndDomains) {
  Scenario scenario = plain_scenario(2);
  Moment moment = moment_at(0, 20);
  const Problem none = problem_of(scenario, moment);
  for (const ServiceTerms& service : none.services) {
    EXPECT_EQ(service.changes_max, -1);
    EXPECT_FALSE(service.is_alone_on_gpu);
    EXPECT_EQ(service.trust_domain, -1);
  }
  scenario.services[0].changes_per_hour = 6;
  scenario.services[1].changes_per_hour = 6;
  moment.outlooks[0].changes_left = 4;
  moment.outlooks[1].changes_left = -2;  // overdrawn
  scenario.services[1].isolation = Isolation::kGpu;
  scenario.services[0].isolation = Isolation::kTimeslice;  // the planner gives each slice one holder
  scenario.services[1].pins = {{a100_slice(1, "3g.40gb", 4)}, {a100_slice(0, "1g.10gb", 2)}};
  scenario.services[1].trust_domain = "x";
  const Frame frame = make_frame(scenario);
  const Problem problem = make_problem(scenario, frame, moment);
  EXPECT_EQ(problem.services[0].changes_max, 4);
  EXPECT_EQ(problem.services[1].changes_max, 0);
  EXPECT_FALSE(problem.services[0].is_alone_on_gpu);
  EXPECT_TRUE(problem.services[1].is_alone_on_gpu);
  EXPECT_EQ(problem.services[0].trust_domain, -1);
  EXPECT_GE(problem.services[1].trust_domain, 0);
  ASSERT_EQ(problem.gpus[0].pins.size(), 1U);
  ASSERT_EQ(problem.gpus[1].pins.size(), 1U);
  EXPECT_EQ(frame.slice_at({1}, problem.gpus[1].pins[0].site), a100_slice(1, "3g.40gb", 4));
  EXPECT_EQ(problem.gpus[1].pins[0].service, 1);
  scenario.services[0].trust_domain = "x";
  const Problem same = make_problem(scenario, frame, moment);
  EXPECT_EQ(same.services[0].trust_domain, same.services[1].trust_domain);
  scenario.services[0].trust_domain = "y";
  const Problem apart = make_problem(scenario, frame, moment);
  EXPECT_NE(apart.services[0].trust_domain, apart.services[1].trust_domain);
  EXPECT_GE(apart.services[0].trust_domain, 0);
}

TEST(Window, TheCostsOfChangesAreTheScenarios) {
  Scenario scenario = plain_scenario();
  scenario.changes = {.destroy = Micros(1'500'000), .create = Micros(250'000), .plumbing = Micros::seconds(30)};
  scenario.services[1].start = Micros(7'500'000);
  const Problem problem = problem_of(scenario, moment_at(0, 20));
  EXPECT_EQ(problem.destroy_seconds, 1.5);
  EXPECT_EQ(problem.create_seconds, 0.25);
  EXPECT_EQ(problem.plumbing_seconds, 30);
  EXPECT_EQ(problem.services[1].start_seconds, 7.5);
  EXPECT_EQ(problem.tail_seconds, 100);
}

TEST(Window, MeasuredTimesAreThoseOfTheirModelAndProfile) {
  Scenario scenario = plain_scenario();
  scenario.fleet.push_back({.model = *mig::find_gpu_model("A30-24GB"), .count = 1, .usd_per_gpu_hour = {}});
  scenario.changes = {.destroy = Micros(1'500'000), .create = Micros(250'000)};
  const Problem assumed = problem_of(scenario, moment_at(0, 20));
  EXPECT_TRUE(assumed.models[0].create_seconds.empty());
  EXPECT_TRUE(assumed.models[0].destroy_seconds.empty());
  scenario.measured_times = {
      {{.model = "A100-80GB", .profile = "2g.20gb", .action = ActionKind::kCreation}, {.median = Micros::seconds(3)}},
      {{.model = "A100-80GB", .profile = "full", .action = ActionKind::kDestruction}, {.median = Micros::seconds(9)}},
      {{.model = "H100-80GB", .profile = "1g.10gb", .action = ActionKind::kCreation}, {.median = Micros::seconds(7)}}};
  const Problem problem = problem_of(scenario, moment_at(0, 20));
  EXPECT_TRUE(problem.models[1].create_seconds.empty()) << "nothing was measured on an A30";
  const ModelTerms& model = problem.models[0];
  ASSERT_EQ(model.create_seconds.size(), model.rates.size());
  ASSERT_EQ(model.destroy_seconds.size(), model.rates.size());
  const GpuModel& gpu = scenario.fleet.front().model;
  for (const Site& site : model.sites) {
    const std::string profile = profile_name(gpu, site.profile);
    EXPECT_EQ(model.create_seconds[site.kind], profile == "2g.20gb" ? 3 : 0.25) << profile;
    EXPECT_EQ(model.destroy_seconds[site.kind], profile == "full" ? 9 : 1.5) << profile;
  }
}

}  // namespace
}  // namespace berth::planner
