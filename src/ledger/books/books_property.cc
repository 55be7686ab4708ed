// The laws of a ledger, on random files.
#include "ledger/books/books.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/core/rng.h"
#include "ledger/books/testing/line_ledger.h"
#include "ledger/books/testing/lines.h"
#include "ledger/books/testing/random_events.h"
#include "ledger/events/event_reader.h"

namespace berth::ledger {
namespace {

using Lines = std::vector<std::string>;
using testing::kDecember;
using testing::kFebruary;
using testing::kNovember;
using testing::LineLedger;
using testing::RandomOptions;

Rng any_rng() { return Rng(*rc::gen::arbitrary<std::uint64_t>()); }

RandomOptions any_options(bool has_clashes) {
  return {.line_count = *rc::gen::inRange<std::size_t>(2, 120), .has_clashes = has_clashes};
}

void shuffle(Lines& lines, Rng& rng) {
  for (std::size_t i = lines.size(); i > 1; --i) std::swap(lines[i - 1], lines[rng.below(i)]);
}

Report report_of(const Lines& lines) { return LineLedger(lines).report(); }

/// In another order some of the bad voids precede their targets, and are counted differently.
Report without_order(Report report) {
  report.counts.accepted += std::exchange(report.counts.refused_void, 0);
  return report;
}

/// The amount of an account in a month, including corrections wherever they were booked.
using AccountKey = std::tuple<std::string, std::string, std::string, Role, Month>;

std::map<AccountKey, Amount> accounts_of(const Report& report) {
  std::map<AccountKey, Amount> accounts;
  for (const MonthRows& month : report.months) {
    for (const Row& row : month.rows) {
      accounts[{row.key.tenant, row.key.service, row.key.sku, row.key.role, row.key.of.value_or(month.month)}] +=
          row.amount;
    }
  }
  return accounts;
}

std::map<AccountKey, Grains> grains_of(const Report& report) {
  std::map<AccountKey, Grains> grains;
  for (const auto& [key, amount] : accounts_of(report)) {
    if (amount.grains != 0) grains[key] = amount.grains;
  }
  return grains;
}

/// The cost of the GPUs, without cells: the time of each price within each accepted gpu that is not voided.
class GpuCosts {
 public:
  explicit GpuCosts(const Lines& lines) {
    LineLedger ledger;
    EventReader reader;
    for (const std::string& line : lines) {
      const Verdict verdict = ledger.take(line);
      const Event event = reader.read(line).value();
      if (const auto* voiding = std::get_if<VoidEvent>(&event.what)) {
        if (verdict != Verdict::kDuplicate && verdict != Verdict::kConflict) voided_.emplace_back(voiding->of);
      }
      if (verdict != Verdict::kAccepted) continue;
      if (const auto* price = std::get_if<PriceEvent>(&event.what)) {
        prices_[std::string(price->sku)][price->from_us] = price->micro_usd_per_gpu_hour;
      } else if (const auto* gpu = std::get_if<GpuEvent>(&event.what)) {
        paid_.push_back({.id = std::string(event.id), .sku = std::string(gpu->sku), .when = gpu->when});
      }
    }
    std::erase_if(paid_, [&](const Paid& paid) { return std::ranges::find(voided_, paid.id) != voided_.end(); });
  }

  [[nodiscard]] Grains grains() {
    Grains sum = 0;
    for (const Paid& paid : paid_) {
      const auto& prices = prices_[paid.sku];
      for (auto price = prices.begin(); price != prices.end(); ++price) {
        const auto next = std::next(price);
        const std::int64_t to_us = next == prices.end() ? paid.when.to_us : std::min(paid.when.to_us, next->first);
        sum += Grains{price->second} * std::max<std::int64_t>(to_us - std::max(paid.when.from_us, price->first), 0);
      }
    }
    return sum;
  }

