/// The records of one GPU: when it is paid for, its uses, and what is counted of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/books/amount.h"
#include "ledger/books/detail/names.h"
#include "ledger/books/detail/use_set.h"
#include "ledger/events/event.h"

namespace berth::ledger::detail {

/// Time for which the GPU is paid for.
struct PaidRecord {
  Interval when;
  std::uint64_t position = 0;
  std::int64_t capacity = 1;
  NameId sku = 0;
  HolderId idle_holder = 0;  ///< who pays for its unused time
};

/// A posting: from the sku's account to the holder's of a month.
struct Posting {
  HolderId holder = 0;
  NameId sku = 0;
  Amount amount;
};

/// The postings of a day, or of the days of a month without uses, to be reversed when it is counted again.
struct Postings {
  std::vector<Posting> list;
  std::int64_t unpriced_us = 0;
  Int128 unbacked_us = 0;
};

/// A use that came or went after its day was counted.
struct UseChange {
  UseRecord use;
  bool is_removal = false;
};

struct DayBook {
  /// Remembers that a use came or went. More than a few make the day dirty: it is counted again as a whole.
  void add_change(const UseChange& change);
  void set_clean();

  UseSet uses;
  Postings posted;
  std::vector<UseChange> changes;  ///< since it was counted; empty if it is dirty
  bool is_dirty = true;            ///< something else changed, or too much, or it was never counted
};

struct MonthBook {
  explicit MonthBook(Month in) : month(in), first_day(in.first_day().days()) {}

  /// The book of a day, created if missing. `day` counts from 1970.
  [[nodiscard]] DayBook& day(std::int32_t day);
  /// Absent: no use ever touched it.
  [[nodiscard]] const DayBook* find_day(std::int32_t day) const;

  /// Marks everything in the month as counted.
  void set_clean();

  Month month;
  std::int32_t first_day;                      ///< counted from 1970
  std::vector<std::unique_ptr<DayBook>> days;  ///< of the month; empty while no day has a use
  Postings unused_days;                        ///< posted for days without uses
  bool is_dirty = false;                       ///< one of its days, or its days without uses, must be counted
  bool is_unused_dirty = false;
};

/// Stores accepted events and which days must be counted (again). Acceptance of further events depends only on these.
class GpuBook {
 public:
  /// False, and nothing is stored, on overlap with a use of the same slice, or with paid time. Even so, days of a use
  /// may have to be counted again.
  [[nodiscard]] bool accept(const UseRecord& use);
  [[nodiscard]] bool accept(const PaidRecord& paid);
  /// Removes the use of a slice that begins then, if its line is at `position`. Returns whether it did.
  [[nodiscard]] bool take_back_use(NameId slice, std::int64_t from_us, std::uint64_t position);
  [[nodiscard]] bool take_back_paid(std::int64_t from_us, std::uint64_t position);

  /// Marks the days and months of this interval to be counted again, as far as the GPU is paid for or used then.
  void touch(const Interval& when);
  /// The same, only for time that is paid for as that sku.
  void touch_paid(NameId sku, const Interval& when);

  /// By time.
  [[nodiscard]] std::span<const PaidRecord> paid() const { return paid_; }
  [[nodiscard]] std::map<Month, MonthBook>& months() { return months_; }
  [[nodiscard]] const std::map<Month, MonthBook>& months() const { return months_; }

  /// Saves everything, to continue elsewhere. Requires: nothing is dirty.
  [[nodiscard]] std::string save() const;
  /// Restores a saved book; absent: the bytes are not one.
  [[nodiscard]] static std::optional<GpuBook> restored(std::string_view bytes);

 private:
  [[nodiscard]] MonthBook& month_book(Month month);
  /// For the common case of a use within one day.
  [[nodiscard]] bool accept_in_day(const UseRecord& use);
  /// Takes an accepted use out of its days before `end_day`.
  void take_back_before(std::int32_t end_day, const UseRecord& use);

  std::vector<PaidRecord> paid_;
  std::map<Month, MonthBook> months_;
};

}  // namespace berth::ledger::detail
