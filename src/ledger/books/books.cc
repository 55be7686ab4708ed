#include "ledger/books/books.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/core/archive.h"
#include "base/core/ensure.h"
#include "ledger/books/detail/accounts.h"
#include "ledger/books/detail/booking.h"
#include "ledger/books/detail/counting.h"
#include "ledger/books/detail/intake.h"
#include "ledger/books/detail/sections.h"

namespace berth::ledger {
namespace {

using detail::BookedMonth;
using detail::BookedRow;
using detail::Booking;
using detail::BookingKey;
using detail::CellView;
using detail::DayBook;
using detail::GpuBook;
using detail::HolderId;
using detail::Intake;
using detail::NameId;

/// Later than anything in a ledger.
Month last_month() { return Month::of(253'402'300'799'000'000); }  // 9999-12

RowKey row_key(const BookingKey& key, const Intake& intake) {
  const HolderId holder = key.account.holder;
  return {.tenant = std::string(intake.holders().tenant(holder)),
          .service = std::string(intake.holders().service(holder)),
          .sku = std::string(intake.sku_names().text(key.account.sku)),
          .role = intake.holders().role(holder),
          .of = key.of};
}

MonthRows month_rows(const BookedMonth& booked, const Booking& booking, const Intake& intake) {
  MonthRows month{.month = booked.month,
                  .is_closed = booking.last_closed() && booked.month <= *booking.last_closed(),
                  .micro_usd = 0,
                  .rows = {}};
  month.rows.reserve(booked.rows.size());
  for (const BookedRow& row : booked.rows) {
    month.rows.push_back({.key = row_key(row.key, intake), .amount = row.amount, .micro_usd = row.micro_usd});
    month.micro_usd += row.micro_usd;
  }
  std::ranges::sort(month.rows, [](const Row& a, const Row& b) { return is_before(a.key, b.key); });
  return month;
}

AccountKind billed_kind(const RowKey& key) {
  if (key.role == Role::kIdle) return AccountKind::kIdle;
  return key.tenant.empty() ? AccountKind::kNobody : AccountKind::kTenant;
}

std::string carry_name(const RowKey& key) {
  return fmt::format("{}/{}/{}/{}/{}{}", key.tenant, key.service, key.sku, name_of(key.role), key.class_name(),
                     key.of ? "/" + key.of->to_string() : "");
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAccepted:
      return "accepted";
    case Verdict::kDuplicate:
      return "duplicate";
    case Verdict::kConflict:
      return "conflict";
    case Verdict::kOverlap:
      return "overlap";
    case Verdict::kClosed:
      return "closed";
    case Verdict::kVoid:
      return "void";
    case Verdict::kClose:
      return "close";
  }
  ENSURE(false);
}

struct Books::State {
  explicit State(LineAt line_at) : intake(std::move(line_at)), counting(intake.prices(), intake.slice_names()) {}

  Intake intake;
  detail::Accounts accounts;
  detail::Counting counting;
  Booking booking;

  /// Brings the accounts of the months up to `last` up to date.
  void count(Month last) {
    for (const NameId gpu : intake.take_dirty_gpus()) {
      if (counting.count(intake.gpus()[gpu], last, accounts)) intake.keep_dirty(gpu);
    }
  }

  void close(Month month) {
    count(month);
    booking.close(month, accounts);
    accounts.forget_changed();
  }

  /// With every month booked.
  [[nodiscard]] Booking booked() {
    count(last_month());
    Booking booking_now = booking;
    booking_now.book_open_months(accounts);
    return booking_now;
  }

  /// Calls `visit(gpu, uses or nothing, window, whole day or nothing)` for each GPU and day within the interval.
  void for_each_day(const Interval& within, const auto& visit) {
    count(last_month());
    for (NameId number = 0; number < intake.gpus().size(); ++number) {
      const GpuBook& gpu = intake.gpus()[number];
      for (const auto& [month, book] : gpu.months()) {
        if (month.end_us() <= within.from_us || month.begin_us() >= within.to_us) continue;
        for (std::int32_t day = month.first_day().days(); day * kMicrosPerDay < month.end_us(); ++day) {
          const Interval window{.from_us = std::max(within.from_us, day * kMicrosPerDay),
                                .to_us = std::min(within.to_us, (day + 1) * kMicrosPerDay)};
          if (window.from_us < window.to_us) visit(number, day, book.find_day(day), window);
        }
      }
    }
  }
};

void Books::save(std::string_view label, const std::function<void(std::string_view)>& sink) {
  state_->count(last_month());
  detail::SectionWriter sections(label, sink);
  ArchiveWriter known;
  known(state_->intake, state_->accounts, state_->booking);
  sections.add(known.bytes());
  std::string ids;
  state_->intake.ids().save([&](std::string_view piece) { ids += piece; });
  sections.add(ids);
  for (std::size_t gpu = 0; gpu < state_->intake.gpus().size(); ++gpu) {
    sections.add(state_->intake.gpus().saved(gpu));
  }
  sections.finish();
}

std::optional<std::string> Books::saved_label(std::string_view bytes) { return detail::read_label(bytes); }

std::optional<Books::Saved> Books::restored(std::string_view bytes, LineAt line_at) {
  auto saved = detail::read_sections(bytes);
  constexpr std::size_t kSectionsBeforeGpus = 2;
  if (!saved || saved->list.size() < kSectionsBeforeGpus) return std::nullopt;
  Saved result{.label = std::move(saved->label), .books = Books(std::move(line_at))};
  State& state = *result.books.state_;
  ArchiveReader archive(saved->list[0]);
  archive(state.intake, state.accounts, state.booking);
  if (!archive.is_at_end()) return std::nullopt;
  state.intake.restore(saved->list[1], std::span(saved->list).subspan(kSectionsBeforeGpus));
  return result;
}

Books::Books(LineAt line_at) : state_(std::make_unique<State>(std::move(line_at))) {}
Books::Books(Books&&) noexcept = default;
Books& Books::operator=(Books&&) noexcept = default;
Books::~Books() = default;

Verdict Books::take(const EventLine& line) {
  const Verdict verdict = state_->intake.take(line);
  if (verdict == Verdict::kAccepted && std::holds_alternative<CloseEvent>(line.event.what)) {
    state_->close(std::get<CloseEvent>(line.event.what).month);
  }
  return verdict;
}

void Books::expect(const EventLine& line) const { state_->intake.expect(line); }

Report Books::report() {
  const Booking booking = state_->booked();
  Report report{.counts = state_->intake.counts(),
                .unpriced_us = state_->accounts.unpriced_us(),
                .unbacked_us = state_->accounts.unbacked_us(),
                .months = {}};
  for (const BookedMonth& month : booking.months()) {
    report.months.push_back(month_rows(month, booking, state_->intake));
    report.micro_usd += report.months.back().micro_usd;
  }
  for (const auto& [key, grains] : booking.carries()) report.carried_grains += grains;
  for (const auto& [sku, amount] : state_->accounts.skus()) report.grains += amount.grains;
  return report;
}

TrialBalance Books::trial_balance() {
  const Booking booking = state_->booked();
  std::map<std::pair<AccountKind, std::string>, Grains> balances;
  for (const auto& [sku, amount] : state_->accounts.skus()) {
    balances[{AccountKind::kSku, std::string(state_->intake.sku_names().text(sku))}] -= amount.grains;
  }
  for (const BookedMonth& month : booking.months()) {
    for (const BookedRow& row : month.rows) {
      const RowKey key = row_key(row.key, state_->intake);
      balances[{billed_kind(key), key.tenant}] += row.micro_usd * kGrainsPerMicroUsd;
    }
  }
  for (const auto& [key, grains] : booking.carries()) {
    if (grains != 0) balances[{AccountKind::kCarry, carry_name(row_key(key, state_->intake))}] += grains;
  }
  TrialBalance trial;
  for (const auto& [account, grains] : balances) {
    trial.accounts.push_back({.kind = account.first, .name = account.second, .grains = grains});
    trial.sum += grains;
  }
  return trial;
}

void Books::for_each_entry(const Interval& within, const std::function<void(const DayEntry&)>& visit) {
  const Intake& intake = state_->intake;
  const auto visit_postings = [&](NameId gpu, std::int32_t day, const detail::Postings& postings) {
    for (const detail::Posting& posting : postings.list) {
      visit({.day = day,
             .gpu = intake.gpu_names().text(gpu),
             .tenant = intake.holders().tenant(posting.holder),
             .service = intake.holders().service(posting.holder),
             .role = intake.holders().role(posting.holder),
             .sku = intake.sku_names().text(posting.sku),
             .amount = posting.amount});
    }
  };
  state_->for_each_day(within, [&](NameId gpu, std::int32_t day, const DayBook* book, const Interval& window) {
    if (book != nullptr && window.length_us() == kMicrosPerDay) {
      visit_postings(gpu, day, book->posted);
      return;
    }
    const detail::UseSet none;
    const detail::UseSet& uses = book != nullptr ? book->uses : none;
    visit_postings(gpu, day, state_->counting.count_window(state_->intake.gpus()[gpu], uses, window));
  });
}

void Books::for_each_cell_part(const Interval& within, const std::function<void(const CellPart&)>& visit) {
  const Intake& intake = state_->intake;
  detail::CellWalk walk(intake.prices(), intake.slice_names());
  const auto visit_cell = [&](NameId gpu, const CellView& cell) {
    if (cell.paid == nullptr) return;
    CellPart part{.when = cell.when,
                  .gpu = intake.gpu_names().text(gpu),
                  .sku = intake.sku_names().text(cell.paid->sku),
                  .micro_usd_per_gpu_hour = cell.micro_usd_per_gpu_hour,
                  .slice = {},
                  .weight = 0,
                  .whole = cell.whole,
                  .tenant = {},
                  .service = {},
                  .amount = {}};
    std::int64_t used = 0;  // of the whole
    for (std::size_t i = 0; i <= cell.uses.size(); ++i) {
      const bool is_idle = i == cell.uses.size();
      const HolderId holder = is_idle ? cell.paid->idle_holder : cell.uses[i]->holder;
      part.slice = is_idle ? std::string_view() : intake.slice_names().text(cell.uses[i]->slice);
      part.weight = is_idle ? cell.whole - used : cell.uses[i]->weight;
      used += part.weight;
      part.tenant = intake.holders().tenant(holder);
      part.service = intake.holders().service(holder);
      part.role = intake.holders().role(holder);
      part.amount = {.gpu_us = cell.gpu_us[i], .grains = cell.grains[i]};
      if (part.amount != Amount()) visit(part);
    }
  };
  state_->for_each_day(within, [&](NameId gpu, std::int32_t, const DayBook* book, const Interval& window) {
    const detail::UseSet none;
    walk.begin(state_->intake.gpus()[gpu], book != nullptr ? book->uses : none, window);
    while (walk.next()) visit_cell(gpu, walk.cell());
  });
}

std::optional<Interval> Books::paid_time() const {
  std::optional<Interval> time;
  for (std::size_t number = 0; number < state_->intake.gpus().size(); ++number) {
    const GpuBook& gpu = state_->intake.gpus()[number];
    if (gpu.paid().empty()) continue;
    const Interval own{.from_us = gpu.paid().front().when.from_us, .to_us = gpu.paid().back().when.to_us};
    if (!time) time = own;
    time = Interval{.from_us = std::min(time->from_us, own.from_us), .to_us = std::max(time->to_us, own.to_us)};
  }
  return time;
}

std::span<const Credit> Books::credits() const { return state_->intake.credits(); }

std::vector<Budget> Books::budgets() const {
  std::vector<Budget> budgets;
  for (const auto& [position, budget] : state_->intake.budgets()) budgets.push_back(budget);
  return budgets;
}

std::span<const Rate> Books::rates() const { return state_->intake.rates(); }

std::vector<SkuPrice> Books::prices() const {
  const detail::Names& skus = state_->intake.sku_names();
  std::vector<SkuPrice> prices;
  for (NameId sku = 0; sku < skus.size(); ++sku) {
    for (const detail::Price& price : state_->intake.prices().of(sku)) {
      prices.push_back({.sku = std::string(skus.text(sku)),
                        .from_us = price.from_us,
                        .micro_usd_per_gpu_hour = price.micro_usd_per_gpu_hour});
    }
  }
  std::ranges::sort(prices, {}, [](const SkuPrice& price) { return std::pair(price.sku, price.from_us); });
  return prices;
}

std::optional<Month> Books::last_closed() const { return state_->booking.last_closed(); }

std::uint64_t Books::close_line(Month month) const {
  const auto& closings = state_->intake.closings();
  const auto found = std::ranges::lower_bound(closings, month, {}, &detail::Closing::month);
  ENSURE(found != closings.end());
  return found->line;
}

bool Books::has_tenant(std::string_view tenant) const {
  const auto is_it = [&](const auto& entry) { return entry.tenant == tenant; };
  return state_->intake.holders().has_tenant(tenant) || std::ranges::any_of(credits(), is_it) ||
         std::ranges::any_of(budgets(), is_it);
}

}  // namespace berth::ledger
