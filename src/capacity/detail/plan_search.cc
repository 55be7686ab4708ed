#include "capacity/detail/plan_search.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "capacity/detail/relaxation.h"

namespace berth::capacity::detail {
namespace {

/// States kept side by side: first few, for a quick plan, then many, for a proof.
constexpr std::array<std::size_t, 2> kQuickWidths = {32, 512};
constexpr std::array<std::size_t, 5> kWidths = {32, 512, 8'192, 65'536, 262'144};

}  // namespace

PlanSearch::PlanSearch(const Instance& instance, Budget& budget) : instance_(instance), budget_(budget) {
  for (std::uint32_t o = 0; o < instance.offers.size(); ++o) fillers_.emplace_back(instance, o);
}

Counts PlanSearch::counts_with(std::optional<std::size_t> extra) const {
  Counts counts(instance_.kinds.size(), 0);
  if (extra) counts[*extra] = 1;
  return counts;
}

Beam PlanSearch::aim(const PlanLimits& limits, const Relaxation& relaxation, std::int64_t target) {
  std::vector<LimitedRow> rows;
  rows.reserve(relaxation.rows.size());
  for (const PlanRow& row : relaxation.rows) rows.push_back({row, row.limit(target)});
  return {instance_, fillers_, limits, std::move(rows), budget_};
}

BeamAnswer PlanSearch::look(const PlanLimits& limits, const Relaxation& relaxation, std::int64_t target) {
  return aim(limits, relaxation, target).run_wider(kWidths);
}

Beam PlanSearch::aim_at_price(const Relaxation& relaxation, std::int64_t target) {
  return aim({.price_max = target, .extra = counts_with(std::nullopt)}, relaxation, target);
}

void PlanSearch::measure(FoundPlan& plan) {
  plan.price = plan.gpus = plan.slices = 0;
  std::vector<Counts> pools(instance_.pool_count, counts_with(std::nullopt));
  pools[plan.free_pool] = counts_with(plan.free);
  for (std::size_t d = 0; d < instance_.demands.size(); ++d) {
    Counts& pool = pools[instance_.demands[d].pool];
    for (std::size_t k = 0; k < pool.size(); ++k) {
      pool[k] += plan.covers[d][k];
      plan.slices += plan.covers[d][k];
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

/// The plan of the covers that the fractional optimum uses most, if the offers have GPUs enough for it.
std::optional<FoundPlan> PlanSearch::rounded(const Relaxation& relaxation) {
  if (relaxation.covers.empty()) return std::nullopt;
  FoundPlan plan{.covers = relaxation.covers, .bound = relaxation.bound};
  measure(plan);
  if (!plan.is_within_counts) return std::nullopt;
  return plan;
}

/// Halves the gap between bound and plan as long as narrow searches find something. Without a plan the aim rises from
/// the bound, in steps that double.
void PlanSearch::aim_between(std::optional<FoundPlan>& plan, std::int64_t& bound, const Relaxation& relaxation) {
  std::int64_t low = bound;  // below it nothing was found
  std::int64_t target = bound;
  std::int64_t step = std::max<std::int64_t>(1, std::ranges::min_element(instance_.offers, {}, &Offer::price)->price);
  const std::int64_t hopeless = 4 * bound + 64 * step;
  while (!budget_.is_spent() && (plan ? low < plan->price : target < hopeless)) {
    const BeamAnswer answer = aim_at_price(relaxation, target).run_wider(kQuickWidths);
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
    const BeamAnswer answer = aim_at_price(relaxation, plan.price - 1).run_wider(kWidths);
    if (answer.is_proven_none) plan.bound = plan.price;
    if (!answer.plan) return;
    plan.covers = *answer.plan;
    measure(plan);
  }
}

tl::expected<FoundPlan, NoPlan> PlanSearch::cheapest() {
  const Relaxation relaxation =
      relax(instance_, {.counts_slices = false, .limits = count_limits(instance_), .extra = counts_with(std::nullopt)});
  if (relaxation.bound > dearest()) return tl::unexpected(NoPlan{true});
  std::int64_t bound = relaxation.bound;
  std::optional<FoundPlan> plan = rounded(relaxation);
  aim_between(plan, bound, relaxation);
  if (!plan) {
    const BeamAnswer last = aim_at_price(relaxation, dearest()).run_wider(kWidths);
    if (!last.plan) return tl::unexpected(NoPlan{last.is_proven_none});
    plan = FoundPlan{.covers = *last.plan};
    measure(*plan);
  }
  plan->bound = bound;
  lower_price(*plan, relaxation);
  if (has_free_gpus()) lower_gpus(*plan);
  return *plan;
}

/// What no plan can exceed.
std::int64_t PlanSearch::dearest() const {
  std::int64_t price = 0;
  for (const Offer& offer : instance_.offers) {
    price += offer.price * std::min(offer.count_max.value_or(kSlicesMax), kSlicesMax);
  }
  return price;
}

/// Whether some GPUs cost nothing. Then plans of one price are limited by their GPUs as well: else every slice would
/// stand alone.
bool PlanSearch::has_free_gpus() const {
  return std::ranges::any_of(instance_.offers, [](const Offer& offer) { return offer.price == 0; });
}

PlanLimits PlanSearch::as_good_as(const FoundPlan& plan) const {
  return {.price_max = plan.price,
          .gpus_max = has_free_gpus() ? plan.gpus : PlanLimits::kNone,
          .extra = counts_with(plan.free),
          .extra_pool = plan.free_pool};
}

/// Money as a limit on GPUs, rounded (down on both sides, so it stays one) to numbers that leave room for precise
/// prices.
GpuLimit PlanSearch::price_limit(std::int64_t price_max) const {
  constexpr std::int64_t kFactorMax = 10'000;
  const std::int64_t unit = std::max(kFactorMax, std::ranges::max_element(instance_.offers, {}, &Offer::price)->price);
  const auto in_units = [&](std::int64_t price) {
    return static_cast<std::int64_t>(static_cast<Int128>(price) * kFactorMax / unit);
  };
  GpuLimit limit{{}, in_units(price_max)};
  for (const Offer& offer : instance_.offers) limit.factor.push_back(in_units(offer.price));
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
  for (Offer& offer : by_gpus.offers) offer.price = 1;
  RelaxedProblem problem{.counts_slices = false, .limits = count_limits(instance_), .extra = counts_with(std::nullopt)};
  problem.limits.push_back(price_limit(plan.price));
  const Relaxation relaxation = relax(by_gpus, problem);
  while (plan.gpus > relaxation.bound) {
    const PlanLimits limits{.price_max = plan.price, .gpus_max = plan.gpus - 1, .extra = counts_with(std::nullopt)};
    const BeamAnswer answer = look(limits, relaxation, plan.gpus - 1);
    if (!answer.plan) return;
    plan.covers = *answer.plan;
    measure(plan);
  }
}

PlanSearch::FreeAnswer PlanSearch::with_free(const FoundPlan& plan, std::size_t kind, std::uint32_t pool) {
  FoundPlan better = plan;
  better.free = kind;
  better.free_pool = pool;
  const Relaxation relaxation =
      relax(instance_, {.counts_slices = false, .limits = limits_of(plan), .extra = counts_with(kind)});
  if (relaxation.bound > plan.price) return {std::nullopt, true};
  const BeamAnswer answer = look(as_good_as(better), relaxation, plan.price);
  if (!answer.plan) return {std::nullopt, answer.is_proven_none};
  better.covers = *answer.plan;
  measure(better);
  return {better, false};
}

void PlanSearch::lower_slices(FoundPlan& plan) {
  const Relaxation relaxation =
      relax(instance_, {.counts_slices = true, .limits = limits_of(plan), .extra = counts_with(plan.free)});
  std::int64_t bound = relaxation.bound;
  const auto look_for = [&](std::int64_t slices_max, std::span<const std::size_t> widths) {
    PlanLimits limits = as_good_as(plan);
    limits.slices_max = slices_max;
    const BeamAnswer answer = aim(limits, relaxation, slices_max).run_wider(widths);
    if (answer.is_proven_none) bound = std::max(bound, slices_max + 1);
    if (answer.plan) {
      plan.covers = *answer.plan;
      measure(plan);
    }
    return answer.plan.has_value();
  };
  for (std::int64_t low = bound; low < plan.slices && !budget_.is_spent();) {
    const std::int64_t target = low + (plan.slices - low) / 2;
    if (!look_for(target, kQuickWidths)) low = target + 1;
  }
  while (plan.slices > bound && !budget_.is_spent() && look_for(plan.slices - 1, kWidths)) {
  }
  plan.is_slice_count_proven = plan.slices <= bound;
}

}  // namespace berth::capacity::detail
