#include "ledger/billing/month_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "live/chain/field_hash.h"

namespace berth::ledger {
namespace {

using chain::FieldHash;

std::string digits(Int128 value) { return fmt::format("{}", value); }

void add_rows(FieldHash& hash, const Report& report, Month month) {
  const auto found = std::ranges::find(report.months, month, &MonthRows::month);
  if (found == report.months.end()) {
    hash.add(digits(0));
    return;
  }
  hash.add(digits(std::ssize(found->rows)));
  for (const Row& row : found->rows) {
    hash.add(row.key.tenant).add(row.key.service).add(row.key.sku).add(name_of(row.key.role));
    hash.add(row.key.class_name()).add(row.key.of ? row.key.of->to_string() : std::string());
    hash.add(digits(row.amount.gpu_us)).add(digits(row.amount.grains)).add(digits(row.micro_usd));
  }
}

void add_credits(FieldHash& hash, const Books& books, Month month) {
  const std::uint64_t close_line = books.close_line(month);
  std::vector<const Credit*> known;
  for (const Credit& credit : books.credits()) {
    const bool is_voided = credit.voided_line && *credit.voided_line < close_line;
    if (credit.line < close_line && !is_voided && credit.at_us < month.end_us()) known.push_back(&credit);
  }
  std::ranges::sort(known, {}, [](const Credit* credit) { return std::string_view(credit->id); });
  hash.add(digits(std::ssize(known)));
  for (const Credit* credit : known) {
    hash.add(credit->id).add(credit->tenant).add(digits(credit->at_us)).add(digits(credit->micro_usd));
    hash.add(name_of(credit->reason)).add(credit->expires_us ? digits(*credit->expires_us) : std::string());
  }
}

void add_rates(FieldHash& hash, const Books& books, Month month) {
  const std::uint64_t close_line = books.close_line(month);
  std::vector<const Rate*> known;
  for (const Rate& rate : books.rates()) {
    if (rate.line < close_line && rate.from_us < month.end_us()) known.push_back(&rate);
  }
  std::ranges::sort(known, {},
                    [](const Rate* rate) { return std::pair(std::string_view(rate->currency), rate->from_us); });
  hash.add(digits(std::ssize(known)));
  for (const Rate* rate : known) {
    hash.add(rate->currency).add(digits(rate->from_us)).add(digits(rate->micro_per_usd));
  }
}

}  // namespace

std::optional<std::string> month_hash(const Books& books, const Report& report, Month month) {
  const auto last_closed = books.last_closed();
  if (!last_closed || month > *last_closed) return std::nullopt;
  FieldHash hash("ledger month 1");
  hash.add(month.to_string());
  add_rows(hash, report, month);
  add_credits(hash, books, month);
  add_rates(hash, books, month);
  return chain::hex_of(hash.finish());
}

}  // namespace berth::ledger
