#include "planner/fleet.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "planner/detail/fleet_bound.h"
#include "planner/detail/fleet_exchange.h"
#include "planner/detail/fleet_response.h"
#include "planner/detail/fleet_state.h"
#include "planner/detail/fleet_terms.h"

namespace berth::planner {
namespace {

constexpr double kRounding = 1e-8;  ///< of the objective, between two ways to sum it
constexpr int kSmallFleet = 16;     ///< GPUs up to which everything is tried
constexpr int kRoundsMax = 12;
constexpr double kRoundLeast = 1e-3;  ///< of the most: a round that gains less is the last one of a large fleet
constexpr double kGuess = 0.8;        ///< of the first bound: what may be reached
constexpr int kBlocks = 3;            ///< stretches of equal prices behind the first one
constexpr int kSampleSteps = 300;     ///< of large fleets, with prices for
constexpr int kSampleGpus = 100;      ///< so many of their GPUs
constexpr int kSteps = 100;           ///< with all
constexpr int kLastSteps = 50;        ///< when a schedule is known
constexpr double kNovelty = 0.05;
constexpr int kSmallSteps = 60;
constexpr double kSmallNovelty = 0.1;
constexpr double kCandidateShare = 0.3;      ///< of the best use of a kind: uses that are worth less are not tried
constexpr std::size_t kExactGains = 20'000;  ///< GPUs x services up to which every slot is looked at
constexpr int kStride = 4;
constexpr int kExchangePasses = 12;
constexpr int kRetrainingGpus = 12;  ///< of a large fleet on which retraining is tried

/// Slots that lie closer at the beginning of the window.
std::vector<int> graded_slots(int slots, double first, double growth) {
  std::vector<int> wanted = {0};
  for (double slot = first; slot < slots; slot = std::max(slot + 1, slot * growth)) {
    wanted.push_back(static_cast<int>(slot));
  }
  return wanted;
}

/// Stretches of equal prices: until what begins at once is ready, then of equal length.
std::vector<int> price_starts(const fleet::Terms& terms, int blocks) {
  int ready = 1;
  for (const fleet::Readiness& readiness : terms.serving) ready = std::max(ready, readiness.on_new_site);
  std::vector<int> starts = {0};
  if (ready < terms.slots / 4) starts.push_back(ready);
  const int begin = starts.back();
  const int count = std::min(blocks, terms.slots - begin);
  for (int k = 1; k < count; ++k) starts.push_back(begin + (terms.slots - begin) * k / count);
  return starts;
}

/// One problem's search.
class FleetSearch {
 public:
  FleetSearch(const Problem& problem, const SearchLimits& limits)
      : terms_(problem), limits_(limits), gpus_(static_cast<int>(problem.gpus.size())), best_(terms_) {}

  Answer solve() {
    if (gpus_ <= kSmallFleet) {
      solve_small();
    } else {
      solve_large();
    }
    return answer();
  }

 private:
  void solve_small() {
    fleet::Responder responder(terms_, fleet::make_grid(terms_, graded_slots(terms_.slots, 1, 1.3), {}), 1);
    improve(responder, best_, {});
    std::optional<fleet::PriceSearch> prices;
    if (limits_.gap < 1) {
      prices.emplace(terms_, price_starts(terms_, 2 * kBlocks));
      prices->start_from_rents();
      prices->run(best_.objective(), {.steps = kSmallSteps, .novelty = kSmallNovelty, .gap = limits_.gap});
      prices->take_best_prices();
      fleet::FleetState state = filled(responder, *prices);
      improve(responder, state, {});
      keep(state);
    }
    shake(responder);
    spent_ += responder.nodes();
    if (!prices) return;
    prices->run(best_.objective(), {.steps = kSmallSteps, .novelty = kSmallNovelty, .gap = limits_.gap});
    bound_ = prices->bound();
    spent_ += prices->nodes();
  }

  /// All GPUs begin anew, one after the other, at prices that leave to each service what it can use best.
  fleet::FleetState filled(fleet::Responder& responder, const fleet::PriceSearch& prices) {
    fleet::FleetState state(terms_);
    for (int gpu = 0; gpu < gpus_; ++gpu) state.take_out(gpu);
    responder.gains().set_caps(prices.caps());
    for (int gpu = 0; gpu < gpus_; ++gpu) responder.place(state, gpu);
    responder.gains().set_caps(std::nullopt);
    return state;
  }

