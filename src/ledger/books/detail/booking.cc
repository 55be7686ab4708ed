#include "ledger/books/detail/booking.h"

#include <utility>

namespace berth::ledger::detail {

void Booking::add_row(BookedMonth& into, const BookingKey& key, const Amount& amount) {
  if (amount.grains == 0) return;
  Grains& carry = carries_[key];
  const Grains sum = amount.grains + carry;
  const MicroUsd micro_usd = floor_divide(sum, kGrainsPerMicroUsd);
  carry = sum - micro_usd * kGrainsPerMicroUsd;
  into.rows.push_back({.key = key, .amount = amount, .micro_usd = micro_usd});
}

void Booking::add_corrections(BookedMonth& into, const Accounts& accounts) {
  if (!last_closed_) return;
  for (const Month month : accounts.changed()) {
    if (month > *last_closed_) break;
    const auto known = accounts.months().find(month);
    if (known == accounts.months().end()) continue;
    MonthAccounts& booked = booked_[month];
    for (const auto& [key, amount] : known->second) {
      Amount& before = booked[key];
      add_row(into, {.account = key, .of = month}, amount - before);
      before = amount;
    }
  }
}

void Booking::book(Month month, const Accounts& accounts) {
  BookedMonth booked{.month = month, .rows = {}};
  const bool is_first = !last_closed_ || month == last_closed_->next();
  if (is_first) add_corrections(booked, accounts);
  if (const auto known = accounts.months().find(month); known != accounts.months().end()) {
    for (const auto& [key, amount] : known->second) add_row(booked, {.account = key, .of = std::nullopt}, amount);
  }
  if (!booked.rows.empty()) months_.push_back(std::move(booked));
}

void Booking::close(Month month, const Accounts& accounts) {
  if (last_closed_) {
    book(month, accounts);
    if (const auto known = accounts.months().find(month); known != accounts.months().end()) booked_.insert(*known);
  } else {
    for (const auto& [earlier, known] : accounts.months()) {
      if (earlier > month) break;
      book(earlier, accounts);
      booked_.emplace(earlier, known);
    }
  }
  last_closed_ = month;
}

void Booking::book_open_months(const Accounts& accounts) {
  if (last_closed_) book(last_closed_->next(), accounts);
  for (const auto& [month, known] : accounts.months()) {
    if (!last_closed_ || month > last_closed_->next()) book(month, accounts);
  }
}

}  // namespace berth::ledger::detail
