#include "ledger/billing/cost_overview.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/proportion.h"
#include "base/core/sort_stably.h"
#include "ledger/books/report.h"

namespace berth::ledger {
namespace {

constexpr std::int64_t kMicrosPerHour = 3'600'000'000;

std::size_t place_of(SpendKind kind) { return static_cast<std::size_t>(kind); }

/// The paid part of the range.
std::optional<Interval> covered(const Books& books, const OverviewRange& range) {
  auto when = books.paid_time();
  if (!when) return std::nullopt;
  const Interval asked = range.days.interval();
  when->from_us = std::max(when->from_us, asked.from_us);
  when->to_us = std::min(when->to_us, asked.to_us);
  if (range.as_of_us) when->to_us = std::min(when->to_us, *range.as_of_us);
  return when->from_us < when->to_us ? when : std::nullopt;
}

/// Hours or days, over which amounts are distributed.
class SpanSums {
 public:
  SpanSums(const Interval& when, std::int64_t length_us)
      : length_us_(length_us), begin_us_(when.from_us / length_us * length_us) {
    for (std::int64_t from_us = begin_us_; from_us < when.to_us; from_us += length_us) {
      spans_.push_back(
          {.when = {.from_us = std::max(from_us, when.from_us), .to_us = std::min(from_us + length_us, when.to_us)},
           .kinds = {}});
    }
  }

  /// Adds an amount that was spent evenly; the parts of the spans sum to it.
  void add(const Interval& when, SpendKind kind, const Amount& amount) {
    Amount before;
    for (std::int64_t at_us = when.from_us; at_us < when.to_us;) {
      KindSpan& span = spans_[static_cast<std::size_t>((at_us - begin_us_) / length_us_)];
      at_us = std::min(span.when.to_us, when.to_us);
      const Int128 part = at_us - when.from_us;
      const Amount until{.gpu_us = multiply_divide(amount.gpu_us, part, when.length_us()).quotient,
                         .grains = multiply_divide(amount.grains, part, when.length_us()).quotient};
      span.kinds.at(place_of(kind)) += until - before;
      before = until;
    }
  }
  void add_day(std::int32_t day, SpendKind kind, const Amount& amount) {
    const std::int64_t place = (day * kMicrosPerDay - begin_us_) / length_us_;
    spans_[static_cast<std::size_t>(place)].kinds.at(place_of(kind)) += amount;
  }

  [[nodiscard]] std::vector<KindSpan> take() { return std::move(spans_); }

 private:
  std::int64_t length_us_;
  std::int64_t begin_us_;
  std::vector<KindSpan> spans_;
};

/// Entries by tenant and day, tenants in the order of their first entry.
class TenantSums {
 public:
  void add(const DayEntry& entry) {
    auto found = places_.find(entry.tenant);
    if (found == places_.end()) {
      found = places_.emplace(std::string(entry.tenant), tenants_.size()).first;
      tenants_.push_back({.tenant = found->first, .kinds = {}});
    }
    tenants_[found->second].kinds.at(place_of(kind_of(entry.role))) += entry.amount;
    if (entry.amount.grains != 0) days_[{entry.day, found->second}] += entry.amount.grains;
  }

  /// Fills in the tenants, sorted, and their days.
  void put(CostOverview& overview) const {
    std::vector<std::size_t> order(tenants_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      const Grains cost_a = tenants_[a].total().grains;
      const Grains cost_b = tenants_[b].total().grains;
      return cost_a != cost_b ? cost_a > cost_b : tenants_[a].tenant < tenants_[b].tenant;
    });
    std::vector<std::size_t> places(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      places[order[i]] = i;
      overview.tenants.push_back(tenants_[order[i]]);
    }
    for (const auto& [key, grains] : days_) {
      overview.days.push_back({.day = key.first, .tenant = places[key.second], .grains = grains});
    }
    std::ranges::sort(overview.days, {}, [](const DayCost& cost) { return std::pair(cost.day, cost.tenant); });
  }

