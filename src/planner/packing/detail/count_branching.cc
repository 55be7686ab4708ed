// Branching on the numbers of GPUs of each offer: whole numbers of expensive GPUs raise the bound if fractions of them
// make it weak.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "planner/packing/detail/plan_search.h"

namespace berth::packing::detail {
namespace {

constexpr std::array<std::size_t, 2> kNarrow = {32, 512};
constexpr std::array<std::size_t, 3> kWide = {32, 512, 8'192};
constexpr std::array<std::size_t, 2> kWidest = {65'536, 262'144};
/// The cost of a relaxation, in nodes of the search, per round and row.
constexpr std::int64_t kRelaxationNodes = 100;
/// GPUs of the fractional optimum count as whole this near to a whole number.
constexpr double kWholeWithin = 1e-6;
/// The first ranges are all tried with their GPUs rounded up, later ones only sometimes.
constexpr int kTriesAtFirst = 12;
constexpr int kTriesEvery = 8;

}  // namespace

/// A range of the number of GPUs of each offer.
struct PlanSearch::CountRange {
  std::vector<std::int64_t> least;
  std::vector<std::int64_t> most;

  [[nodiscard]] bool is_point() const { return least == most; }
  [[nodiscard]] bool is_empty() const {
    return !std::ranges::equal(least, most, [](std::int64_t a, std::int64_t b) { return a <= b; });
  }
  [[nodiscard]] std::int64_t price_of_most(const Instance& instance) const {
    std::int64_t price = 0;
    for (std::size_t o = 0; o < most.size(); ++o) price += instance.offers[o].price * most[o];
    return price;
  }
  /// GPUs of the fractional optimum, rounded up, within the range.
  [[nodiscard]] std::vector<std::int64_t> rounded_up(const std::vector<double>& gpus) const {
    std::vector<std::int64_t> up = most;
    for (std::size_t o = 0; o < gpus.size(); ++o) {
      up[o] = std::clamp(static_cast<std::int64_t>(std::ceil(gpus[o] - kWholeWithin)), least[o], most[o]);
    }
    return up;
  }
  [[nodiscard]] bool is_whole(const std::vector<double>& gpus) const {
    return is_point() || std::ranges::all_of(gpus, [](double n) { return std::abs(n - std::round(n)) < kWholeWithin; });
  }
  /// The part of the range with more than these GPUs of some offer, in disjoint ranges.
  [[nodiscard]] std::vector<CountRange> beyond(const std::vector<std::int64_t>& gpus) const {
    std::vector<CountRange> parts;
    for (std::size_t o = 0; o < least.size(); ++o) {
      CountRange part = *this;
      for (std::size_t before = 0; before < o; ++before) part.most[before] = std::min(part.most[before], gpus[before]);
      part.least[o] = std::max(part.least[o], gpus[o] + 1);
      parts.push_back(std::move(part));
    }
    return parts;
  }

  /// Two ranges that together are this one, split at the fractional optimum. Requires: more than one point.
  [[nodiscard]] std::pair<CountRange, CountRange> halves(const std::vector<double>& gpus) const {
    std::size_t offer = 0;
    double best = -1;
    for (std::size_t o = 0; o < least.size(); ++o) {
      if (least[o] == most[o]) continue;
      const double part = gpus.empty() ? 0 : gpus[o] - std::floor(gpus[o]);
      const double how_fractional = std::min(part, 1 - part);
      if (how_fractional <= best) continue;
      best = how_fractional;
      offer = o;
    }
    const auto at = gpus.empty() ? least[offer] : static_cast<std::int64_t>(std::floor(gpus[offer]));
    CountRange low = *this;
    CountRange high = *this;
    low.most[offer] = std::clamp(at, least[offer], most[offer] - 1);
    high.least[offer] = low.most[offer] + 1;
    return {low, high};
  }

