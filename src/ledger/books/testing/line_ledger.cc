#include "ledger/books/testing/line_ledger.h"

#include <fmt/format.h>

#include <utility>

#include "base/core/ensure.h"
#include "ledger/events/event_lines.h"

namespace berth::ledger::testing {
namespace {

constexpr std::string_view kSavedLabel = "what it covers";

}  // namespace

LineLedger::LineLedger() : books_([this](std::uint64_t position) { return line_at(text_, position); }) {}

LineLedger::LineLedger(const std::vector<std::string>& lines) : LineLedger() {
  for (const std::string& line : lines) take(line);
}

Verdict LineLedger::take(std::string_view line) {
  EventLine next{.number = ++line_count_, .position = text_.size(), .text = {}, .event = {}};
  text_ += line;
  text_ += '\n';
  next.text = line_at(text_, next.position);
  auto event = reader_.read(next.text);
  ENSURE(event.has_value());
  next.event = *std::move(event);
  return books_.take(next);
}

void LineLedger::reopen() {
  saved_.push_back(std::make_unique<std::string>(saved_bytes(books_)));
  auto saved = Books::restored(*saved_.back(), [this](std::uint64_t position) { return line_at(text_, position); });
  ENSURE(saved && saved->label == kSavedLabel);
  books_ = std::move(saved->books);
}

std::string saved_bytes(Books& books) {
  std::string bytes;
  books.save(kSavedLabel, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

std::vector<std::string> row_texts(const Report& report) {
  std::vector<std::string> texts;
  for (const MonthRows& month : report.months) {
    for (const Row& row : month.rows) {
      texts.push_back(fmt::format("{} {}/{}/{}/{}{}: {} us, {} grains, {}", month.month.to_string(), row.key.tenant,
                                  row.key.service, row.key.sku, name_of(row.key.role),
                                  row.key.of ? " of " + row.key.of->to_string() : "", row.amount.gpu_us,
                                  row.amount.grains, row.micro_usd));
    }
  }
  return texts;
}

}  // namespace berth::ledger::testing