 private:
  std::map<std::string, std::size_t, std::less<>> places_;
  std::vector<TenantCost> tenants_;
  std::map<std::pair<std::int32_t, std::size_t>, Grains> days_;
};

/// The price changes of paid skus within the interval.
std::vector<PriceChange> price_changes(const Books& books, const Interval& when,
                                       const std::set<std::string, std::less<>>& skus) {
  std::vector<PriceChange> changes;
  const SkuPrice* last = nullptr;
  const auto prices = books.prices();
  for (const SkuPrice& price : prices) {
    const SkuPrice* const before = last != nullptr && last->sku == price.sku ? last : nullptr;
    last = &price;
    const bool is_within = price.from_us > when.from_us && price.from_us < when.to_us;
    const bool is_same = before != nullptr && before->micro_usd_per_gpu_hour == price.micro_usd_per_gpu_hour;
    if (!is_within || is_same || !skus.contains(price.sku)) continue;
    changes.push_back({.at_us = price.from_us,
                       .sku = price.sku,
                       .before = before == nullptr ? std::nullopt : std::optional(before->micro_usd_per_gpu_hour),
                       .after = price.micro_usd_per_gpu_hour});
  }
  sort_stably(changes, &PriceChange::at_us);
  return changes;
}

std::vector<CorrectionSum> correction_sums(const Report& report, const Interval& when) {
  std::map<std::pair<Month, Month>, CorrectionSum> sums;  // by the month that is corrected, then the one booked in
  for (const MonthRows& month : report.months) {
    for (const Row& row : month.rows) {
      if (!row.key.of || row.key.of->end_us() <= when.from_us || row.key.of->begin_us() >= when.to_us) continue;
      CorrectionSum& sum = sums[{*row.key.of, month.month}];
      sum.booked = month.month;
      sum.of = *row.key.of;
      sum.gpu_us += row.amount.gpu_us;
      sum.micro_usd += row.micro_usd;
      sum.moved_micro_usd += std::max(row.micro_usd, MicroUsd{0});
      ++sum.row_count;
    }
  }
  std::vector<CorrectionSum> list;
  list.reserve(sums.size());
  for (const auto& [months, sum] : sums) list.push_back(sum);
  return list;
}

/// Fills in everything that is computed from entries and cells.
void fill_spending(CostOverview& overview, Books& books, const Interval& when) {
  const std::int32_t day_count = day_of(when.to_us - 1) - day_of(when.from_us) + 1;
  overview.has_hours = day_count <= kHourlyDaysMax;
  SpanSums spans(when, overview.has_hours ? kMicrosPerHour : kMicrosPerDay);
  TenantSums tenants;
  std::set<std::string, std::less<>> gpus;
  std::set<std::string, std::less<>> skus;
  books.for_each_entry(when, [&](const DayEntry& entry) {
    if (entry.amount == Amount()) return;
    overview.total += entry.amount;
    tenants.add(entry);
    if (!gpus.contains(entry.gpu)) gpus.emplace(entry.gpu);
    if (!skus.contains(entry.sku)) skus.emplace(entry.sku);
    if (!overview.has_hours) spans.add_day(entry.day, kind_of(entry.role), entry.amount);
  });
  if (overview.has_hours) {
    books.for_each_cell_part(when,
                             [&](const CellPart& part) { spans.add(part.when, kind_of(part.role), part.amount); });
  }
  tenants.put(overview);
  overview.spans = spans.take();
  overview.gpu_count = gpus.size();
  overview.price_changes = price_changes(books, when, skus);
}

}  // namespace

std::string_view name_of(SpendKind kind) {
  switch (kind) {
    case SpendKind::kUsed:
      return "used";
    case SpendKind::kIdle:
      return "idle";
    case SpendKind::kStranded:
      return "stranded";
    case SpendKind::kReconfiguration:
      return "reconfiguration";
  }
  ENSURE(false);
}

SpendKind kind_of(Role role) {
  switch (role) {
    case Role::kInference:
    case Role::kJob:
    case Role::kReserved:
    case Role::kRetraining:
      return SpendKind::kUsed;
    case Role::kIdle:
      return SpendKind::kIdle;
    case Role::kStranded:
      return SpendKind::kStranded;
    case Role::kReconfiguration:
      return SpendKind::kReconfiguration;
    case Role::kShared:
      break;
  }
  ENSURE(false);
}

Amount TenantCost::total() const {
  Amount sum;
  for (const Amount& amount : kinds) sum += amount;
  return sum;
}

CostOverview cost_overview(Books& books, const OverviewRange& range) {
  CostOverview overview{.when = covered(books, range),
                        .total = {},
                        .tenants = {},
                        .days = {},
                        .spans = {},
                        .budgets_month = {},
                        .budgets = {},
                        .price_changes = {},
                        .corrections = {},
                        .last_closed = books.last_closed()};
  if (overview.when) {
    const Report report = books.report();
    fill_spending(overview, books, *overview.when);
    overview.corrections = correction_sums(report, *overview.when);
    overview.unpriced_us = report.unpriced_us;
    overview.unbacked_us = report.unbacked_us;
    overview.budgets_month = Month::of(overview.when->to_us - 1);
    overview.budgets_until_us = overview.when->to_us;
    overview.budgets = budget_standings_until(books, overview.when->to_us);
  }
  if (range.as_of_us) {
    overview.budgets_month = Month::of(*range.as_of_us);
    overview.budgets_until_us = *range.as_of_us;
    overview.budgets = budget_standings(books, *range.as_of_us);
  }
  return overview;
}

}  // namespace berth::ledger
