#include "ledger/recount/detail/facts.h"

#include <iterator>
#include <utility>

#include "base/core/overloaded.h"

namespace berth::ledger::recounting {
namespace {

const Period& period_of(const Gpu* gpu) { return gpu->when; }
const Period& period_of(const Use* use) { return use->when; }

/// Whether one of `others`, which do not overlap each other and are ordered by from_us, overlaps the period.
template <class Other>
bool has_overlap(const std::map<std::int64_t, const Other*>& others, const Period& period) {
  const auto behind = others.lower_bound(period.to_us);
  return behind != others.begin() && period_of(std::prev(behind)->second).to_us > period.from_us;
}

/// Calls `visit` with each month of the GPU that the period touches.
template <class Visit>
void for_each_month(GpuFacts& gpu, const Period& period, const Visit& visit) {
  for (Month month = Month::of(period.from_us); month.begin_us() < period.to_us; month = month.next()) {
    visit(gpu.months[month]);
  }
}

bool is_voidable(const Event& event) {
  return std::holds_alternative<Use>(event) || std::holds_alternative<Gpu>(event) ||
         std::holds_alternative<Credit>(event) || std::holds_alternative<Budget>(event);
}

}  // namespace

Verdict Facts::take(Line line) {
  const auto [place, is_new] = seen_.try_emplace(std::move(line.id), Seen{.event = line.event});
  Seen& seen = place->second;
  if (!is_new) return seen.event == line.event ? Verdict::kDuplicate : Verdict::kConflict;
  const Verdict verdict = take_new(seen);
  seen.counts = verdict == Verdict::kAccepted;
  if (is_voidable(seen.event) && voided_ahead_.contains(place->first)) drop(seen);
  return verdict;
}

Verdict Facts::take_new(const Seen& seen) {
  const auto take_first = [](auto& taken, std::string_view name, std::int64_t from_us) {
    return taken.emplace(name, from_us).second ? Verdict::kAccepted : Verdict::kConflict;
  };
  return std::visit(Overloaded{
                        [&](const Price& price) { return take_price(price); },
                        [&](const Gpu& gpu) { return take_gpu(gpu); },
                        [&](const Use& use) { return take_use(use, seen); },
                        [&](const Credit&) { return Verdict::kAccepted; },
                        [&](const Budget& budget) { return take_first(budgets_, budget.tenant, budget.from_us); },
                        [&](const Rate& rate) { return take_first(rates_, rate.currency, rate.from_us); },
                        [&](const Void& event) { return take_void(event.of); },
                        [&](const Close& close) { return take_close(close.month); },
                    },
                    seen.event);
}

Verdict Facts::take_price(const Price& price) {
  auto& of_sku = prices_[price.sku];
  if (of_sku.contains(price.from_us)) return Verdict::kConflict;
  if (last_closed_ && price.from_us < last_closed_->end_us()) return Verdict::kClosed;
  of_sku[price.from_us] = price.micro_usd_per_gpu_hour;
  return Verdict::kAccepted;
}

Verdict Facts::take_gpu(const Gpu& gpu) {
  GpuFacts& facts = gpus_[gpu.gpu];
  if (has_overlap(facts.paid, gpu.when)) return Verdict::kOverlap;
  facts.paid[gpu.when.from_us] = &gpu;
  for_each_month(facts, gpu.when, [](GpuMonth& month) { month.is_changed = true; });
  return Verdict::kAccepted;
}

Verdict Facts::take_use(const Use& use, const Seen& seen) {
  GpuFacts& facts = gpus_[use.gpu];
  auto& of_slice = facts.uses[use.slice];
  if (has_overlap(of_slice, use.when)) return Verdict::kOverlap;
  of_slice[use.when.from_us] = &use;
  for_each_month(facts, use.when, [&](GpuMonth& month) {
    month.uses.push_back(&seen);
    month.is_changed = true;
  });
  return Verdict::kAccepted;
}

Verdict Facts::take_void(std::string_view of) {
  const auto target = seen_.find(std::string(of));
  if (target == seen_.end()) {
    voided_ahead_.emplace(of);
    return Verdict::kAccepted;
  }
  if (!is_voidable(target->second.event)) return Verdict::kVoid;
  drop(target->second);
  return Verdict::kAccepted;
}

Verdict Facts::take_close(Month month) {
  if (last_closed_ && month != last_closed_->next()) return Verdict::kClose;
  last_closed_ = month;
  return Verdict::kAccepted;
}

/// Voids an event that counts; a refused or voided one stays as it is.
void Facts::drop(Seen& seen) {
  if (!seen.counts) return;
  seen.counts = false;
  ++voided_;
  if (const auto* gpu = std::get_if<Gpu>(&seen.event)) {
    GpuFacts& facts = gpus_[gpu->gpu];
    facts.paid.erase(gpu->when.from_us);
    for_each_month(facts, gpu->when, [](GpuMonth& month) { month.is_changed = true; });
  } else if (const auto* use = std::get_if<Use>(&seen.event)) {
    GpuFacts& facts = gpus_[use->gpu];
    facts.uses[use->slice].erase(use->when.from_us);
    for_each_month(facts, use->when, [](GpuMonth& month) { month.is_changed = true; });
  } else if (const auto* budget = std::get_if<Budget>(&seen.event)) {
    budgets_.erase({budget->tenant, budget->from_us});
  }
}

}  // namespace berth::ledger::recounting