  /// Rounds of answers until none gains.
  void improve(fleet::Responder& responder, fleet::FleetState& state, const fleet::ResponseOptions& options) {
    for (int round = 0; round < kRoundsMax; ++round) {
      double gain = 0;
      for (int gpu = 0; gpu < gpus_ && has_nodes(responder); ++gpu) {
        gain += responder.improve(state, gpu, options);
        gain += responder.retime(state, gpu);
      }
      if (gain <= kRounding * (1 + terms_.value_max)) break;
    }
  }

  /// Two GPUs begin anew, each in turn first.
  void shake(fleet::Responder& responder) {
    for (int first = 0; first < gpus_; ++first) {
      for (int second = 0; second < gpus_ && has_nodes(responder); ++second) {
        if (first == second) continue;
        fleet::FleetState state = best_.branch();
        for (const int gpu : {first, second}) state.take_out(gpu);
        for (const int gpu : {first, second}) responder.place(state, gpu);
        for (const int gpu : {first, second, first}) responder.improve(state, gpu, {.attempts = 1});
        keep(state);
      }
    }
    for (int gpu = 0; gpu < gpus_; ++gpu) responder.retime(best_, gpu);
  }

  void solve_large() {
    fleet::PriceSearch prices(terms_, price_starts(terms_, kBlocks));
    prices.start_from_rents();
    prices.run(0, {.steps = 0});
    const double target = kGuess * prices.bound();
    prices.run(target, {.steps = kSampleSteps, .novelty = kNovelty, .gpus_max = kSampleGpus});
    prices.run(target, {.steps = kSteps, .novelty = kNovelty});
    prices.take_best_prices();
    const bool is_huge = static_cast<std::size_t>(gpus_) * terms_.problem.services.size() > kExactGains;
    fleet::Responder responder(terms_, fleet::make_grid(terms_, graded_slots(terms_.slots, 6, 2), {}),
                               is_huge ? kStride : 1);
    responder.gains().set_caps(prices.caps());
    responder.gains().keep_candidates(kCandidateShare);
    fleet::FleetState state = filled(responder, prices);
    fleet::Exchange exchange(terms_);
    for (int round = 0; round < kRoundsMax; ++round) {
      const double before = state.score();
      for (int gpu = 0; gpu < gpus_ && has_nodes(responder); ++gpu) {
        responder.improve(state, gpu, {.attempts = 1, .moves_retraining = false});
      }
      exchange.run(state, kExchangePasses);
      if (state.score() - before <= (round == 0 && !is_huge ? 0 : kRoundLeast) * terms_.value_max) break;
      if (is_huge) break;
    }
    for (int k = 0; k < kRetrainingGpus && terms_.has_retraining(); ++k) {
      responder.improve(state, gpus_ * k / kRetrainingGpus, {.attempts = 1, .moves_retraining = true});
    }
    keep(state);
    prices.run(best_.objective(), {.steps = kLastSteps, .novelty = kNovelty, .gap = limits_.gap});
    bound_ = prices.bound();
    spent_ += responder.nodes() + prices.nodes() + exchange.nodes();
  }

  [[nodiscard]] bool has_nodes(const fleet::Responder& responder) const {
    return spent_ + responder.nodes() < limits_.nodes_max;
  }

  void keep(const fleet::FleetState& state) {
    if (state.score() > best_.score() + kRounding * (1 + terms_.value_max)) best_ = state;
  }

  Answer answer() {
    Answer answer;
    fleet::FleetState exact(terms_);  // sums without what adding and taking out left behind
    for (int gpu = 0; gpu < gpus_; ++gpu) {
      answer.schedule.gpus.push_back(best_.path(gpu).changes);
      exact.take_out(gpu);
      exact.put(gpu, best_.path(gpu));
    }
    answer.objective = exact.objective();
    answer.misses_floors = exact.shortfall() > 0;
    answer.nodes = spent_;
    answer.bound = std::min(bound_.value_or(terms_.value_max), terms_.value_max);
    const double slack = kRounding * (1 + std::abs(answer.objective));
    if (answer.misses_floors && answer.bound < -slack) answer.is_infeasible = true;
    ENSURE(answer.misses_floors || answer.bound >= answer.objective - slack);
    if (!answer.misses_floors) answer.bound = std::max(answer.bound, answer.objective);
    return answer;
  }

  fleet::Terms terms_;
  SearchLimits limits_;
  int gpus_;
  fleet::FleetState best_;
  std::optional<double> bound_;
  std::int64_t spent_ = 0;
};

}  // namespace

Answer solve_fleet(const Problem& problem, const SearchLimits& limits) { return FleetSearch(problem, limits).solve(); }

}  // namespace berth::planner
