/// From accounts to rows: months are booked once, and later knowledge about them becomes corrections.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <vector>

#include "base/core/month.h"
#include "ledger/books/amount.h"
#include "ledger/books/detail/accounts.h"

namespace berth::ledger::detail {

/// The key of a row: usage of its month, or a correction of an earlier one.
struct BookingKey {
  AccountKey account;
  std::optional<Month> of;  ///< absent: usage
  friend auto operator<=>(const BookingKey&, const BookingKey&) = default;
};

struct BookedRow {
  BookingKey key;
  Amount amount;
  MicroUsd micro_usd = 0;
};

struct BookedMonth {
  Month month;
  std::vector<BookedRow> rows;  ///< those with grains, unordered
};

/// A regular value: a copy can book the open months.
class Booking {
 public:
  [[nodiscard]] std::optional<Month> last_closed() const { return last_closed_; }

  /// Closes the month and those before it. Requires: the accounts are complete for these months; the month follows the
  /// last closed one, if any.
  void close(Month month, const Accounts& accounts);
  /// Books all other months with accounts, and in any case the one after the last closed one, for corrections.
  void book_open_months(const Accounts& accounts);

  /// By month.
  [[nodiscard]] const std::vector<BookedMonth>& months() const { return months_; }
  /// The remainder of each row: from 0 to below a micro-dollar.
  [[nodiscard]] const std::map<BookingKey, Grains>& carries() const { return carries_; }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.last_closed_, self.months_, self.booked_, self.carries_);
  }

 private:
  void book(Month month, const Accounts& accounts);
  void add_corrections(BookedMonth& into, const Accounts& accounts);
  void add_row(BookedMonth& into, const BookingKey& key, const Amount& amount);

  std::optional<Month> last_closed_;
  std::vector<BookedMonth> months_;
  std::map<Month, MonthAccounts> booked_;  ///< of closed months, corrections included
  std::map<BookingKey, Grains> carries_;
};

}  // namespace berth::ledger::detail
