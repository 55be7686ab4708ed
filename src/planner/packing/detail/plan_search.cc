#include "planner/packing/detail/plan_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "planner/packing/detail/bulk.h"
#include "planner/packing/detail/pool_mix.h"
#include "planner/packing/detail/relaxation.h"

namespace berth::packing::detail {
namespace {

/// States kept in parallel: few at first for a quick plan, then more for a proof.
constexpr std::array<std::size_t, 2> kQuickWidths = {32, 512};
constexpr std::array<std::size_t, 3> kWidths = {32, 512, 8'192};
constexpr std::array<std::size_t, 2> kLastWidths = {65'536, 262'144};
/// Dives near the best plan in a row without a better one.
constexpr int kNearDivesAtFirst = 8;
constexpr int kNearDivesMax = 60;
}  // namespace

PlanSearch::PlanSearch(const Instance& instance, Budget& budget, Counts settled)
    : instance_(instance), budget_(budget), settled_(std::move(settled)) {
  if (settled_.empty()) settled_.assign(instance.kinds.size(), 0);
  for (std::uint32_t o = 0; o < instance.offers.size(); ++o) fillers_.emplace_back(instance, o);
}

Counts PlanSearch::counts_with(std::optional<std::size_t> extra) const {
  Counts counts = settled_;
  if (extra) ++counts[*extra];
  return counts;
}

Beam PlanSearch::beam_for(const PlanLimits& limits, const Relaxation& relaxation, std::int64_t target) {
  std::vector<LimitedRow> rows;
  rows.reserve(relaxation.rows.size());
  for (const PlanRow& row : relaxation.rows) rows.push_back({row, row.limit(target)});
  return {instance_, fillers_, limits, std::move(rows), budget_};
}

/// Within the budget: a beam, then (if GPUs of several models can replace each other) the ranges of the numbers of GPUs
/// one after the other, else the widest beam.
BeamAnswer PlanSearch::look(const Question& question, const Relaxation& relaxation) {
  const bool has_choice = instance_.offers.size() > 1;
  BeamAnswer answer;
  {
    const BudgetShare share(budget_, has_choice ? 4 : 1);
    Beam beam = beam_for(question.limits, relaxation, question.target);
    answer = beam.run_wider(kWidths);
    if (!has_choice && !answer.plan && !answer.is_proven_none) answer = beam.run_wider(kLastWidths);
  }
  if (!has_choice || answer.plan || answer.is_proven_none) return answer;
  return look_by_counts(question);
}

PlanSearch::Question PlanSearch::about_price(std::int64_t target) const {
  const Counts nothing = counts_with(std::nullopt);
  return {.instance = &instance_,
          .relaxed = {.counts_slices = false, .limits = count_limits(instance_), .extra = nothing},
          .limits = {.price_max = target, .extra = nothing},
          .target = target};
}

void PlanSearch::measure(FoundPlan& plan) {
  plan.price = plan.gpus = plan.slices = plan.sms = 0;
  std::vector<Counts> pools(instance_.pool_count, Counts(instance_.kinds.size(), 0));
  pools[plan.free_pool] = counts_with(plan.free);
  for (std::size_t d = 0; d < instance_.demands.size(); ++d) {
    Counts& pool = pools[instance_.demands[d].pool];
    for (std::size_t k = 0; k < pool.size(); ++k) {
      pool[k] += plan.covers[d][k];
      plan.slices += plan.covers[d][k];
      plan.sms += std::int64_t{plan.covers[d][k]} * instance_.kinds[k].sms;
    }
  }
  std::vector<std::int64_t> gpus_by_offer(fillers_.size(), 0);
  for (const Counts& pool : pools) {
    for (std::size_t o = 0; o < fillers_.size(); ++o) {
      const std::int64_t gpus = fillers_[o].gpus_for(pool, budget_).gpus;
      gpus_by_offer[o] += gpus;
      plan.gpus += gpus;
      plan.price += gpus * instance_.offers[o].price;
    }
  }
  plan.is_within_counts = true;
  for (std::size_t o = 0; o < fillers_.size(); ++o) {
    if (gpus_by_offer[o] > instance_.offers[o].count_max.value_or(gpus_by_offer[o])) plan.is_within_counts = false;
  }
}

/// The plan of the covers that the fractional optimum uses most, if the offers have enough GPUs for it.
std::optional<FoundPlan> PlanSearch::rounded(const Relaxation& relaxation) {
  if (relaxation.covers.empty()) return std::nullopt;
  FoundPlan plan{.covers = relaxation.covers, .bound = relaxation.bound};
  measure(plan);
  if (!plan.is_within_counts) return std::nullopt;
  return plan;
}

/// A plan only on GPUs without a count, if they can serve every demand: so a feasible problem is never refused.
std::optional<FoundPlan> PlanSearch::on_unlimited(const Relaxation& relaxation) {
  if (relaxation.rows.empty()) return std::nullopt;
  FoundPlan plan{.covers = {}, .bound = relaxation.bound};
  for (InstanceDemand demand : instance_.demands) {
    for (std::size_t k = 0; k < demand.throughput.size(); ++k) {
      if (instance_.offers[instance_.kinds[k].offer].count_max) demand.throughput[k] = 0;
    }
    const bool is_served = std::ranges::any_of(demand.throughput, [](Int128 rate) { return rate > 0; });
    if (!is_served) return std::nullopt;
    Weights weights = relaxation.rows.front().weights;
    weights.per_slice = 1;  // so that every kind has a weight
    plan.covers.push_back(lightest_cover(demand, weights).cover);
  }
  measure(plan);
  if (!plan.is_within_counts) return std::nullopt;
  return plan;
}

/// A better plan if demands are large: most of their slices as the relaxation mixes them, the rest searched.
void PlanSearch::search_rest(FoundPlan& plan, const Relaxation& relaxation) {
  const bool is_rest = std::ranges::any_of(settled_, [](std::int32_t n) { return n > 0; });
  if (is_rest || instance_.pool_count > 1 || plan.price <= relaxation.bound) return;
  const std::optional<Bulk> bulk = take_bulk(instance_, relaxation);
  if (!bulk) return;
  const BudgetShare share(budget_, 3);
  const tl::expected<FoundPlan, NoPlan> rest = PlanSearch(bulk->rest, budget_, bulk->counts).cheapest();
  if (!rest) return;
  FoundPlan whole{.covers = with_bulk(instance_, *bulk, rest->covers), .bound = plan.bound};
  measure(whole);
  if (whole.is_within_counts && whole.price < plan.price) plan = std::move(whole);
}

void PlanSearch::take_if_better(CoverChoice covers, std::optional<FoundPlan>& plan) {
  FoundPlan found{.covers = std::move(covers)};
  measure(found);
  if (found.is_within_counts && (!plan || found.price < plan->price)) plan = std::move(found);
}

/// Tenants kept apart: each tenant is planned alone under the full limits. Their total cost is a bound, and if their
/// GPUs together are within the limits it is the best plan; otherwise they have to be mixed. False: some tenant alone
/// has no plan.
bool PlanSearch::mix_of_pools(std::optional<FoundPlan>& plan, std::int64_t& bound, const Relaxation& relaxation) {
  std::vector<CoverChoice> alone(instance_.pool_count);
  std::int64_t sum = 0;
  {
    const BudgetShare all(budget_, 4);
    for (std::uint32_t pool = 0; pool < instance_.pool_count; ++pool) {
      const BudgetShare share(budget_, instance_.pool_count - pool);
      const Instance one = instance_.only_pool(pool);
      tl::expected<FoundPlan, NoPlan> found = PlanSearch(one, budget_).cheapest();
      if (!found && found.error().is_proven) return false;
      if (!found) continue;
      sum += found->bound;
      alone[pool] = std::move(found->covers);
    }
  }
  bound = std::max(bound, sum);
  if (std::ranges::none_of(alone, &CoverChoice::empty)) {
    CoverChoice joined;
    for (const CoverChoice& covers : alone) joined.insert(joined.end(), covers.begin(), covers.end());
    take_if_better(std::move(joined), plan);
  }
  if (plan && plan->price <= bound) return true;
  const BudgetShare share(budget_, 3);
  const PoolMixGoal goal{.price_min = bound, .starts = alone, .plan = plan ? &plan->covers : nullptr};
  if (std::optional<CoverChoice> mixed = mix_pools(instance_, fillers_, relaxation, goal, budget_))
    take_if_better(std::move(*mixed), plan);
  return true;
}

/// A better plan by diving. It is worthwhile if GPUs of several models can replace each other, or if tenants compete.
void PlanSearch::dive_for(Diver& diver, int near_dives_max, std::optional<FoundPlan>& plan, std::int64_t bound) {
  if (plan && plan->price <= bound) return;
  const BudgetShare share(budget_, 3);
  DiveTask task{.prices = {},
                .gpus_max = {},
                .price_min = bound,
                .start = plan ? &plan->covers : nullptr,
                .near_dives_max = near_dives_max};
  for (const OfferedGpus& offer : instance_.offers) {
    task.prices.push_back(offer.price);
    task.gpus_max.push_back(offer.count_max.value_or(PlanLimits::kNone));
  }
  CoverChoice covers = diver.search(task, budget_);
  if (!covers.empty()) take_if_better(std::move(covers), plan);
}

/// Halves the gap between bound and plan while narrow searches find something. Without a plan the target rises from the
/// bound, in steps that double.
void PlanSearch::aim_between(std::optional<FoundPlan>& plan, std::int64_t& bound, const Relaxation& relaxation) {
  std::int64_t low = bound;  // below it nothing was found
  std::int64_t target = bound;
  std::int64_t step =
      std::max<std::int64_t>(1, std::ranges::min_element(instance_.offers, {}, &OfferedGpus::price)->price);
  const std::int64_t hopeless = 4 * bound + 64 * step;
  while (!budget_.is_spent() && (plan ? low < plan->price : target < hopeless)) {
    const BeamAnswer answer = beam_for(about_price(target).limits, relaxation, target).run_wider(kQuickWidths);
    if (answer.plan) {
      plan = FoundPlan{.covers = *answer.plan};
      measure(*plan);
    } else {
      low = target + 1;
      if (answer.is_proven_none) bound = std::max(bound, low);
    }
    if (plan) {
      target = low + (plan->price - low) / 2;
    } else {
      target += step;
      step *= 2;
    }
  }
}

/// Looks for a cheaper plan until there is none or none is found.
void PlanSearch::lower_price(FoundPlan& plan, const Relaxation& relaxation) {
  while (plan.price > plan.bound && !budget_.is_spent()) {
    const BeamAnswer answer = look(about_price(plan.price - 1), relaxation);
    if (answer.is_proven_none) plan.bound = plan.price;
    if (!answer.plan) return;
    plan.covers = *answer.plan;
    measure(plan);
  }
}

/// GPUs of several models, or tenants that compete: a quick dive, then the bound, then a long dive if the two differ.
/// False: there is no plan.
bool PlanSearch::mix_offers(std::optional<FoundPlan>& plan, std::int64_t& bound, const Relaxation& relaxation) {
  const Counts extra = counts_with(std::nullopt);
  Diver diver(instance_, fillers_, extra, relaxation);
  dive_for(diver, kNearDivesAtFirst, plan, bound);
  if (instance_.offers.size() > 1 && (!plan || plan->price > bound)) {
    const BudgetShare share(budget_, 2);
    const MixAnswer mix = cheapest_mix(std::move(plan), relaxation);
    if (!mix.plan && mix.is_proven_none) return false;
    plan = mix.plan;
    bound = std::max(bound, mix.bound);
  }
  dive_for(diver, kNearDivesMax, plan, bound);
  return true;
}

tl::expected<FoundPlan, NoPlan> PlanSearch::cheapest() {
  const Relaxation relaxation = relax(instance_, about_price(0).relaxed);
  if (relaxation.bound > most_expensive()) return tl::unexpected(NoPlan{true});
  std::int64_t bound = relaxation.bound;
  std::optional<FoundPlan> plan = rounded(relaxation);
  if (!plan) plan = on_unlimited(relaxation);
  if (plan) search_rest(*plan, relaxation);
  if (instance_.pool_count > 1 && !mix_of_pools(plan, bound, relaxation)) return tl::unexpected(NoPlan{true});
  const bool has_choice = instance_.pool_count > 1 || instance_.offers.size() > 1;
  if (has_choice && !mix_offers(plan, bound, relaxation)) return tl::unexpected(NoPlan{true});
  if (!plan || plan->price > bound) {
    const BudgetShare share(budget_, instance_.offers.size() > 1 ? 4 : 2);
    aim_between(plan, bound, relaxation);
  }
  if (!plan) {
    const BeamAnswer last = look(about_price(most_expensive()), relaxation);
    if (!last.plan) return tl::unexpected(NoPlan{last.is_proven_none});
    plan = FoundPlan{.covers = *last.plan};
    measure(*plan);
  }
  plan->bound = bound;
  lower_price(*plan, relaxation);
  if (has_free_gpus()) lower_gpus(*plan);
  return *plan;
}

/// The cost that no plan can exceed.
std::int64_t PlanSearch::most_expensive() const {
  std::int64_t price = 0;
  for (const OfferedGpus& offer : instance_.offers) {
    price += offer.price * std::min(offer.count_max.value_or(kSlicesMax), kSlicesMax);
  }
  return price;
}

/// Whether some GPUs cost nothing. Then plans of one price are limited by their GPUs as well: otherwise every slice
/// would get a GPU of its own.
bool PlanSearch::has_free_gpus() const {
  return std::ranges::any_of(instance_.offers, [](const OfferedGpus& offer) { return offer.price == 0; });
}

PlanLimits PlanSearch::as_good_as(const FoundPlan& plan) const {
  return {.price_max = plan.price,
          .gpus_max = has_free_gpus() ? plan.gpus : PlanLimits::kNone,
          .extra = counts_with(plan.free),
          .extra_pool = plan.free_pool};
}

/// Cost as a limit on GPUs, rounded (down on both sides, so it stays one) to numbers that leave room for precise
/// prices.
GpuLimit PlanSearch::price_limit(std::int64_t price_max) const {
  constexpr std::int64_t kFactorMax = 10'000;
  const std::int64_t unit =
      std::max(kFactorMax, std::ranges::max_element(instance_.offers, {}, &OfferedGpus::price)->price);
  const auto in_units = [&](std::int64_t price) {
    return static_cast<std::int64_t>(static_cast<Int128>(price) * kFactorMax / unit);
  };
  GpuLimit limit{{}, in_units(price_max)};
  for (const OfferedGpus& offer : instance_.offers) limit.factor.push_back(in_units(offer.price));
  return limit;
}

std::vector<GpuLimit> PlanSearch::limits_of(const FoundPlan& plan) const {
  std::vector<GpuLimit> limits = count_limits(instance_);
  limits.push_back(price_limit(plan.price));
  if (has_free_gpus()) {
    limits.push_back({std::vector<std::int64_t>(instance_.offers.size(), 1), plan.gpus});
  }
  return limits;
}

/// Plans of the same price with fewer GPUs, as far as the search goes.
void PlanSearch::lower_gpus(FoundPlan& plan) {
  Instance by_gpus = instance_;
  for (OfferedGpus& offer : by_gpus.offers) offer.price = 1;
  RelaxedProblem problem{.counts_slices = false, .limits = count_limits(instance_), .extra = counts_with(std::nullopt)};
  problem.limits.push_back(price_limit(plan.price));
  const Relaxation relaxation = relax(by_gpus, problem);
  while (plan.gpus > relaxation.bound) {
    const PlanLimits limits{.price_max = plan.price, .gpus_max = plan.gpus - 1, .extra = problem.extra};
    const BeamAnswer answer = look({&by_gpus, problem, limits, plan.gpus - 1}, relaxation);
    if (!answer.plan) return;
    plan.covers = *answer.plan;
    measure(plan);
  }
}

PlanSearch::FreeAnswer PlanSearch::with_free(const FoundPlan& plan, std::size_t kind, std::uint32_t pool) {
  FoundPlan better = plan;
  better.free = kind;
  better.free_pool = pool;
  const RelaxedProblem relaxed = {.counts_slices = false, .limits = limits_of(plan), .extra = counts_with(kind)};
  const Relaxation relaxation = relax(instance_, relaxed);
  if (relaxation.bound > plan.price) return {std::nullopt, true};
  const BeamAnswer answer = look({&instance_, relaxed, as_good_as(better), plan.price}, relaxation);
  if (!answer.plan) return {std::nullopt, answer.is_proven_none};
  better.covers = *answer.plan;
  measure(better);
  return {better, false};
}

void PlanSearch::lower_slices(FoundPlan& plan) {
  const RelaxedProblem relaxed = {.counts_slices = true, .limits = limits_of(plan), .extra = counts_with(plan.free)};
  const Relaxation relaxation = relax(instance_, relaxed);
  std::int64_t bound = relaxation.bound;
  const auto take = [&](const BeamAnswer& answer, std::int64_t slices_max) {
    if (answer.is_proven_none) bound = std::max(bound, slices_max + 1);
    if (!answer.plan) return false;
    plan.covers = *answer.plan;
    measure(plan);
    return true;
  };
  const auto limits_for = [&](std::int64_t slices_max) {
    PlanLimits limits = as_good_as(plan);
    limits.slices_max = slices_max;
    return limits;
  };
  for (std::int64_t low = bound; low < plan.slices && !budget_.is_spent();) {
    const std::int64_t target = low + (plan.slices - low) / 2;
    const BeamAnswer answer = beam_for(limits_for(target), relaxation, target).run_wider(kQuickWidths);
    if (!take(answer, target)) low = target + 1;
  }
  bool is_lower = true;
  while (is_lower && plan.slices > bound && !budget_.is_spent()) {
    const std::int64_t target = plan.slices - 1;
    is_lower = take(look({&instance_, relaxed, limits_for(target), target}, relaxation), target);
  }
  plan.is_slice_count_proven = plan.slices <= bound;
  const BudgetShare share(budget_, 4);
  FoundPlan smaller = plan;
  const BeamAnswer answer = beam_for(limits_for(plan.slices), relaxation, plan.slices).run(kQuickWidths.back());
  if (!answer.plan) return;
  smaller.covers = *answer.plan;
  measure(smaller);
  if (smaller.sms < plan.sms) plan = std::move(smaller);
}

}  // namespace berth::packing::detail
