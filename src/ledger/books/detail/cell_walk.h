/// The cells of a GPU: intervals in which nothing about it changes, divided among its users.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ledger/books/amount.h"
#include "ledger/books/detail/gpu_book.h"
#include "ledger/books/detail/names.h"
#include "ledger/books/detail/price_book.h"
#include "ledger/books/detail/split.h"

namespace berth::ledger::detail {

/// [x, y), within a day: price * (y - x) grains, divided by weight among the uses and the unused rest. A view into a
/// CellWalk, valid until its next step.
struct CellView {
  Interval when;
  const PaidRecord* paid = nullptr;  ///< nullptr: the GPU is not paid for, so its uses cost nothing
  std::optional<std::int64_t> micro_usd_per_gpu_hour = std::nullopt;  ///< absent: no price yet
  std::span<const UseRecord* const> uses = {};                        ///< by the bytes of their slices
  std::span<const std::uint32_t> use_numbers = {};                    ///< of the same uses, for `CellWalk::use`
  std::int64_t whole = 0;               ///< the capacity, or the sum of the weights if that is larger
  std::span<const Grains> grains = {};  ///< of each use, then of the unused rest
  std::span<const GpuMicros> gpu_us = {};
};

/// Walks over the cells of windows, which are divided at borders of uses, prices and paid time; the windows' own ends
/// are borders, too. O((uses + prices) log) to begin, O(uses of the cell) per cell.
class CellWalk {
 public:
  CellWalk(const PriceBook& prices, const Names& names) : prices_(prices), names_(names) {}

  /// `for_each_use(visit)` visits the uses of the GPU, all that touch the windows. Windows: by time, without overlaps.
  /// The uses and the GPU's book may not change during the walk.
  template <class ForEachUse>
  void begin(const GpuBook& gpu, const ForEachUse& for_each_use, std::span<const Interval> windows) {
    open(windows);
    for_each_use([this](const UseRecord& use) { add_use(use); });
    close(gpu);
  }
  void begin(const GpuBook& gpu, const UseSet& uses, const Interval& window) {
    begin(gpu, [&uses](const auto& visit) { uses.for_each(visit); }, {&window, 1});
  }
  /// Moves to the next cell; intervals with unpaid uses are cells, too. False at the end.
  [[nodiscard]] bool next();
  [[nodiscard]] const CellView& cell() const { return cell_; }
  /// The uses that touch the windows, by number.
  [[nodiscard]] std::size_t use_count() const { return known_.size(); }
  [[nodiscard]] const UseRecord& use(std::uint32_t number) const { return *known_[number].record; }

 private:
  static constexpr std::uint32_t kNoUse = UINT32_MAX;

  /// An instant at which something changes.
  struct Border {
    std::int64_t us = 0;
    std::uint32_t use = kNoUse;  ///< of `known_` that begins or ends
    bool is_end = false;
  };
  struct KnownUse {
    const UseRecord* record = nullptr;
    std::uint32_t slice_at = 0;  ///< of its slice in `slices_`
  };

  void open(std::span<const Interval> windows);
  void add_use(const UseRecord& use);
  void close(const GpuBook& gpu);
  void rank_slices();
  void add_paid_borders(const Interval& window);
  void pass_borders();
  void divide();

  const PriceBook& prices_;
  const Names& names_;
  std::vector<Interval> windows_;
  std::size_t window_at_ = 0;
  std::span<const PaidRecord> paid_;
  std::size_t paid_at_ = 0;
  std::vector<KnownUse> known_;
  std::vector<NameId> slices_;
  std::vector<NameId> ranked_slices_;    ///< those for which `ranks_` is: often the same on the next day
  std::vector<std::uint32_t> by_bytes_;  ///< places in `slices_`, by the bytes of the names
  std::vector<std::uint32_t> ranks_;     ///< by place in `slices_`: the place in `by_bytes_`
  std::vector<Border> borders_;
  std::size_t border_at_ = 0;
  std::vector<std::uint32_t> active_ranks_;    ///< ascending
  std::vector<const UseRecord*> active_;       ///< the uses of the cell, likewise
  std::vector<std::uint32_t> active_numbers_;  ///< theirs in `known_`
  std::vector<std::int64_t> weights_;          ///< theirs, and that of the unused rest
  std::int64_t weight_sum_ = 0;                ///< of the uses
  std::vector<Grains> grains_;
  std::vector<GpuMicros> gpu_us_;
  Splitter splitter_;
  CellView cell_;
};

}  // namespace berth::ledger::detail
