#include "ledger/books/detail/gpu_book.h"

#include <algorithm>

#include "base/ensure.h"

namespace berth::ledger::detail {
namespace {

/// Calls `visit(month, first day, last day)` for each month that the interval touches.
void for_each_month(const Interval& when, const auto& visit) {
  const std::int32_t last_day = day_of(when.to_us - 1);
  std::int32_t day = day_of(when.from_us);
  for (Month month = Month::of(when.from_us); day <= last_day; month = month.next()) {
    const std::int32_t month_end = month.first_day().days() + month.day_count();
    visit(month, day, std::min(last_day, month_end - 1));
    day = month_end;
  }
}

}  // namespace

DayBook& MonthBook::day(std::int32_t day) {
  if (days.empty()) days.resize(static_cast<std::size_t>(month.day_count()));
  auto& entry = days[static_cast<std::size_t>(day - month.first_day().days())];
  if (!entry) {
    entry = std::make_unique<DayBook>();
    is_dirty = is_unused_dirty = true;  // it was among those without uses
  }
  return *entry;
}

const DayBook* MonthBook::find_day(std::int32_t day) const {
  if (days.empty()) return nullptr;
  return days[static_cast<std::size_t>(day - month.first_day().days())].get();
}

MonthBook& GpuBook::month_book(Month month) {
  return months_.try_emplace(month, MonthBook{.month = month}).first->second;
}

bool GpuBook::accept(const UseRecord& use) {
  const auto number = static_cast<UseIndex::UseNumber>(uses_.size());
  if (!index_.insert(use.slice, use.when, number)) return false;
  uses_.push_back(use);
  for_each_month(use.when, [&](Month in, std::int32_t first_day, std::int32_t last_day) {
    MonthBook& book = month_book(in);
    book.is_dirty = true;
    for (std::int32_t day = first_day; day <= last_day; ++day) {
      DayBook& entry = book.day(day);
      entry.uses.push_back(number);
      entry.is_dirty = true;
    }
  });
  return true;
}

bool GpuBook::take_back_use(NameId slice, std::int64_t from_us, std::uint64_t position) {
  const auto number = index_.find(slice, from_us);
  if (!number || uses_[*number].position != position) return false;
  const Interval when = uses_[*number].when;
  index_.erase(slice, from_us);
  for_each_month(when, [&](Month in, std::int32_t first_day, std::int32_t last_day) {
    MonthBook& book = month_book(in);
    book.is_dirty = true;
    for (std::int32_t day = first_day; day <= last_day; ++day) {
      DayBook& entry = book.day(day);
      const auto found = std::ranges::find(entry.uses, *number);
      ENSURE(found != entry.uses.end());
      *found = entry.uses.back();
      entry.uses.pop_back();
      entry.is_dirty = true;
    }
  });
  return true;
}

bool GpuBook::accept(const PaidRecord& paid) {
  const auto next =
      std::ranges::upper_bound(paid_, paid.when.from_us, {}, [](const auto& p) { return p.when.from_us; });
  if (next != paid_.end() && next->when.from_us < paid.when.to_us) return false;
  if (next != paid_.begin() && (next - 1)->when.to_us > paid.when.from_us) return false;
  paid_.insert(next, paid);
  touch(paid.when);
  return true;
}

bool GpuBook::take_back_paid(std::int64_t from_us, std::uint64_t position) {
  const auto found = std::ranges::lower_bound(paid_, from_us, {}, [](const auto& p) { return p.when.from_us; });
  if (found == paid_.end() || found->when.from_us != from_us || found->position != position) return false;
  const Interval when = found->when;
  paid_.erase(found);
  touch(when);
  return true;
}

void GpuBook::touch_paid(NameId sku, const Interval& when) {
  for (const PaidRecord& paid : paid_) {
    const Interval both{.from_us = std::max(paid.when.from_us, when.from_us),
                        .to_us = std::min(paid.when.to_us, when.to_us)};
    if (paid.sku == sku && both.from_us < both.to_us) touch(both);
  }
}

void GpuBook::touch(const Interval& when) {
  for_each_month(when, [&](Month in, std::int32_t first_day, std::int32_t last_day) {
    MonthBook& book = month_book(in);
    book.is_dirty = book.is_unused_dirty = true;
    if (book.days.empty()) return;
    for (std::int32_t day = first_day; day <= last_day; ++day) {
      if (book.find_day(day) != nullptr) book.day(day).is_dirty = true;
    }
  });
}

}  // namespace berth::ledger::detail
