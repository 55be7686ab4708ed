#include "planner/one_gpu/detail/price_bound.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/detail/one_gpu_search.h"
#include "planner/one_gpu/one_gpu.h"
#include "planner/window/check.h"
#include "planner/window/testing/exhaustive.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

constexpr int kPriceBoundJudged = berth::testing::by_build(30, 6);

/// The bound of the rest from slot t on.
double bound_from(const PriceBound& bound, SlotIndex t, const std::vector<ServiceStart>& services) {
  double value = bound.income(t);
  for (const ServiceIndex service : indices_of<ServiceIndex>(services)) {
    value += bound.from(service, t, services[service].bundle, services[service].state);
  }
  return value;
}

TEST(PriceBound, HoldsForTheExhaustiveSearchAndOnlyFalls) {
  int judged = 0;
  for (std::uint64_t seed = 0; judged < kPriceBoundJudged; ++seed) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    Problem problem = testing::tiny_problem(Rng(seed));
    problem.gpus.resize(1);
    const std::optional<Answer> truth = testing::Exhaustive(problem, 10'000).solve();
    if (!truth || truth->is_infeasible) continue;
    ++judged;
    const GpuCase gpu_case(problem);
    const OneGpuSearch search(gpu_case);
    const double left = truth->objective - search.value_before();
    const double slack = 1e-9 * (1 + std::abs(truth->objective));
    for (const int block_slots : {1, 3}) {
      for (const int tune_rounds : {0, 2}) {
        PriceBound bound(gpu_case, search.starts(), block_slots, tune_rounds);
        double before = bound.value();
        EXPECT_NEAR(bound_from(bound, gpu_case.first_slot, search.starts()), before, slack);
        EXPECT_GE(before, left - slack);
        for (int descent = 0; descent < 3; ++descent) {
          bound.descend(left, 0, 10);
          EXPECT_LE(bound.value(), before + slack);
          EXPECT_GE(bound.value(), left - slack);
          // Prices and tables are those of the lowest bound.
          EXPECT_GE(bound_from(bound, gpu_case.first_slot, search.starts()), bound.value() - slack);
          before = bound.value();
        }
      }
    }
  }
}

/// Walks through a schedule slot by slot: the working pieces, and the states of models.
class Walk {
 public:
  Walk(const GpuCase& gpu_case, const std::vector<Change>& changes) : case_(gpu_case), changes_(changes) {
    for (const StandingPiece& standing : gpu_case.gpu.standing) {
      pieces_.push_back(standing.piece);
      ready_from_.emplace_back(standing.ready_in);
    }
    for (const ServiceTerms& service : gpu_case.problem.services) {
      states_.push_back(service.retraining ? first_state(*service.retraining) : ModelState{});
    }
  }

  /// Moves to the beginning of slot t, before a change in it. To be called for consecutive slots from 0 on.
  void enter(SlotIndex t) {
    for (const ServiceIndex service : indices_of<ServiceIndex>(states_)) {
      const ServiceTerms& terms = case_.problem.services[service];
      ModelState& state = states_[service];
      if (!terms.retraining) continue;
      if (t > 0 && state.is_open()) state.progress += progress_in(service, t - 1);
      enter_slot(*terms.retraining, t, state);
    }
  }

  void change(SlotIndex t) {
    const auto found = std::ranges::find(changes_, t, &Change::slot);
    if (found == changes_.end()) return;
    std::vector<SlotIndex> ready_from;
    for (const Piece& piece : found->to) {
      const auto old = std::ranges::find(pieces_, piece);
      ready_from.push_back(old != pieces_.end() ? ready_from_[static_cast<std::size_t>(old - pieces_.begin())]
                                                : t + slots_until_ready(case_.problem, case_.model, pieces_, piece));
    }
    pieces_ = found->to;
    ready_from_ = ready_from;
  }

  [[nodiscard]] bool is_all_ready(SlotIndex t) const {
    return std::ranges::all_of(ready_from_, [&](SlotIndex from) { return from <= t; });
  }

  [[nodiscard]] std::vector<ServiceStart> services() const {
    std::vector<ServiceStart> all(states_.size());
    for (const ServiceIndex service : indices_of<ServiceIndex>(all)) all[service].state = states_[service];
    for (const Piece& piece : pieces_) {
      if (piece.service == kNoService || piece.use == kRetraining) continue;
      const KindIndex kind = case_.model.sites[piece.site].kind;
      const Bundles& bundles = case_.bundles[piece.service];
      const ItemIndex item = bundles.item(kind, piece.use);
      if (item != kNoItem) all[piece.service].bundle = bundles.plus(all[piece.service].bundle, item);
    }
    return all;
  }

