#include "planner/plan/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "planner/plan/solve.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

bool is_about(double a, double b, double scale) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(scale)); }

/// Slices that the changes create or destroy.
int slices_counted(const Problem& problem, const Schedule& schedule) {
  int count = 0;
  for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
    std::vector<SiteIndex> from;
    for (const StandingPiece& standing : problem.gpus[gpu].standing) from.push_back(standing.piece.site);
    for (const Change& change : schedule.gpus[gpu]) {
      std::vector<SiteIndex> to;
      to.reserve(change.to.size());
      for (const Piece& piece : change.to) to.push_back(piece.site);
      std::vector<SiteIndex> moved;
      std::ranges::set_symmetric_difference(from, to, std::back_inserter(moved));
      count += static_cast<int>(moved.size());
      from = to;
    }
  }
  return count;
}

/// Two halves of service 0 exist; service 1 never has a quarter. Loads 30 and 10.
Problem two_halves() {
  Problem problem = testing::quarters_problem(2, 10);
  problem.services[0].loads.assign(11, 30);
  problem.gpus[0].standing = {{.piece = {.site = SiteIndex(4), .service = ServiceIndex(0), .use = 0}, .ready_in = 0},
                              {.piece = {.site = SiteIndex(5), .service = ServiceIndex(0), .use = 0}, .ready_in = 5}};
  return problem;
}

TEST(Explain, SharesAreMeansOverTheWindow) {
  const Problem problem = two_halves();
  const auto shares = explain_shares(problem, {.gpus = {{}}});
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_NEAR(shares[0].forecast, 30, 1e-9);
  EXPECT_NEAR(shares[0].capacity, 30, 1e-9);  // 20 for five slots, 40 for five
  EXPECT_NEAR(shares[0].served, 25, 1e-9);
  EXPECT_NEAR(shares[0].value, 250, 1e-9);
  EXPECT_NEAR(shares[1].forecast, 10, 1e-9);
  EXPECT_EQ(shares[1].capacity, 0);
  EXPECT_EQ(shares[1].served, 0);
  EXPECT_FALSE(shares[1].one_less.has_value());
}

TEST(Explain, OneSliceMoreIsTheKindThatGainsMostPerSm) {
  const auto shares = explain_shares(two_halves(), {.gpus = {{}}});
  // Service 0 is short of 10 for five slots: a quarter provides them.
  ASSERT_TRUE(shares[0].one_more.has_value());
  EXPECT_EQ(shares[0].one_more->kind, 0);
  EXPECT_EQ(shares[0].one_more->requests_per_second, 10);
  EXPECT_NEAR(shares[0].one_more->change, 50, 1e-9);
  EXPECT_NEAR(shares[1].one_more->change, 100, 1e-9);
  Problem problem = two_halves();
  problem.services[0].loads.assign(11, 20);  // no service is short of capacity
  EXPECT_FALSE(explain_shares(problem, {.gpus = {{}}})[0].one_more.has_value());
}

TEST(Explain, OneSliceLessIsTheOneThatIsMissedLeast) {
  const auto shares = explain_shares(two_halves(), {.gpus = {{}}});
  ASSERT_TRUE(shares[0].one_less.has_value());
  EXPECT_EQ(shares[0].one_less->kind, 1);
  EXPECT_EQ(shares[0].one_less->requests_per_second, 20);
  EXPECT_NEAR(shares[0].one_less->change, -50, 1e-9);  // the second one: 10 for its five slots
}

TEST(Explain, ASliceThatComesLaterTakesNothingOfAnotherVariant) {
  Problem problem = testing::quarters_problem(1, 10);
  ServiceTerms& service = problem.services[0];
  service.loads.assign(11, 100);
  service.variants = {{.accuracy_before = 1, .accuracy_after = 1}, {.accuracy_before = 0.5, .accuracy_after = 0.5}};
  for (auto& kind : problem.models[0].rates) kind[0].requests_per_second.push_back(kind[0].requests_per_second[0] * 2);
  // 40 of variant 1 all the time, 20 of variant 0 from slot 5 on.
  problem.gpus[0].standing = {{.piece = {.site = SiteIndex(4), .service = ServiceIndex(0), .use = 1}, .ready_in = 0},
                              {.piece = {.site = SiteIndex(5), .service = ServiceIndex(0), .use = 0}, .ready_in = 5}};
  const auto shares = explain_shares(problem, {.gpus = {{}}});
  ASSERT_TRUE(shares[0].one_less.has_value());
  EXPECT_EQ(shares[0].one_less->requests_per_second, 20);
  EXPECT_NEAR(shares[0].one_less->change, -100, 1e-9);
}

