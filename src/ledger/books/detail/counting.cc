#include "ledger/books/detail/counting.h"

#include <algorithm>
#include <utility>

namespace berth::ledger::detail {
namespace {

Interval day_interval(std::int32_t day) { return {.from_us = day * kMicrosPerDay, .to_us = (day + 1) * kMicrosPerDay}; }

}  // namespace

void Counting::add(HolderId holder, NameId sku, GpuMicros gpu_us, Grains grains) {
  if (holder >= places_.size()) places_.resize(holder + 1, 0);
  const std::uint32_t place = places_[holder];
  // A stale index is out of range, or belongs to another holder.
  const bool is_known = place > 0 && place <= sums_.list.size() && sums_.list[place - 1].holder == holder &&
                        sums_.list[place - 1].sku == sku;
  if (!is_known) {
    sums_.list.push_back({.holder = holder, .sku = sku, .amount = {}});
    places_[holder] = static_cast<std::uint32_t>(sums_.list.size());
  }
  Amount& amount = sums_.list[places_[holder] - 1].amount;
  amount.gpu_us += gpu_us;
  amount.grains += grains;
}

void Counting::add_cell(const CellView& cell) {
  const std::int64_t length_us = cell.when.length_us();
  if (cell.paid == nullptr) {
    sums_.unbacked_us += Int128{length_us} * static_cast<std::int64_t>(cell.uses.size());
    return;
  }
  if (!cell.micro_usd_per_gpu_hour) sums_.unpriced_us += length_us;
  const NameId sku = cell.paid->sku;
  for (std::size_t i = 0; i < cell.uses.size(); ++i) add(cell.uses[i]->holder, sku, cell.gpu_us[i], cell.grains[i]);
  add(cell.paid->idle_holder, sku, cell.gpu_us.back(), cell.grains.back());
}

void Counting::add_window(const GpuBook& gpu, const UseSet& uses, const Interval& window) {
  walk_.begin(gpu, uses, window);
  while (walk_.next()) add_cell(walk_.cell());
}

Postings Counting::take_sums() {
  std::erase_if(sums_.list, [](const Posting& posting) { return posting.amount == Amount(); });
  sums_.list.shrink_to_fit();
  return std::exchange(sums_, {});
}

Postings Counting::count_window(const GpuBook& gpu, const UseSet& uses, const Interval& window) {
  add_window(gpu, uses, window);
  return take_sums();
}

Postings Counting::count_unused_days(const GpuBook& gpu, const MonthBook& month) {
  const std::int32_t begin = month.first_day;
  const std::int32_t end = begin + month.month.day_count();
  std::int32_t run_begin = begin;
  // Without uses nothing is rounded, so a run of days is like one.
  for (std::int32_t day = begin; day <= end; ++day) {
    if (day < end && month.find_day(day) == nullptr) continue;
    if (run_begin < day) {
      add_window(gpu, UseSet(), {.from_us = run_begin * kMicrosPerDay, .to_us = day * kMicrosPerDay});
    }
    run_begin = day + 1;
  }
  return take_sums();
}

bool Counting::count(GpuBook& gpu, Month last, Accounts& accounts) {
  bool is_left = false;
  for (auto& [month, book] : gpu.months()) {
    if (!book.is_dirty) continue;
    if (month > last) {
      is_left = true;
      continue;
    }
    for (std::size_t i = 0; i < book.days.size(); ++i) {
      DayBook* const day = book.days[i].get();
      if (day == nullptr || !std::exchange(day->is_dirty, false)) continue;
      accounts.reverse(month, day->posted);
      day->posted = count_window(gpu, day->uses, day_interval(book.first_day + static_cast<std::int32_t>(i)));
      accounts.post(month, day->posted);
    }
    if (std::exchange(book.is_unused_dirty, false)) {
      accounts.reverse(month, book.unused_days);
      book.unused_days = count_unused_days(gpu, book);
      accounts.post(month, book.unused_days);
    }
    book.is_dirty = false;
  }
  return is_left;
}

}  // namespace berth::ledger::detail