 private:
  [[nodiscard]] double progress_in(ServiceIndex service, SlotIndex slot) const {
    const std::vector<double>& outside = case_.problem.services[service].outside_progress;
    double progress = outside.empty() ? 0 : outside[slot];
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i].service != service || pieces_[i].use != kRetraining || ready_from_[i] > slot) continue;
      const KindIndex kind = case_.model.sites[pieces_[i].site].kind;
      progress += 1 / case_.model.rates[kind][service].retraining_slots;
    }
    return progress;
  }

  const GpuCase& case_;
  const std::vector<Change>& changes_;
  Configuration pieces_;
  std::vector<SlotIndex> ready_from_;
  std::vector<ModelState> states_;
};

/// The worth of a schedule from slot t on, without the price of its changes.
double worth_from(const Problem& problem, const Evaluation& evaluation, SlotIndex t) {
  double worth = evaluation.objective;
  for (const std::vector<SlotFigures>& service : evaluation.services) {
    for (SlotIndex slot(0); slot < t; ++slot) worth -= service[slot].value;
  }
  EXPECT_EQ(problem.change_price, 0);
  return worth;
}

TEST(PriceBound, HoldsFromEachSlotOfAGoodScheduleOn) {
  int judged = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(100, 10))) {
    SCOPED_TRACE(fmt::format("small_problem(Rng({}))", seed));
    Problem problem = testing::small_problem(Rng(seed));
    problem.gpus.resize(1);
    problem.change_price = 0;
    const Answer answer = solve_one_gpu(problem, {.nodes_max = 2'000});
    if (answer.is_infeasible) continue;
    const Evaluation evaluation = evaluate(problem, answer.schedule);
    const GpuCase gpu_case(problem);
    const OneGpuSearch search(gpu_case);
    PriceBound bound(gpu_case, search.starts(), 2, 2);
    bound.descend(answer.objective - search.value_before(), 0, 20);
    Walk walk(gpu_case, answer.schedule.gpus.front());
    for (SlotIndex t(0); t <= problem.slots; ++t) {
      walk.enter(t);
      if (t >= gpu_case.first_slot && walk.is_all_ready(t)) {
        const double worth = worth_from(problem, evaluation, t);
        ASSERT_GE(bound_from(bound, t, walk.services()), worth - 1e-7 * (1 + std::abs(worth))) << "slot " << t;
        ++judged;
      }
      walk.change(t);
    }
  }
  EXPECT_GT(judged, 0);
}

TEST(PriceBound, StopsWhereTheBoundIsNearEnough) {
  Problem problem = testing::one_gpu_problem(Rng(3), 4, 20);
  for (ServiceTerms& service : problem.services) service.retraining.reset();
  const double known = solve_one_gpu(problem, {.nodes_max = 1'000}).objective;
  const GpuCase gpu_case(problem);
  const OneGpuSearch search(gpu_case);
  PriceBound bound(gpu_case, search.starts(), 4, 1);
  const double first = bound.value();
  bound.descend(known, first - known, 20);
  EXPECT_EQ(bound.value(), first);
  bound.descend(known, 0, 20);
  EXPECT_LT(bound.value(), first);
}

TEST(PriceBound, IsExactForOneServiceThatHoldsWhatItNeeds) {
  Problem problem = testing::quarters_problem(1, 10);
  problem.gpus[0].standing = {{.piece = {.site = SiteIndex(0), .service = ServiceIndex(0), .use = 0}, .ready_in = 0}};
  problem.tail_seconds = 5;
  const GpuCase gpu_case(problem);
  const OneGpuSearch search(gpu_case);
  const PriceBound bound(gpu_case, search.starts(), 4, 1);
  EXPECT_NEAR(bound.value(), 15 * 10, 1e-9);
}

/// The services share the GPU's space, although each of the two could use all of it.
TEST(PriceBound, KnowsThatServicesShareTheGpu) {
  Problem problem = testing::quarters_problem(2, 10);
  problem.tail_seconds = 100;
  for (ServiceTerms& service : problem.services) service.loads.assign(11, 40);
  const GpuCase gpu_case(problem);
  const OneGpuSearch search(gpu_case);
  PriceBound bound(gpu_case, search.starts(), 2, 1);
  const double known = 7 * 40 + 100 * 40;
  bound.descend(known, 0, 300);
  EXPECT_GE(bound.value(), known);
  // It does not know that the slices have to be created.
  EXPECT_LE(bound.value(), (known + 40) * 1.01);
}

}  // namespace
}  // namespace berth::planner
