#include "ledger/billing/cost.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/core/ensure.h"
#include "base/core/month.h"

namespace berth::ledger {
namespace {

constexpr std::array kCostKeys = {CostKey::kTenant, CostKey::kService, CostKey::kSku,
                                  CostKey::kRole,   CostKey::kGpu,     CostKey::kDay};

/// Later than any ledger.
constexpr std::int64_t kEndOfTime = 253'402'300'799'000'000;

/// Sums by number first, so that texts of days are made once.
class Sums {
 public:
  explicit Sums(CostKey key) : key_(key) {}
  void add(const DayEntry& entry) {
    if (key_ == CostKey::kDay) {
      by_day_[entry.day] += entry.amount;
      return;
    }
    const std::string_view text = text_of(entry);
    const auto found = by_text_.find(text);
    (found != by_text_.end() ? found->second : by_text_[std::string(text)]) += entry.amount;
  }
  [[nodiscard]] std::vector<CostRow> rows() const {
    std::vector<CostRow> rows;
    rows.reserve(by_text_.size() + by_day_.size());
    for (const auto& [text, amount] : by_text_) rows.push_back({.key = text, .amount = amount});
    for (const auto& [day, amount] : by_day_) rows.push_back({.key = Date(day).to_string(), .amount = amount});
    std::erase_if(rows, [](const CostRow& row) { return row.amount == Amount(); });
    return rows;
  }

 private:
  [[nodiscard]] std::string_view text_of(const DayEntry& entry) const {
    switch (key_) {
      case CostKey::kTenant:
        return entry.tenant;
      case CostKey::kService:
        return entry.service;
      case CostKey::kSku:
        return entry.sku;
      case CostKey::kRole:
        return name_of(entry.role);
      case CostKey::kGpu:
        return entry.gpu;
      case CostKey::kDay:
        break;
    }
    ENSURE(false);
  }

  CostKey key_;
  std::map<std::string, Amount, std::less<>> by_text_;
  std::map<std::int32_t, Amount> by_day_;
};

}  // namespace

std::string_view name_of(CostKey key) {
  switch (key) {
    case CostKey::kTenant:
      return "tenant";
    case CostKey::kService:
      return "service";
    case CostKey::kSku:
      return "sku";
    case CostKey::kRole:
      return "role";
    case CostKey::kGpu:
      return "gpu";
    case CostKey::kDay:
      return "day";
  }
  ENSURE(false);
}

std::optional<CostKey> cost_key_named(std::string_view name) {
  const auto* const found = std::ranges::find(kCostKeys, name, [](CostKey key) { return name_of(key); });
  return found == kCostKeys.end() ? std::nullopt : std::optional(*found);
}

Interval DayRange::interval() const {
  return {.from_us = since ? since->days() * kMicrosPerDay : 0,
          .to_us = until ? until->days() * kMicrosPerDay : kEndOfTime};
}

std::vector<CostRow> cost_by(Books& books, CostKey key, const DayRange& days) {
  Sums sums(key);
  books.for_each_entry(days.interval(), [&](const DayEntry& entry) { sums.add(entry); });
  return sums.rows();
}

}  // namespace berth::ledger
