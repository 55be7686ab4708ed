#include "ledger/recount/detail/booking.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ledger/recount/detail/row_order.h"

namespace berth::ledger::recounting {

void Booking::replace(Month month, const MonthCount& before, const MonthCount& now) {
  auto& sums = sums_[month];
  for (const auto& [account, amount] : before.amounts) {
    sums[account].counted.gpu_us -= amount.gpu_us;
    sums[account].counted.grains -= amount.grains;
  }
  for (const auto& [account, amount] : now.amounts) {
    sums[account].counted.gpu_us += amount.gpu_us;
    sums[account].counted.grains += amount.grains;
  }
  unpriced_us_ += now.unpriced_us - before.unpriced_us;
  unbacked_us_ += now.unbacked_us - before.unbacked_us;
}

void Booking::close(Month month) {
  if (!last_closed_) {
    for (auto earlier = sums_.begin(); earlier != sums_.end() && earlier->first < month; ++earlier) {
      book(earlier->first);
    }
  }
  book(month);
  last_closed_ = month;
}

Report Booking::finish() {
  if (last_closed_) book(last_closed_->next());
  const auto first = last_closed_ ? sums_.upper_bound(last_closed_->next()) : sums_.begin();
  for (auto month = first; month != sums_.end(); ++month) book(month->first);

  Report report{.counts = {}, .unpriced_us = unpriced_us_, .unbacked_us = unbacked_us_, .months = std::move(booked_)};
  for (MonthRows& month : report.months) {
    month.is_closed = last_closed_ && month.month <= *last_closed_;
    report.micro_usd += month.micro_usd;
  }
  for (const auto& [month, sums] : sums_) {
    for (const auto& [account, sum] : sums) report.grains += sum.counted.grains;
  }
  for (const auto& [key, carry] : carries_) report.carried_grains += carry;
  return report;
}

void Booking::book(Month month) {
  std::vector<Row> rows;
  if (sums_.contains(month)) book_difference(rows, month, /*is_correction=*/false);
  if (last_closed_) {
    for (auto closed = sums_.begin(); closed != sums_.end() && closed->first <= *last_closed_; ++closed) {
      book_difference(rows, closed->first, /*is_correction=*/true);
    }
  }
  if (rows.empty()) return;
  std::ranges::sort(rows, precedes, &Row::key);
  MicroUsd micro_usd = 0;
  for (const Row& row : rows) micro_usd += row.micro_usd;
  booked_.push_back({.month = month, .micro_usd = micro_usd, .rows = std::move(rows)});
}

void Booking::book_difference(std::vector<Row>& rows, Month of, bool is_correction) {
  const std::optional<Month> corrected = is_correction ? std::optional(of) : std::nullopt;
  for (auto& [account, sum] : sums_[of]) {
    const Amount amount{.gpu_us = sum.counted.gpu_us - sum.booked.gpu_us,
                        .grains = sum.counted.grains - sum.booked.grains};
    sum.booked = sum.counted;
    if (amount.grains == 0) continue;  // the row is not shown, but its time is booked
    Grains& carry = carries_[{account, corrected}];
    const Grains due = amount.grains + carry;
    carry = due % kGrainsPerMicroUsd;
    if (carry < 0) carry += kGrainsPerMicroUsd;
    rows.push_back({.key = {.tenant = std::string(account.tenant),
                            .service = std::string(account.service),
                            .sku = std::string(account.sku),
                            .role = account.role,
                            .of = corrected},
                    .amount = amount,
                    .micro_usd = (due - carry) / kGrainsPerMicroUsd});
  }
}

}  // namespace berth::ledger::recounting
