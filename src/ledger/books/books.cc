#include "ledger/books/books.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/archive.h"
#include "base/ensure.h"
#include "journal_chain/short_hash.h"
#include "ledger/books/detail/accounts.h"
#include "ledger/books/detail/booking.h"
#include "ledger/books/detail/counting.h"
#include "ledger/books/detail/intake.h"

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

const Month kLastMonth = Month::of(253'402'300'799'000'000);  // 9999-12

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
    count(kLastMonth);
    Booking booking_now = booking;
    booking_now.book_open_months(accounts);
    return booking_now;
  }

  /// Calls `visit(gpu, uses or nothing, window, whole day or nothing)` for each GPU and day within the interval.
  void for_each_day(const Interval& within, const auto& visit) {
    count(kLastMonth);
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

namespace {

constexpr std::string_view kSavedPurpose = "berth books 1\n";

/// Where a part of saved books is.
struct Section {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  std::uint64_t hash = 0;
};

/// The last of the sections; its own place is in the last bytes.
struct Contents {
  std::string label;
  Section known;  ///< all but ids and GPUs
  Section ids;
  std::vector<Section> gpus;
};

/// Writes sections one after the other.
class SectionWriter {
 public:
  explicit SectionWriter(const std::function<void(std::string_view)>& sink) : sink_(sink) { sink_(kSavedPurpose); }

  Section add(std::string_view bytes) {
    const Section section{.begin = written_, .size = bytes.size(), .hash = chain::short_hash(bytes)};
    sink_(bytes);
    written_ += bytes.size();
    return section;
  }

 private:
  const std::function<void(std::string_view)>& sink_;
  std::uint64_t written_ = kSavedPurpose.size();
};

/// The bytes of a section, if they are what was written.
std::optional<std::string_view> section_bytes(std::string_view all, const Section& section) {
  if (section.begin > all.size() || section.size > all.size() - section.begin) return std::nullopt;
  const std::string_view bytes = all.substr(section.begin, section.size);
  return chain::short_hash(bytes) == section.hash ? std::optional(bytes) : std::nullopt;
}

constexpr std::size_t kTrailerSize = sizeof(Section);

std::optional<Contents> contents_of(std::string_view bytes) {
  if (!bytes.starts_with(kSavedPurpose) || bytes.size() < kSavedPurpose.size() + kTrailerSize) return std::nullopt;
  Section place;
  std::memcpy(&place, bytes.data() + bytes.size() - kTrailerSize, kTrailerSize);
  const auto own = section_bytes(bytes, place);
  if (!own) return std::nullopt;
  ArchiveReader archive(*own);
  Contents contents;
  archive(contents);
  return archive.is_at_end() ? std::optional(std::move(contents)) : std::nullopt;
}

}  // namespace

void Books::save(std::string_view label, const std::function<void(std::string_view)>& sink) {
  state_->count(kLastMonth);
  SectionWriter sections(sink);
  Contents contents{.label = std::string(label), .known = {}, .ids = {}, .gpus = {}};
  ArchiveWriter known;
  known(state_->intake, state_->accounts, state_->booking);
  contents.known = sections.add(known.bytes());
  std::string ids;
  state_->intake.ids().save([&](std::string_view piece) { ids += piece; });
  contents.ids = sections.add(ids);
  ids.clear();
  ids.shrink_to_fit();
  for (std::size_t gpu = 0; gpu < state_->intake.gpus().size(); ++gpu) {
    contents.gpus.push_back(sections.add(state_->intake.gpus().saved(gpu)));
  }
  ArchiveWriter archive;
  archive(contents);
  const Section place = sections.add(archive.bytes());
  sink({reinterpret_cast<const char*>(&place), kTrailerSize});
}

std::optional<std::string> Books::saved_label(std::string_view bytes) {
  auto contents = contents_of(bytes);
  return contents ? std::optional(std::move(contents->label)) : std::nullopt;
}

std::optional<Books::Saved> Books::restored(std::string_view bytes, LineAt line_at) {
  auto contents = contents_of(bytes);
  if (!contents) return std::nullopt;
  const auto known = section_bytes(bytes, contents->known);
  const auto ids = section_bytes(bytes, contents->ids);
  std::vector<std::string_view> gpus;
  gpus.reserve(contents->gpus.size());
  for (const Section& section : contents->gpus) {
    const auto gpu = section_bytes(bytes, section);
    if (!gpu) return std::nullopt;
    gpus.push_back(*gpu);
  }
  if (!known || !ids) return std::nullopt;
  Saved saved{.label = std::move(contents->label), .books = Books(std::move(line_at))};
  ArchiveReader archive(*known);
  archive(saved.books.state_->intake, saved.books.state_->accounts, saved.books.state_->booking);
  if (!archive.is_at_end()) return std::nullopt;
  saved.books.state_->intake.restore(*ids, gpus);
  return saved;
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
    const auto uses = book != nullptr ? std::span(book->uses) : std::span<const detail::UseIndex::UseNumber>();
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
    const auto uses = book != nullptr ? std::span(book->uses) : std::span<const detail::UseIndex::UseNumber>();
    walk.begin(state_->intake.gpus()[gpu], uses, window);
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
