/// From the uses of a GPU to postings.
#pragma once

#include <cstdint>
#include <vector>

#include "ledger/books/detail/accounts.h"
#include "ledger/books/detail/cell_walk.h"
#include "ledger/books/detail/gpu_book.h"

namespace berth::ledger::detail {

/// Where the postings of a month go.
struct MonthPosting {
  Month month;
  Accounts* accounts = nullptr;
};

/// Counts what changed of GPUs again: of a day with few changes only the windows that they affect, so that a late line
/// costs about its own cells. Keeps its scratch memory.
class Counting {
 public:
  Counting(const PriceBook& prices, const Names& names) : walk_(prices, names) {}

  /// Reverses and reposts what changed in the months up to `last`. Returns whether later months are still dirty.
  /// O(cells of the dirty days, uses of the days with changes and cells of their windows).
  [[nodiscard]] bool count(GpuBook& gpu, Month last, Accounts& accounts);

  /// The amounts of a window within a day, by holder and sku. `uses`: those of the GPU that touch it.
  [[nodiscard]] Postings count_window(const GpuBook& gpu, const UseSet& uses, const Interval& window);

  /// The number of cells counted so far: a measure of the work.
  [[nodiscard]] std::uint64_t cell_count() const { return cell_count_; }

 private:
  /// Counts a dirty day.
  void count_day(const GpuBook& gpu, DayBook& day, const Interval& when, const MonthPosting& to);
  /// Counts the windows that the changes of a counted day affect, as they were and as they are.
  void count_changes(const GpuBook& gpu, DayBook& day, const Interval& when, const MonthPosting& to);
  /// Adds the cells of a walk that has begun to `sums_`.
  void add_cells();
  void add_cell(const CellView& cell);
  /// Adds what was collected by use, all of it paid by `paid_`, to `sums_`.
  void add_uses();
  void add(HolderId holder, NameId sku, const Amount& amount);
  /// Makes `sums_` these postings.
  void resume(const Postings& postings);
  /// Adds postings to resumed ones, or subtracts them.
  void add(const Postings& postings, bool is_subtracted);
  [[nodiscard]] Postings take_sums();
  /// The postings of the days of the month that no use touches.
  [[nodiscard]] Postings count_unused_days(const GpuBook& gpu, const MonthBook& month);

  CellWalk walk_;
  Postings sums_;
  std::vector<std::uint32_t> places_;   ///< by holder: 1 + its index in `sums_`, or a stale one
  const PaidRecord* paid_ = nullptr;    ///< of the cells whose amounts are in `use_amounts_`
  std::vector<Amount> use_amounts_;     ///< by the number of the use in the walk
  std::vector<std::uint32_t> touched_;  ///< numbers of uses with amounts
  Amount idle_;
  std::uint64_t cell_count_ = 0;
};

}  // namespace berth::ledger::detail