  void add_limits(RelaxedProblem& problem) const {
    for (std::size_t o = 0; o < least.size(); ++o) {
      GpuLimit limit{std::vector<std::int64_t>(least.size(), 0), most[o]};
      limit.factor[o] = 1;
      problem.limits.push_back(limit);
      limit.factor[o] = -1;
      limit.max = -least[o];
      if (least[o] > 0) problem.limits.push_back(std::move(limit));
    }
  }
};

/// Branch and bound on the numbers of GPUs of each offer: whole numbers of expensive GPUs raise the bound if fractions
/// of them make it weak.
BeamAnswer PlanSearch::look_by_counts(const Question& question) {
  const CountRange all = all_counts(question.limits);
  bool is_complete = true;
  for (std::vector<CountRange> open = {all}; !open.empty();) {
    const CountRange range = std::move(open.back());
    open.pop_back();
    RelaxedProblem problem = question.relaxed;
    range.add_limits(problem);
    const Relaxation relaxation = relax(*question.instance, problem);
    budget_.nodes += kRelaxationNodes * relaxation.work;
    if (relaxation.bound > question.target) continue;
    PlanLimits limits = question.limits;
    limits.offer_gpus_max = range.most;
    BeamAnswer answer;
    {
      const BudgetShare share(budget_, range.is_point() ? 4 : 32);
      answer = beam_for(limits, relaxation, question.target).run_wider(kWide);
    }
    if (answer.plan) return answer;
    if (answer.is_proven_none) continue;
    if (budget_.is_spent()) return {};
    if (range.is_point()) {
      is_complete = false;
      continue;
    }
    auto [low, high] = range.halves(relaxation.gpus);
    open.push_back(std::move(low));
    open.push_back(std::move(high));
  }
  return {.plan = std::nullopt, .is_proven_none = is_complete};
}

PlanSearch::CountRange PlanSearch::all_counts(const PlanLimits& limits) const {
  CountRange all;
  for (const OfferedGpus& offer : instance_.offers) {
    all.least.push_back(0);
    std::int64_t most = std::min({offer.count_max.value_or(kSlicesMax), limits.gpus_max, kSlicesMax});
    if (offer.price > 0) most = std::min(most, limits.price_max / offer.price);
    all.most.push_back(most);
  }
  return all;
}

Relaxation PlanSearch::relax_within(const CountRange& range) {
  RelaxedProblem problem = about_price(0).relaxed;
  range.add_limits(problem);
  Relaxation relaxation = relax(instance_, problem);
  budget_.nodes += kRelaxationNodes * relaxation.work;
  return relaxation;
}

/// A plan with no more GPUs of each offer than these.
BeamAnswer PlanSearch::look_within(const std::vector<std::int64_t>& gpus_max, std::span<const std::size_t> widths,
                                   std::int64_t budget_divisor) {
  CountRange range;
  range.least.assign(gpus_max.size(), 0);
  range.most = gpus_max;
  const Relaxation relaxation = relax_within(range);
  const std::int64_t price = range.price_of_most(instance_);
  if (relaxation.bound > price) return {.plan = std::nullopt, .is_proven_none = true};
  PlanLimits limits{.price_max = price, .extra = counts_with(std::nullopt)};
  limits.offer_gpus_max = gpus_max;
  const BudgetShare share(budget_, budget_divisor);
  return beam_for(limits, relaxation, price).run_wider(widths);
}

/// Best first: the range with the least bound is split if its fractional optimum has a fraction of a GPU. If it has
/// none, exactly those GPUs are tried, and the rest of the range are those with more of some offer. The least
/// bound of all open ranges is the bound of the whole; a plan that meets it is the cheapest.
PlanSearch::MixAnswer PlanSearch::cheapest_mix(std::optional<FoundPlan> plan, const Relaxation& root) {
  struct Open {
    CountRange range;
    std::vector<double> gpus;
  };
  std::multimap<std::int64_t, Open> open;                             // by bound
  std::multimap<std::int64_t, std::vector<std::int64_t>> unresolved;  // GPUs, by bound
  const auto keep = [&](const BeamAnswer& answer) {
    if (!answer.plan) return;
    FoundPlan found{.covers = *answer.plan};
    measure(found);
    if (!plan || found.price < plan->price) plan = std::move(found);
  };
  const auto add = [&](CountRange range, std::int64_t least) {
    if (range.is_empty()) return;
    Relaxation relaxation = relax_within(range);
    if (relaxation.bound > range.price_of_most(instance_)) return;
    const std::int64_t bound = std::max(least, relaxation.bound);
    if (!plan || bound < plan->price) open.emplace(bound, Open{std::move(range), std::move(relaxation.gpus)});
  };
  open.emplace(root.bound, Open{all_counts({}), root.gpus});
  int visited = 0;
  while (!open.empty() && !budget_.is_spent()) {
    const std::int64_t bound = open.begin()->first;
    if (plan && plan->price <= bound) break;
    const Open node = std::move(open.begin()->second);
    open.erase(open.begin());
    const std::vector<std::int64_t> up = node.range.rounded_up(node.gpus);
    const bool is_whole = node.range.is_whole(node.gpus);
    if (is_whole || visited < kTriesAtFirst || visited % kTriesEvery == 0) {
      const BeamAnswer answer = look_within(up, is_whole ? std::span<const std::size_t>(kWide) : kNarrow, 16);
      keep(answer);
      if (is_whole && !answer.plan && !answer.is_proven_none) unresolved.emplace(bound, up);
    }
    ++visited;
    if (is_whole) {
      for (CountRange& rest : node.range.beyond(up)) add(std::move(rest), bound);
    } else {
      auto [low, high] = node.range.halves(node.gpus);
      add(std::move(low), bound);
      add(std::move(high), bound);
    }
  }
  while (!unresolved.empty() && !budget_.is_spent() && !(plan && plan->price <= unresolved.begin()->first)) {
    const BeamAnswer answer = look_within(unresolved.begin()->second, kWidest, 2);
    keep(answer);
    if (!answer.plan && !answer.is_proven_none) break;
    unresolved.erase(unresolved.begin());
  }
  MixAnswer answer{.plan = std::move(plan), .bound = PlanLimits::kNone, .is_proven_none = false};
  answer.is_proven_none = !answer.plan && open.empty() && unresolved.empty();
  if (answer.plan) answer.bound = answer.plan->price;
  if (!open.empty()) answer.bound = std::min(answer.bound, open.begin()->first);
  if (!unresolved.empty()) answer.bound = std::min(answer.bound, unresolved.begin()->first);
  answer.bound = std::max(answer.bound, root.bound);
  return answer;
}

}  // namespace berth::packing::detail
