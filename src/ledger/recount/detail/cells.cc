#include "ledger/recount/detail/cells.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>

namespace berth::ledger::recounting {
namespace {

/// A slice has at most one use at a time: overlapping ones were refused.
struct BySlice {
  bool operator()(const Use* a, const Use* b) const { return a->slice < b->slice; }
};
using ActiveUses = std::set<const Use*, BySlice>;

/// The record of the GPU that is paid for at an instant; null: it is not.
const Gpu* paid_at(const PaidPeriods& paid, std::int64_t us) {
  const auto behind = paid.upper_bound(us);
  if (behind == paid.begin()) return nullptr;
  const Gpu* gpu = std::prev(behind)->second;
  return us < gpu->when.to_us ? gpu : nullptr;
}

std::optional<std::int64_t> price_at(const Prices& prices, std::string_view sku, std::int64_t us) {
  const auto of_sku = prices.find(sku);
  if (of_sku == prices.end()) return std::nullopt;
  const auto behind = of_sku->second.upper_bound(us);
  if (behind == of_sku->second.begin()) return std::nullopt;
  return std::prev(behind)->second;
}

/// All instants of the month at which a cell may begin or end: ascending, each once.
std::vector<std::int64_t> borders_of(Month month, const PaidPeriods& paid, const std::vector<const Use*>& uses,
                                     const Prices& prices) {
  const std::int64_t begin = month.begin_us();
  const std::int64_t end = month.end_us();
  std::vector<std::int64_t> borders;
  const auto add = [&](std::int64_t us) {
    if (begin <= us && us <= end) borders.push_back(us);
  };
  for (std::int64_t midnight = begin; midnight <= end; midnight += kMicrosPerDay) add(midnight);
  for (const Use* use : uses) {
    add(use->when.from_us);
    add(use->when.to_us);
  }
  auto first = paid.upper_bound(begin);
  if (first != paid.begin()) --first;
  for (auto period = first; period != paid.end() && period->first < end; ++period) {
    const Gpu& gpu = *period->second;
    add(gpu.when.from_us);
    add(gpu.when.to_us);
    const auto of_sku = prices.find(gpu.sku);
    if (of_sku == prices.end()) continue;
    const auto& changes = of_sku->second;
    auto price = changes.lower_bound(std::max(gpu.when.from_us, begin));
    for (; price != changes.end() && price->first < std::min(gpu.when.to_us, end); ++price) add(price->first);
  }
  std::ranges::sort(borders);
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  return borders;
}

/// Adds the cell [from, to): nothing begins or ends inside it.
void count_cell(MonthCount& count, Period cell, const Gpu* gpu, const Prices& prices, const ActiveUses& uses) {
  const std::int64_t length_us = cell.to_us - cell.from_us;
  if (gpu == nullptr) {
    count.unbacked_us += static_cast<Int128>(uses.size()) * length_us;
    return;
  }
  const std::optional<std::int64_t> price = price_at(prices, gpu->sku, cell.from_us);
  if (!price) count.unpriced_us += length_us;

  std::vector<std::int64_t> weights;
  std::vector<Account> accounts;
  for (const Use* use : uses) {
    weights.push_back(use->weight);
    accounts.push_back({.tenant = use->tenant, .service = use->service, .sku = gpu->sku, .role = use->role});
  }
  const std::int64_t used = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
  weights.push_back(std::max(gpu->capacity - used, std::int64_t{0}));
  accounts.push_back({.tenant = gpu->owner.value_or(""), .service = "", .sku = gpu->sku, .role = Role::kIdle});

  const std::vector<Int128> grains = split(static_cast<Int128>(price.value_or(0)) * length_us, weights);
  const std::vector<Int128> gpu_us = split(length_us, weights);
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    if (grains[i] == 0 && gpu_us[i] == 0) continue;
    Amount& amount = count.amounts[accounts[i]];
    amount.grains += grains[i];
    amount.gpu_us += gpu_us[i];
  }
}

}  // namespace

MonthCount count_month(Month month, const PaidPeriods& paid, const std::vector<const Use*>& uses,
                       const Prices& prices) {
  std::vector<const Use*> by_begin = uses;
  std::vector<const Use*> by_end = uses;
  std::ranges::sort(by_begin, {}, [](const Use* use) { return use->when.from_us; });
  std::ranges::sort(by_end, {}, [](const Use* use) { return use->when.to_us; });
  const std::vector<std::int64_t> borders = borders_of(month, paid, uses, prices);

  MonthCount count;
  ActiveUses active;
  std::size_t begun = 0;
  std::size_t ended = 0;
  for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
    const Period cell{.from_us = borders[i], .to_us = borders[i + 1]};
    // Ends first: another use of the slice may begin at the same instant.
    while (ended < by_end.size() && by_end[ended]->when.to_us <= cell.from_us) active.erase(by_end[ended++]);
    while (begun < by_begin.size() && by_begin[begun]->when.from_us <= cell.from_us) active.insert(by_begin[begun++]);
    count_cell(count, cell, paid_at(paid, cell.from_us), prices, active);
  }
  return count;
}

std::vector<Int128> split(Int128 total, const std::vector<std::int64_t>& weights) {
  struct Remainder {
    Int128 amount = 0;
    std::size_t index = 0;
  };
  const Int128 sum = std::accumulate(weights.begin(), weights.end(), Int128{0});
  std::vector<Int128> parts;
  std::vector<Remainder> remainders;
  Int128 left = total;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Int128 product = total * weights[i];
    parts.push_back(product / sum);
    remainders.push_back({.amount = product % sum, .index = i});
    left -= parts.back();
  }
  std::ranges::sort(remainders, [](const Remainder& a, const Remainder& b) {
    return a.amount != b.amount ? a.amount > b.amount : a.index < b.index;
  });
  for (std::size_t i = 0; left > 0; ++i, --left) ++parts[remainders[i].index];
  return parts;
}

}  // namespace berth::ledger::recounting