 private:
  struct Paid {
    std::string id;
    std::string sku;
    Interval when;
  };
  std::map<std::string, std::map<std::int64_t, std::int64_t>> prices_;
  std::vector<Paid> paid_;
  std::vector<std::string> voided_;
};

RC_GTEST_PROP(BooksProperty, NoGrainIsLost, ()) {
  Rng rng = any_rng();
  const Lines lines = testing::random_lines(rng, any_options(true));
  const Report report = report_of(lines);
  RC_ASSERT(report.counts.lines == lines.size());
  RC_ASSERT(report.grains == report.micro_usd * kGrainsPerMicroUsd + report.carried_grains);
  RC_ASSERT(report.grains == GpuCosts(lines).grains());
  Grains grains = 0;
  MicroUsd micro_usd = 0;
  for (const MonthRows& month : report.months) {
    RC_ASSERT(!month.rows.empty());
    MicroUsd of_month = 0;
    for (const Row& row : month.rows) {
      RC_ASSERT(row.amount.grains != 0);
      RC_ASSERT(row.key.of || row.amount.grains > 0);
      grains += row.amount.grains;
      of_month += row.micro_usd;
    }
    RC_ASSERT(of_month == month.micro_usd);
    RC_ASSERT(std::ranges::is_sorted(month.rows, is_before, &Row::key));
    micro_usd += of_month;
  }
  RC_ASSERT(grains == report.grains);
  RC_ASSERT(micro_usd == report.micro_usd);
}

RC_GTEST_PROP(BooksProperty, EveryGrainIsSomewhereAfterEveryLine, ()) {
  Rng rng = any_rng();
  const Lines lines = testing::random_lines(rng, any_options(true));
  LineLedger asked;
  for (const std::string& line : lines) {
    asked.take(line);
    const TrialBalance trial = asked.books().trial_balance();
    RC_ASSERT(trial.sum == 0);
    Grains sum = 0;
    for (const AccountBalance& account : trial.accounts) {
      sum += account.grains;
      RC_ASSERT(account.kind != AccountKind::kSku || account.grains <= 0);
      RC_ASSERT(account.kind != AccountKind::kCarry || (account.grains > 0 && account.grains < kGrainsPerMicroUsd));
    }
    RC_ASSERT(sum == 0);
  }
  RC_ASSERT(asked.report() == report_of(lines));  // asking changes nothing
}

/// Two days of one GPU with many uses, so that late lines change small parts of them: voids, prices and a change of sku
/// within a day, too.
Lines dense_lines(Rng& rng) {
  const std::int64_t grid_us = kMicrosPerDay / static_cast<std::int64_t>(24 + rng.below(100));
  const auto any_us = [&] { return kNovember + static_cast<std::int64_t>(rng.below(250)) * grid_us; };
  const std::int64_t sold_us = kNovember + static_cast<std::int64_t>(1 + rng.below(60)) * grid_us;
  Lines lines = {testing::price_line("p0", kNovember, 3'673'001), testing::price_line("p1", kNovember, 804'803, "a100"),
                 testing::gpu_line("g0", {.from_us = kNovember, .to_us = sold_us}, {.sku = "a100", .capacity = 9}),
                 testing::gpu_line("g1", {.from_us = sold_us, .to_us = kDecember}, {.capacity = 11})};
  for (std::uint64_t i = 0; i < 150; ++i) {
    const std::int64_t from_us = any_us();
    const std::int64_t length_us = static_cast<std::int64_t>(1 + rng.below(i % 10 == 0 ? 120 : 8)) * grid_us;
    const std::string slice = fmt::format("{}", rng.below(5));
    const std::string tenant = fmt::format("t{}", rng.below(6));
    lines.push_back(
        testing::use_line(fmt::format("u{}", i), {.from_us = from_us, .to_us = from_us + length_us},
                          {.slice = slice, .weight = static_cast<std::int64_t>(1 + rng.below(5)), .tenant = tenant}));
    if (rng.below(8) == 0) {
      const std::string target = fmt::format("u{}", rng.below(160));
      lines.push_back(testing::void_line({.id = fmt::format("x{}", i), .of = target}));
    }
    if (rng.below(40) == 0) lines.push_back(testing::price_line(fmt::format("q{}", i), any_us() + 1, 1 + 7 * grid_us));
  }
  return lines;
}

// A day is counted again only where late lines change it.
RC_GTEST_PROP(BooksProperty, CountingInBetweenChangesNothing, ()) {
  Rng rng = any_rng();
  const Lines lines = dense_lines(rng);
  const std::uint64_t lines_per_report = 1 + rng.below(9);
  LineLedger asked;
  for (const std::string& line : lines) {
    asked.take(line);
    if (rng.below(lines_per_report) == 0) RC_ASSERT(asked.books().trial_balance().sum == 0);
  }
  RC_ASSERT(asked.report() == report_of(lines));
  std::map<std::tuple<std::int32_t, std::string, std::string>, Amount> entries;
  const auto collect = [&](int sign) {
    return [&entries, sign](const DayEntry& entry) {
      Amount& sum = entries[{entry.day, std::string(entry.tenant), std::string(entry.sku)}];
      // A small share of a cell of a few microseconds has money, and no whole microsecond.
      RC_ASSERT(entry.amount.gpu_us >= 0 && entry.amount.grains >= 0 && entry.amount != Amount());
      sign > 0 ? sum += entry.amount : sum -= entry.amount;
    };
  };
  const Interval always{.from_us = 0, .to_us = kFebruary};
  asked.books().for_each_entry(always, collect(1));
  LineLedger(lines).books().for_each_entry(always, collect(-1));
  for (const auto& [key, amount] : entries) RC_ASSERT(amount == Amount());
}

RC_GTEST_PROP(BooksProperty, RepeatedLinesChangeNoRow, ()) {
  Rng rng = any_rng();
  const Lines lines = testing::random_lines(rng, any_options(true));
  Lines repeated;
  for (const std::string& line : lines) {
    repeated.push_back(line);
    while (rng.below(3) == 0) repeated.push_back(repeated[rng.below(repeated.size())]);
  }
  Report once = report_of(lines);
  const Report again = report_of(repeated);
  RC_ASSERT(again.counts.accepted == once.counts.accepted);
  RC_ASSERT(again.counts.voided == once.counts.voided);
  once.counts = again.counts;
  RC_ASSERT(again == once);
}

RC_GTEST_PROP(BooksProperty, TheOrderOfLinesDoesNotMatter, ()) {
  Rng rng = any_rng();
  RandomOptions options = any_options(false);
  options.has_closes = false;
  Lines lines = testing::random_lines(rng, options);
  const Report report = without_order(report_of(lines));
  RC_ASSERT(report.counts.conflicts + report.counts.overlaps == 0);
  shuffle(lines, rng);
  RC_ASSERT(without_order(report_of(lines)) == report);
}

/// The lines of one month may come in any order, provided that each stays before the close that it preceded.
RC_GTEST_PROP(BooksProperty, TheOrderOfLinesBetweenClosesDoesNotMatter, ()) {
  Rng rng = any_rng();
  const Lines lines = testing::random_lines(rng, any_options(false));
  Lines other;
  Lines since_close;
  const auto add_shuffled = [&] {
    shuffle(since_close, rng);
    other.insert(other.end(), since_close.begin(), since_close.end());
    since_close.clear();
  };
  for (const std::string& line : lines) {
    if (line.find(R"("type":"close")") == std::string::npos) {
      since_close.push_back(line);
      continue;
    }
    add_shuffled();
    other.push_back(line);
  }
  add_shuffled();
  RC_ASSERT(without_order(report_of(other)) == without_order(report_of(lines)));
}

/// The ids of accepted uses and gpus that no void names, with their places among the lines.
std::vector<std::pair<std::string, std::size_t>> lasting_ids(const Lines& lines) {
  LineLedger ledger;
  EventReader reader;
  std::vector<std::pair<std::string, std::size_t>> lasting;
  std::vector<std::string> voided;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Verdict verdict = ledger.take(lines[i]);
    const Event event = reader.read(lines[i]).value();
    if (const auto* voiding = std::get_if<VoidEvent>(&event.what)) voided.emplace_back(voiding->of);
    if (verdict != Verdict::kAccepted) continue;
    if (!std::holds_alternative<UseEvent>(event.what) && !std::holds_alternative<GpuEvent>(event.what)) continue;
    lasting.emplace_back(event.id, i);
  }
  std::erase_if(lasting, [&](const auto& each) { return std::ranges::find(voided, each.first) != voided.end(); });
  return lasting;
}

Lines without(const Lines& lines, const std::string& line) {
  Lines others = lines;
  std::erase(others, line);
  return others;
}

RC_GTEST_PROP(BooksProperty, AVoidLeavesWhatWouldBeWithoutTheEvent, ()) {
  Rng rng = any_rng();
  RandomOptions options = any_options(false);
  options.has_closes = false;
  Lines lines = testing::random_lines(rng, options);
  const auto lasting = lasting_ids(lines);
  RC_PRE(!lasting.empty());
  const auto& [id, at] = lasting[rng.below(lasting.size())];
  Report never = report_of(without(lines, lines[at]));
  lines.push_back(testing::void_line({.id = "the void", .of = id}));
  const Report voided = report_of(lines);
  RC_ASSERT(voided.counts.voided == never.counts.voided + 1);
  never.counts = voided.counts;
  RC_ASSERT(voided == never);
}

RC_GTEST_PROP(BooksProperty, AVoidCorrectsClosedMonths, ()) {
  Rng rng = any_rng();
  Lines lines = testing::random_lines(rng, any_options(false));
  const auto lasting = lasting_ids(lines);
  RC_PRE(!lasting.empty());
  const auto& [id, at] = lasting[rng.below(lasting.size())];
  const Report never = report_of(without(lines, lines[at]));
  const auto place = static_cast<std::ptrdiff_t>(at + 1 + rng.below(lines.size() - at));
  lines.insert(lines.begin() + place, testing::void_line({.id = "the void", .of = id}));
  const Report voided = report_of(lines);
  RC_ASSERT(grains_of(voided) == grains_of(never));
  RC_ASSERT(voided.unpriced_us == never.unpriced_us);
  RC_ASSERT(voided.unbacked_us == never.unbacked_us);
}

RC_GTEST_PROP(BooksProperty, ClosedMonthsNeverChange, ()) {
  Rng rng = any_rng();
  const Lines lines = testing::random_lines(rng, any_options(true));
  LineLedger ledger;
  std::vector<MonthRows> closed;
  for (const std::string& line : lines) {
    const auto before = ledger.books().last_closed();
    ledger.take(line);
    const auto last_closed = ledger.books().last_closed();
    if (last_closed == before) continue;
    closed = ledger.report().months;
    std::erase_if(closed, [&](const MonthRows& month) { return month.month > *last_closed; });
  }
  std::vector<MonthRows> in_the_end = ledger.report().months;
  std::erase_if(in_the_end, [](const MonthRows& month) { return !month.is_closed; });
  RC_ASSERT(in_the_end == closed);
}

/// The amount of each account, even if it cost nothing.
std::map<AccountKey, Amount> entries_of(Books& books, const Interval& within) {
  std::map<AccountKey, Amount> entries;
  books.for_each_entry(within, [&](const DayEntry& entry) {
    entries[{std::string(entry.tenant), std::string(entry.service), std::string(entry.sku), entry.role,
             Month::of(entry.day * kMicrosPerDay)}] += entry.amount;
  });
  return entries;
}

constexpr Interval kAlways = {.from_us = 0, .to_us = testing::kFebruary + 400 * kMicrosPerDay};

/// How many uses of the GPU contain an instant, by holder.
std::map<std::tuple<std::string, std::string, Role>, int> uses_at(const Lines& lines, std::string_view gpu,
                                                                  std::int64_t us) {
  std::map<std::tuple<std::string, std::string, Role>, int> counts;
  EventReader reader;
  for (const auto& [id, at] : lasting_ids(lines)) {
    const Event event = reader.read(lines[at]).value();
    const auto* use = std::get_if<UseEvent>(&event.what);
    if (use == nullptr || use->gpu != gpu || use->when.from_us >= us || use->when.to_us <= us) continue;
    ++counts[{std::string(use->tenant), std::string(use->service), use->role}];
  }
  return counts;
}

/// A use of a file, and the same file with two uses in its place.
struct SplitUse {
  Lines lines;
  std::string gpu;
  std::int64_t at_us = 0;
};

/// Absent: there is no use that is long enough.
std::optional<SplitUse> split_any_use(const Lines& lines, Rng& rng) {
  EventReader reader;
  auto lasting = lasting_ids(lines);
  std::erase_if(lasting, [&](const auto& each) {
    const Event event = reader.read(lines[each.second]).value();
    const auto* use = std::get_if<UseEvent>(&event.what);
    return use == nullptr || use->when.length_us() < 2;
  });
  if (lasting.empty()) return std::nullopt;
  const std::string& line = lines[lasting[rng.below(lasting.size())].second];
  const Event event = reader.read(line).value();
  const auto& use = std::get<UseEvent>(event.what);
  const auto length = static_cast<std::uint64_t>(use.when.length_us());
  SplitUse split{.lines = without(lines, line),
                 .gpu = std::string(use.gpu),
                 .at_us = use.when.from_us + 1 + static_cast<std::int64_t>(rng.below(length - 1))};
  const testing::UseFields fields{.gpu = use.gpu,
                                  .slice = use.slice,
                                  .weight = use.weight,
                                  .tenant = use.tenant,
                                  .service = use.service,
                                  .role = use.role};
  split.lines.push_back(testing::use_line("first", {.from_us = use.when.from_us, .to_us = split.at_us}, fields));
  split.lines.push_back(testing::use_line("second", {.from_us = split.at_us, .to_us = use.when.to_us}, fields));
  return split;
}

/// One cell becomes two, in which each use, and idle, is less than a grain off its exact share. Likewise for
/// microseconds.
RC_GTEST_PROP(BooksProperty, SplittingAUseMovesAtMostAGrainForEachNewCell, ()) {
  Rng rng = any_rng();
  RandomOptions options = any_options(false);
  options.has_closes = false;
  const Lines lines = testing::random_lines(rng, options);
  const auto split = split_any_use(lines, rng);
  RC_PRE(split.has_value());
  LineLedger before(lines);
  LineLedger after(split->lines);
  RC_ASSERT(after.report().grains == before.report().grains);
  RC_ASSERT(after.report().unpriced_us == before.report().unpriced_us);
  RC_ASSERT(after.report().unbacked_us == before.report().unbacked_us);
  std::map<AccountKey, Amount> moved = entries_of(after.books(), kAlways);
  for (const auto& [key, amount] : entries_of(before.books(), kAlways)) moved[key] -= amount;
  const auto counts = uses_at(lines, split->gpu, split->at_us);
  for (const auto& [key, amount] : moved) {
    const auto& [tenant, service, sku, role, month] = key;
    const auto found = counts.find({tenant, service, role});
    const bool has_part = month == Month::of(split->at_us) && (role == Role::kIdle || found != counts.end());
    const int most = !has_part ? 0 : role == Role::kIdle ? 2 : 2 * found->second;
    RC_ASSERT((amount.grains <= most && -amount.grains <= most));
    RC_ASSERT((amount.gpu_us <= most && -amount.gpu_us <= most));
  }
}

RC_GTEST_PROP(BooksProperty, EntriesAndCellsAreWhatTheRowsSay, ()) {
  Rng rng = any_rng();
  RandomOptions options = any_options(true);
  options.has_closes = false;
  LineLedger ledger(testing::random_lines(rng, options));
  std::map<AccountKey, Grains> rows = grains_of(ledger.report());
  std::map<AccountKey, Amount> entries = entries_of(ledger.books(), kAlways);
  std::map<AccountKey, Amount> parts;
  ledger.books().for_each_cell_part(kAlways, [&](const CellPart& part) {
    RC_ASSERT(part.when.length_us() > 0);
    RC_ASSERT(day_of(part.when.from_us) == day_of(part.when.to_us - 1));
    parts[{std::string(part.tenant), std::string(part.service), std::string(part.sku), part.role,
           Month::of(part.when.from_us)}] += part.amount;
  });
  std::erase_if(entries, [](const auto& entry) { return entry.second == Amount(); });
  RC_ASSERT(parts == entries);
  for (const auto& [key, amount] : entries) {
    if (amount.grains != 0) RC_ASSERT(rows.at(key) == amount.grains);
  }
  std::erase_if(entries, [](const auto& entry) { return entry.second.grains == 0; });
  RC_ASSERT(rows.size() == entries.size());
}

/// A cut adds cells, but no time and no money.
RC_GTEST_PROP(BooksProperty, WindowsSumToTheWhole, ()) {
  Rng rng = any_rng();
  LineLedger ledger(testing::random_lines(rng, any_options(true)));
  Interval window{.from_us = 0, .to_us = 0};
  Amount sum;
  while (window.to_us < kAlways.to_us) {
    window.from_us = window.to_us;
    const std::int64_t begin_us = std::max(window.from_us, testing::kNovember - kMicrosPerDay);
    window.to_us = std::min(kAlways.to_us, begin_us + 1 + static_cast<std::int64_t>(rng.below(40 * kMicrosPerDay)));
    if (rng.below(2) == 0) window.to_us = std::max(begin_us + 1, window.to_us / kMicrosPerDay * kMicrosPerDay);
    const Amount before = sum;
    for (const auto& [key, amount] : entries_of(ledger.books(), window)) sum += amount;
    Amount of_parts = before;
    ledger.books().for_each_cell_part(window, [&](const CellPart& part) { of_parts += part.amount; });
    RC_ASSERT(of_parts == sum);
  }
  Amount whole;
  for (const auto& [key, amount] : entries_of(ledger.books(), kAlways)) whole += amount;
  RC_ASSERT(sum == whole);
  RC_ASSERT(whole.grains == ledger.report().grains);
}

/// The data of the books besides rows.
std::vector<std::string> papers_of(Books& books) {
  std::vector<std::string> papers;
  for (const Credit& credit : books.credits()) {
    papers.push_back(fmt::format("{} {} {} {} {} {} {} {}", credit.id, credit.tenant, credit.at_us, credit.micro_usd,
                                 name_of(credit.reason), credit.expires_us.value_or(0), credit.line,
                                 credit.voided_line.value_or(0)));
  }
  for (const Budget& budget : books.budgets()) {
    papers.push_back(
        fmt::format("{} {} {} {}", budget.tenant, budget.from_us, budget.micro_usd_per_month, budget.is_hard));
  }
  for (const Rate& rate : books.rates()) {
    papers.push_back(fmt::format("{} {} {} {}", rate.currency, rate.from_us, rate.micro_per_usd, rate.line));
  }
  for (const SkuPrice& price : books.prices()) {
    papers.push_back(fmt::format("{} {} {}", price.sku, price.from_us, price.micro_usd_per_gpu_hour));
  }
  return papers;
}

RC_GTEST_PROP(BooksProperty, SavedBooksGoOn, ()) {
  Rng rng = any_rng();
  const Lines lines = testing::random_lines(rng, any_options(true));
  const std::uint64_t often = 1 + rng.below(20);
  LineLedger whole;
  LineLedger reopened;
  for (const std::string& line : lines) {
    RC_ASSERT(whole.take(line) == reopened.take(line));
    if (rng.below(often) == 0) reopened.reopen();
  }
  RC_ASSERT(reopened.report() == whole.report());
  RC_ASSERT(reopened.books().trial_balance().sum == 0);
  RC_ASSERT(entries_of(reopened.books(), kAlways) == entries_of(whole.books(), kAlways));
  RC_ASSERT(papers_of(reopened.books()) == papers_of(whole.books()));
  RC_ASSERT(reopened.books().last_closed() == whole.books().last_closed());
  reopened.reopen();
  RC_ASSERT(reopened.report() == whole.report());
}

RC_GTEST_PROP(BooksProperty, DamagedBooksAreNotTaken, ()) {
  Rng rng = any_rng();
  LineLedger ledger(testing::random_lines(rng, any_options(true)));
  const std::string bytes = testing::saved_bytes(ledger.books());
  const auto is_taken = [](std::string_view saved) {
    return Books::restored(saved, [](std::uint64_t) { return std::string_view(); }).has_value();
  };
  RC_ASSERT(is_taken(bytes));
  for (int i = 0; i < 20; ++i) {
    std::string damaged = bytes;
    char& byte = damaged[rng.below(damaged.size())];
    byte = static_cast<char>(static_cast<unsigned char>(byte) ^ 1U << rng.below(8));
    RC_ASSERT(!is_taken(damaged));
    RC_ASSERT(!is_taken(bytes.substr(0, rng.below(bytes.size()))));
    RC_ASSERT(!is_taken(bytes.substr(1 + rng.below(bytes.size() - 1))));
  }
  RC_ASSERT(!is_taken(bytes + bytes.substr(0, 1)));
}

}  // namespace
}  // namespace berth::ledger
