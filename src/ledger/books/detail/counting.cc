#include "ledger/books/detail/counting.h"

#include <algorithm>
#include <utility>

#include "ledger/books/detail/day_changes.h"

namespace berth::ledger::detail {
namespace {

Interval day_interval(std::int32_t day) { return {.from_us = day * kMicrosPerDay, .to_us = (day + 1) * kMicrosPerDay}; }

}  // namespace

void Counting::add(HolderId holder, NameId sku, const Amount& amount) {
  if (holder >= places_.size()) places_.resize(holder + 1, 0);
  const std::uint32_t place = places_[holder];
  // A stale index is out of range, or belongs to another holder.
  const bool is_known = place > 0 && place <= sums_.list.size() && sums_.list[place - 1].holder == holder &&
                        sums_.list[place - 1].sku == sku;
  if (!is_known) {
    sums_.list.push_back({.holder = holder, .sku = sku, .amount = {}});
    places_[holder] = static_cast<std::uint32_t>(sums_.list.size());
  }
  sums_.list[places_[holder] - 1].amount += amount;
}

void Counting::resume(const Postings& postings) {
  sums_ = postings;
  for (std::size_t i = 0; i < sums_.list.size(); ++i) {
    const HolderId holder = sums_.list[i].holder;
    if (holder >= places_.size()) places_.resize(holder + 1, 0);
    places_[holder] = static_cast<std::uint32_t>(i + 1);
  }
}

void Counting::add(const Postings& postings, bool is_subtracted) {
  for (const Posting& posting : postings.list) {
    // On a day with two skus a holder has two entries.
    const auto is_same = [&](const Posting& p) { return p.holder == posting.holder && p.sku == posting.sku; };
    const std::uint32_t place = posting.holder < places_.size() ? places_[posting.holder] : 0;
    if (place > 0 && place <= sums_.list.size() && !is_same(sums_.list[place - 1])) {
      const auto found = std::ranges::find_if(sums_.list, is_same);
      if (found != sums_.list.end())
        places_[posting.holder] = static_cast<std::uint32_t>(found - sums_.list.begin() + 1);
    }
    add(posting.holder, posting.sku, is_subtracted ? Amount() - posting.amount : posting.amount);
  }
  sums_.unpriced_us += is_subtracted ? -postings.unpriced_us : postings.unpriced_us;
  sums_.unbacked_us += is_subtracted ? -postings.unbacked_us : postings.unbacked_us;
}

void Counting::add_cell(const CellView& cell) {
  const std::int64_t length_us = cell.when.length_us();
  if (cell.paid == nullptr) {
    sums_.unbacked_us += Int128{length_us} * static_cast<std::int64_t>(cell.uses.size());
    return;
  }
  if (!cell.micro_usd_per_gpu_hour) sums_.unpriced_us += length_us;
  if (cell.paid != paid_) {
    add_uses();
    paid_ = cell.paid;
  }
  for (std::size_t i = 0; i < cell.uses.size(); ++i) {
    Amount& amount = use_amounts_[cell.use_numbers[i]];
    if (amount == Amount()) touched_.push_back(cell.use_numbers[i]);
    amount += {.gpu_us = cell.gpu_us[i], .grains = cell.grains[i]};
  }
  idle_ += {.gpu_us = cell.gpu_us.back(), .grains = cell.grains.back()};
}

void Counting::add_uses() {
  if (paid_ == nullptr) return;
  for (const std::uint32_t number : touched_) {
    add(walk_.use(number).holder, paid_->sku, std::exchange(use_amounts_[number], {}));
  }
  touched_.clear();
  add(paid_->idle_holder, paid_->sku, std::exchange(idle_, {}));
}

void Counting::add_cells() {
  paid_ = nullptr;
  use_amounts_.assign(walk_.use_count(), {});
  for (; walk_.next(); ++cell_count_) add_cell(walk_.cell());
  add_uses();
}

Postings Counting::take_sums() {
  std::erase_if(sums_.list, [](const Posting& posting) { return posting.amount == Amount(); });
  Postings taken = sums_;  // a copy has no spare memory, and `sums_` keeps its own
  sums_.list.clear();
  sums_.unpriced_us = 0;
  sums_.unbacked_us = 0;
  return taken;
}

Postings Counting::count_window(const GpuBook& gpu, const UseSet& uses, const Interval& window) {
  walk_.begin(gpu, uses, window);
  add_cells();
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
      walk_.begin(gpu, UseSet(), {.from_us = run_begin * kMicrosPerDay, .to_us = day * kMicrosPerDay});
      add_cells();
    }
    run_begin = day + 1;
  }
  return take_sums();
}

void Counting::count_day(const GpuBook& gpu, DayBook& day, const Interval& when, const MonthPosting& to) {
  to.accounts->reverse(to.month, day.posted);
  day.posted = count_window(gpu, day.uses, when);
  to.accounts->post(to.month, day.posted);
}

void Counting::count_changes(const GpuBook& gpu, DayBook& day, const Interval& when, const MonthPosting& to) {
  const DayChanges changes = find_day_changes(day.uses, day.changes, when);
  const auto for_each_former_use = [&](const auto& visit) {
    day.uses.for_each([&](const UseRecord& use) {
      if (!changes.is_added(use)) visit(use);
    });
    for (const UseRecord& use : changes.removed) visit(use);
  };
  walk_.begin(gpu, for_each_former_use, changes.windows);
  add_cells();
  const Postings before = take_sums();
  walk_.begin(gpu, [&](const auto& visit) { day.uses.for_each(visit); }, changes.windows);
  add_cells();
  const Postings after = take_sums();
  to.accounts->reverse(to.month, before);
  to.accounts->post(to.month, after);
  resume(day.posted);
  add(before, true);
  add(after, false);
  day.posted = take_sums();
}

bool Counting::count(GpuBook& gpu, Month last, Accounts& accounts) {
  bool is_left = false;
  for (auto& [month, book] : gpu.months()) {
    if (!book.is_dirty) continue;
    if (month > last) {
      is_left = true;
      continue;
    }
    const MonthPosting to{.month = month, .accounts = &accounts};
    for (std::size_t i = 0; i < book.days.size(); ++i) {
      DayBook* const day = book.days[i].get();
      if (day == nullptr) continue;
      const Interval when = day_interval(book.first_day + static_cast<std::int32_t>(i));
      if (day->is_dirty) {
        count_day(gpu, *day, when, to);
      } else if (!day->changes.empty()) {
        count_changes(gpu, *day, when, to);
      }
      day->set_clean();
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
