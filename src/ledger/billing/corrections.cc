#include "ledger/billing/corrections.h"

#include <fmt/format.h>

#include "ledger/billing/csv.h"

namespace berth::ledger {
namespace {

constexpr int kDollarDecimals = 6;

}  // namespace

void add_correction(std::vector<LaterCorrection>& corrections, Month of, Month month, const Row& row) {
  if (row.key.of != of || row.micro_usd == 0) return;
  if (corrections.empty() || corrections.back().month != month) corrections.push_back({.month = month});
  (row.micro_usd > 0 ? corrections.back().added : corrections.back().taken_back) += row.micro_usd;
}

std::vector<LaterCorrection> later_corrections(const Report& report, Month of) {
  std::vector<LaterCorrection> corrections;
  for (const MonthRows& month : report.months) {
    for (const Row& row : month.rows) add_correction(corrections, of, month.month, row);
  }
  return corrections;
}

LaterCorrection sum_of(std::span<const LaterCorrection> corrections) {
  LaterCorrection sum;
  for (const LaterCorrection& each : corrections) {
    sum.added += each.added;
    sum.taken_back += each.taken_back;
  }
  return sum;
}

std::string text_of(const LaterCorrection& correction) {
  std::string text;
  if (correction.added != 0) text = "+" + decimal_of(correction.added, kDollarDecimals);
  if (correction.taken_back != 0) {
    text += (text.empty() ? "" : " and ") + decimal_of(correction.taken_back, kDollarDecimals);
  }
  return (text.empty() ? "0" : text) + " USD";
}

std::string booking_sentence(Month month, bool is_closed, std::span<const LaterCorrection> corrections) {
  const std::string name = month.to_string();
  if (!is_closed) return name + " is still open: it is as known now.";
  if (corrections.empty()) return name + " is as booked at its close; nothing that became known since then changes it.";
  std::string booked;
  for (const LaterCorrection& each : corrections) {
    booked += fmt::format("{}{} in {}", booked.empty() ? "" : ", ", text_of(each), each.month.to_string());
  }
  return fmt::format("{} is as booked at its close. What became known since then is booked as corrections: {}.", name,
                     booked);
}

}  // namespace berth::ledger
