#include "purchase/advise/advise.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "base/core/rng.h"
#include "purchase/advise/detail/diving.h"
#include "purchase/advise/detail/gpu_sharing.h"
#include "purchase/advise/detail/misfits.h"
#include "purchase/advise/detail/plan.h"
#include "purchase/advise/detail/problem.h"
#include "purchase/advise/detail/regrouping.h"
#include "purchase/advise/detail/relaxation.h"
#include "purchase/advise/detail/rivals.h"
#include "purchase/advise/detail/rounding.h"

namespace berth::purchase::advise {
namespace {

constexpr std::int64_t kNodesFixed = 6'000'000;
constexpr std::int64_t kNodesPerPod = 100'000;
/// The linear programs grow with the square of the number of different pods.
constexpr std::int64_t kNodesPerPair = 400;
constexpr std::int64_t kNodesDefaultMax = 1'000'000'000;
/// Shares of the budget; the rest is for local search.
constexpr std::int64_t kRelaxPercent = 60;
constexpr std::int64_t kDivePercent = 20;
/// Rounds of searching for new contents per step, in the first, second ... dive.
constexpr std::array<int, 4> kDiveRounds = {3, 2, 5, 1};
constexpr int kNarrowRounds = 300;
constexpr std::int64_t kIdleRoundsPerInstance = 200;
constexpr std::int64_t kIdleRoundsFixed = 1'000;
constexpr std::uint64_t kSeed = 1;

Column column_of(const Problem& problem, const Filled& filled) {
  std::map<std::size_t, int> counts;
  for (const std::size_t row : filled.rows) ++counts[problem.class_of[row]];
  Column column{.box = filled.box, .content = {}};
  column.content.reserve(counts.size());
  for (const auto& [pods, count] : counts) column.content.push_back({.pods = pods, .count = count});
  return column;
}

std::vector<int> demand_of(const Problem& problem) {
  std::vector<int> demand;
  demand.reserve(problem.classes.size());
  for (const PodClass& pods : problem.classes) demand.push_back(static_cast<int>(pods.rows.size()));
  return demand;
}

/// Replaces each box by the cheapest one that holds its pods.
void shrink_boxes(const Problem& problem, Plan& plan) {
  for (Filled& filled : plan) {
    const auto box = cheapest_holder(problem, filled.rows);
    if (box && problem.boxes[*box].micro_usd < problem.boxes[filled.box].micro_usd) filled.box = *box;
  }
}

class Adviser {
 public:
  Adviser(std::span<const Pod> pods, std::span<const pricing::Offer> offers, const Problem& problem,
          const AdviseOptions& options)
      : pods_(pods),
        offers_(offers),
        problem_(problem),
        nodes_max_(options.nodes_max.value_or(default_nodes(pods.size()))),
        progress_(options.progress),
        rivals_{first_fit_decreasing(problem), cheapest_fit(problem)} {
    for (const Plan& rival : rivals_) consider(rival);
  }

  void search() {
    if (pods_.size() <= kExactPodsMax) search_all();
    if (is_proven()) return;
    if (problem_.classes.size() <= kClassesMax) {
      Relaxation relaxation(problem_);
      relax(problem_, relaxation);
      dive_often(problem_, relaxation);
    } else {
      search_rounded();
    }
    improve();
  }

  [[nodiscard]] const std::array<Plan, 2>& rivals() const { return rivals_; }
  [[nodiscard]] const Plan& plan() const { return best_; }
  [[nodiscard]] std::int64_t bound() const { return bound_; }
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }

 private:
  /// The exact search, if the budget allows it.
  void search_all() {
    if (division_nodes(pods_.size()) > nodes_max_) return;
    CheapestPlan best = cheapest_plan(problem_);
    nodes_ += best.nodes;
    if (best.is_proven) bound_ = cost_of(problem_, best.plan);
    consider(std::move(best.plan));
  }

  void consider(Plan plan) {
    shrink_boxes(problem_, plan);
    if (best_.empty() || cost_of(problem_, plan) < cost_of(problem_, best_)) best_ = std::move(plan);
  }

  /// Sets the bound: no plan for `problem` is cheaper. Its pods are those of the question, or rounded down.
  void relax(const Problem& problem, Relaxation& relaxation) {
    for (const Plan& rival : rivals_) {
      for (const Filled& filled : rival) relaxation.add(column_of(problem, filled));
    }
    const Relaxed relaxed = relaxation.solve(demand_of(problem), {.rounds_max = kNarrowRounds,
                                                                  .is_thorough = true,
                                                                  .nodes_max = nodes_max_ * kRelaxPercent / 100,
                                                                  .watch = watch()});
    nodes_ += relaxed.nodes;
    bound_ = std::max(bound_, relaxed.bound);
  }

  /// `problem` has the pods of the question, or rounded up.
  void dive_often(const Problem& problem, Relaxation& relaxation) {
    std::int64_t left = nodes_max_ * kDivePercent / 100;
    for (const int rounds : kDiveRounds) {
      if (left <= 0 || is_stopped_ || is_proven()) return;
      Dive dived = dive(problem, relaxation, {.rounds_per_step = rounds, .nodes_max = left, .watch = watch()});
      left -= dived.nodes;
      nodes_ += dived.nodes;
      consider(std::move(dived.plan));
    }
  }

