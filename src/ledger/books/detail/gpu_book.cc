#include "ledger/books/detail/gpu_book.h"

#include <algorithm>
#include <utility>

#include "base/core/archive.h"
#include "base/core/ensure.h"

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

void DayBook::add_change(const UseChange& change) {
  // Counting parts of a day again pays while they are few.
  constexpr std::size_t kUsesPerChangeMin = 4;
  if (is_dirty) return;
  changes.push_back(change);
  if (changes.size() * kUsesPerChangeMin <= uses.size()) return;
  is_dirty = true;
  changes = {};
}

void DayBook::set_clean() {
  is_dirty = false;
  changes = {};
}

DayBook& MonthBook::day(std::int32_t day) {
  if (days.empty()) days.resize(static_cast<std::size_t>(month.day_count()));
  auto& entry = days[static_cast<std::size_t>(day - first_day)];
  if (!entry) {
    entry = std::make_unique<DayBook>();
    is_dirty = is_unused_dirty = true;  // it was counted with the days without uses
  }
  return *entry;
}

void MonthBook::set_clean() {
  is_dirty = is_unused_dirty = false;
  for (const auto& entry : days) {
    if (entry) entry->set_clean();
  }
}

const DayBook* MonthBook::find_day(std::int32_t day) const {
  if (days.empty()) return nullptr;
  return days[static_cast<std::size_t>(day - first_day)].get();
}

MonthBook& GpuBook::month_book(Month month) { return months_.try_emplace(month, month).first->second; }

bool GpuBook::accept_in_day(const UseRecord& use) {
  MonthBook& book = month_book(Month::of(use.when.from_us));
  DayBook& entry = book.day(day_of(use.when.from_us));
  if (!entry.uses.insert(use)) return false;
  entry.add_change({.use = use});
  book.is_dirty = true;
  return true;
}

bool GpuBook::accept(const UseRecord& use) {
  if (day_of(use.when.from_us) == day_of(use.when.to_us - 1)) return accept_in_day(use);
  std::optional<std::int32_t> overlap_day;
  for_each_month(use.when, [&](Month in, std::int32_t first_day, std::int32_t last_day) {
    if (overlap_day) return;
    MonthBook& book = month_book(in);
    book.is_dirty = true;
    for (std::int32_t day = first_day; day <= last_day && !overlap_day; ++day) {
      DayBook& entry = book.day(day);
      if (entry.uses.insert(use)) {
        entry.add_change({.use = use});
      } else {
        overlap_day = day;
      }
    }
  });
  // Few overlap, so it is not checked before.
  if (overlap_day) take_back_before(*overlap_day, use);
  return !overlap_day;
}

void GpuBook::take_back_before(std::int32_t end_day, const UseRecord& use) {
  const Interval before{.from_us = use.when.from_us, .to_us = std::min(use.when.to_us, end_day * kMicrosPerDay)};
  if (before.from_us >= before.to_us) return;
  for_each_month(before, [&](Month in, std::int32_t first_day, std::int32_t last_day) {
    MonthBook& touched = month_book(in);
    touched.is_dirty = true;
    for (std::int32_t day = first_day; day <= last_day; ++day) {
      DayBook& entry = touched.day(day);
      entry.uses.erase(use.slice, use.when.from_us);
      entry.add_change({.use = use, .is_removal = true});
    }
  });
}

bool GpuBook::take_back_use(NameId slice, std::int64_t from_us, std::uint64_t position) {
  const auto book = months_.find(Month::of(from_us));
  const DayBook* const first = book == months_.end() ? nullptr : book->second.find_day(day_of(from_us));
  const UseRecord* const found = first == nullptr ? nullptr : first->uses.find(slice, from_us);
  if (found == nullptr || found->position != position) return false;
  const UseRecord use = *found;
  take_back_before(day_of(use.when.to_us - 1) + 1, use);
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
      if (book.find_day(day) == nullptr) continue;
      DayBook& entry = book.day(day);
      entry.is_dirty = true;
      entry.changes = {};
    }
  });
}

namespace {

/// The postings of a month and its days, without values that can be rebuilt.
struct SavedMonth {
  Month month;
  Postings unused_days = {};
  std::vector<std::pair<std::int32_t, Postings>> days = {};
};

}  // namespace

std::string GpuBook::save() const {
  std::vector<UseRecord> uses;  // each once
  std::vector<SavedMonth> months;
  for (const auto& [month, book] : months_) {
    ENSURE(!book.is_dirty);
    SavedMonth& saved = months.emplace_back(SavedMonth{.month = month, .unused_days = book.unused_days});
    for (std::size_t i = 0; i < book.days.size(); ++i) {
      if (!book.days[i]) continue;
      const std::int32_t day = book.first_day + static_cast<std::int32_t>(i);
      book.days[i]->uses.for_each([&](const UseRecord& use) {
        if (day_of(use.when.from_us) == day) uses.push_back(use);
      });
      saved.days.emplace_back(static_cast<std::int32_t>(i), book.days[i]->posted);
    }
  }
  ArchiveWriter archive;
  archive(uses, paid_, months);
  return archive.take();
}

std::optional<GpuBook> GpuBook::restored(std::string_view bytes) {
  ArchiveReader archive(bytes);
  GpuBook book;
  std::vector<SavedMonth> months;
  std::vector<UseRecord> uses;
  archive(uses, book.paid_, months);
  if (!archive.is_at_end()) return std::nullopt;
  for (const UseRecord& use : uses) {
    if (!book.accept(use)) return std::nullopt;
  }
  for (SavedMonth& saved : months) {
    MonthBook& month = book.month_book(saved.month);
    month.unused_days = std::move(saved.unused_days);
    for (auto& [day, posted] : saved.days) {
      if (day < 0 || day >= saved.month.day_count()) return std::nullopt;
      month.day(month.first_day + day).posted = std::move(posted);
    }
  }
  for (auto& [month, entry] : book.months_) entry.set_clean();
  return book;
}

}  // namespace berth::ledger::detail