/// The objective with one more GPU, on which a slice of a kind serves without any change.
double objective_with(const Problem& problem, const Schedule& schedule, const Piece& piece, ModelIndex model) {
  Problem more = problem;
  GpuTerms gpu;
  gpu.model = model;
  gpu.standing = {{.piece = piece, .ready_in = 0}};
  more.gpus.push_back(gpu);
  Schedule schedule_of_more = schedule;
  schedule_of_more.gpus.emplace_back();
  return evaluate(more, schedule_of_more).objective;
}

void expect_best_step_up(const Problem& problem, const Schedule& schedule, ServiceIndex service,
                         const std::optional<SliceStep>& reported) {
  const double base = evaluate(problem, schedule).objective;
  double best_per_sm = 0;
  double reported_gain = 0;
  for (const ModelIndex m : indices_of<ModelIndex>(problem.models)) {
    const ModelTerms& model = problem.models[static_cast<std::size_t>(m)];
    for (const SiteIndex site : indices_of<SiteIndex>(model.sites)) {
      const KindIndex kind = model.sites[static_cast<std::size_t>(site)].kind;
      const auto& rates = model.rates[kind][static_cast<std::size_t>(service)].requests_per_second;
      for (int use = 0; use < static_cast<int>(rates.size()); ++use) {
        const double rate = rates[static_cast<std::size_t>(use)];
        if (rate <= 0) continue;
        const double gain = objective_with(problem, schedule, {.site = site, .service = service, .use = use}, m) - base;
        best_per_sm = std::max(best_per_sm, gain / model.sms[kind]);
        const bool is_reported = reported && reported->model == m && reported->kind == kind;
        if (is_reported && reported->requests_per_second == rate) reported_gain = gain;
      }
    }
  }
  ASSERT_EQ(reported.has_value(), best_per_sm > 1e-9 * (1 + std::abs(base)));
  if (!reported) return;
  const ModelTerms& model = problem.models[static_cast<std::size_t>(reported->model)];
  EXPECT_TRUE(is_about(reported->change, reported_gain, base));
  EXPECT_TRUE(is_about(reported->change / model.sms[static_cast<std::size_t>(reported->kind)], best_per_sm, base));
}

TEST(Explain, SharesAddUpAndStepsAreWhatTheyWouldBe) {
  int explained = 0;
  int changed = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = testing::small_problem(Rng(seed));
    const Answer answer = solve(problem, {.nodes_max = 300, .gap = 0});
    if (answer.is_infeasible || answer.misses_floors) continue;
    const auto shares = explain_shares(problem, answer.schedule);
    ASSERT_EQ(shares.size(), problem.services.size());
    const double price = problem.change_price * slices_counted(problem, answer.schedule);
    double sum = 0;
    for (const ServiceShare& share : shares) sum += share.value;
    EXPECT_TRUE(is_about(sum - price, answer.objective, answer.objective));
    changed += slices_counted(problem, answer.schedule) > 0 ? 1 : 0;
    for (const ServiceIndex service : indices_of<ServiceIndex>(shares)) {
      const ServiceShare& share = shares[static_cast<std::size_t>(service)];
      expect_best_step_up(problem, answer.schedule, service, share.one_more);
      EXPECT_LE(share.served, std::min(share.capacity, share.forecast) + 1e-9);
      EXPECT_LE(share.one_less.value_or(SliceStep{}).change, 1e-9);
      ++explained;
    }
  }
  EXPECT_GT(explained, 30);
  EXPECT_GT(changed, 5);
}

}  // namespace
}  // namespace berth::planner