  void search_rounded() {
    const Problem smaller = make_problem(round_pods(pods_, problem_, Rounding::kDown, kClassesMax), offers_);
    Relaxation bounding(smaller);
    relax(smaller, bounding);
    const Problem larger = make_problem(round_pods(pods_, problem_, Rounding::kUp, kClassesMax), offers_);
    Relaxation filling(larger);
    for (std::size_t pods = 0; pods < larger.classes.size(); ++pods) {
      const auto box = cheapest_holder(larger, {larger.classes[pods].rows.front()});
      filling.add({.box = box.value(), .content = {{.pods = pods, .count = 1}}});
    }
    nodes_ += filling
                  .solve(demand_of(larger), {.rounds_max = kNarrowRounds,
                                             .is_thorough = false,
                                             .nodes_max = nodes_max_ * kDivePercent / 100,
                                             .watch = watch()})
                  .nodes;
    dive_often(larger, filling);
  }

  void improve() {
    if (is_stopped_ || is_proven()) return;
    const auto idle = static_cast<std::int64_t>(best_.size()) * kIdleRoundsPerInstance + kIdleRoundsFixed;
    Regrouped regrouped = regroup(
        problem_, best_,
        {.nodes_max = std::max<std::int64_t>(0, nodes_max_ - nodes_), .idle_rounds_max = idle, .watch = watch()},
        Rng(kSeed));
    nodes_ += regrouped.nodes;
    consider(std::move(regrouped.plan));
  }

  /// For a part of the search that begins now.
  [[nodiscard]] NodeWatch watch() {
    if (!progress_) return {};
    return [this](std::int64_t nodes) {
      const double used = static_cast<double>(nodes_ + nodes) / static_cast<double>(nodes_max_);
      is_stopped_ = is_stopped_ || !progress_(std::min(used, 1.0));
      return !is_stopped_;
    };
  }

  [[nodiscard]] bool is_proven() const { return cost_of(problem_, best_) == bound_; }

  std::span<const Pod> pods_;
  std::span<const pricing::Offer> offers_;
  const Problem& problem_;
  std::int64_t nodes_max_;
  const std::function<bool(double)>& progress_;
  bool is_stopped_ = false;
  std::array<Plan, 2> rivals_;
  Plan best_;
  std::int64_t bound_ = 0;
  std::int64_t nodes_ = 0;
};

/// GPUs with whole owners first, in the order of rows; shares behind them.
std::vector<SeatedPod> seats_of(const Problem& problem, const Filled& filled) {
  std::vector<std::size_t> rows = filled.rows;
  std::ranges::sort(rows);
  std::vector<SeatedPod> seats;
  seats.reserve(rows.size());
  std::vector<int> shares;
  int next_gpu = 0;
  for (const std::size_t row : rows) {
    const Need& need = problem.class_of_row(row).need;
    SeatedPod seat{.row = row, .gpus = std::vector<int>(static_cast<std::size_t>(need.whole_gpus))};
    std::iota(seat.gpus.begin(), seat.gpus.end(), next_gpu);
    next_gpu += need.whole_gpus;
    if (need.share_milli > 0) shares.push_back(need.share_milli);
    seats.push_back(std::move(seat));
  }
  const auto shared = share_gpus(shares, problem.boxes[filled.box].gpu_count - next_gpu, kSharingNodesThorough).gpus;
  ENSURE(shared.has_value());
  std::size_t share = 0;
  for (SeatedPod& seat : seats) {
    if (problem.class_of_row(seat.row).need.share_milli > 0) seat.gpus = {next_gpu + (*shared)[share++]};
  }
  return seats;
}

std::vector<Instance> instances_of(const Problem& problem, const Plan& plan, std::span<const pricing::Offer> offers) {
  std::vector<Instance> instances;
  instances.reserve(plan.size());
  for (const Filled& filled : plan) {
    instances.push_back({.offer = offers[problem.boxes[filled.box].offer], .pods = seats_of(problem, filled)});
  }
  std::ranges::sort(instances, [](const Instance& a, const Instance& b) {
    return std::tuple(*b.offer.micro_usd_per_hour, a.pods.front().row) <
           std::tuple(*a.offer.micro_usd_per_hour, b.pods.front().row);
  });
  return instances;
}

}  // namespace

std::int64_t default_nodes(std::size_t pod_count) {
  const auto pods = static_cast<std::int64_t>(std::min<std::size_t>(pod_count, kNodesDefaultMax));
  const std::int64_t pairs = pods * std::min(pods, static_cast<std::int64_t>(kClassesMax));
  return std::min(kNodesFixed + kNodesPerPod * pods + kNodesPerPair * pairs, kNodesDefaultMax);
}

Result<Advice> advise_instances(std::span<const Pod> pods, std::span<const pricing::Offer> offers,
                                const AdviseOptions& options) {
  if (pods.empty()) return invalid("wanted at least one pod, found none");
  const Problem problem = make_problem(pods, offers);
  if (const auto fits = check_each_fits(pods, offers, problem, options.file); !fits) return pass_on(fits.error());
  Adviser adviser(pods, offers, problem, options);
  adviser.search();
  return Advice{.micro_usd_per_hour = cost_of(problem, adviser.plan()),
                .bound_micro_usd_per_hour = adviser.bound(),
                .instances = instances_of(problem, adviser.plan(), offers),
                .rivals = {{.name = "ffd", .micro_usd_per_hour = cost_of(problem, adviser.rivals()[0])},
                           {.name = "cheapest-fit", .micro_usd_per_hour = cost_of(problem, adviser.rivals()[1])}},
                .nodes = adviser.nodes()};
}

}  // namespace berth::purchase::advise
