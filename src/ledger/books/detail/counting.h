/// From the uses of a GPU to postings.
#pragma once

#include <cstdint>
#include <vector>

#include "ledger/books/detail/accounts.h"
#include "ledger/books/detail/cell_walk.h"
#include "ledger/books/detail/gpu_book.h"

namespace berth::ledger::detail {

/// Counts the dirty parts of GPUs again. Keeps its scratch memory.
class Counting {
 public:
  Counting(const PriceBook& prices, const Names& names) : walk_(prices, names) {}

  /// Reverses and reposts the dirty parts of the months up to `last`. Returns whether later months are still dirty.
  /// O(cells of the dirty days).
  [[nodiscard]] bool count(GpuBook& gpu, Month last, Accounts& accounts);

  /// The amounts of a window within a day, by holder and sku. `uses`: those of the GPU that touch it.
  [[nodiscard]] Postings count_window(const GpuBook& gpu, const UseSet& uses, const Interval& window);

 private:
  /// Adds the cells of a window to `sums_`.
  void add_window(const GpuBook& gpu, const UseSet& uses, const Interval& window);
  void add_cell(const CellView& cell);
  void add(HolderId holder, NameId sku, GpuMicros gpu_us, Grains grains);
  [[nodiscard]] Postings take_sums();
  /// The postings of the days of the month that no use touches.
  [[nodiscard]] Postings count_unused_days(const GpuBook& gpu, const MonthBook& month);

  CellWalk walk_;
  Postings sums_;
  std::vector<std::uint32_t> places_;  ///< by holder: 1 + its index in `sums_`, or a stale one
};

}  // namespace berth::ledger::detail
