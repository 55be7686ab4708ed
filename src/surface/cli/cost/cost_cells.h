/// The cells behind a figure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/books/books.h"

namespace berth::cli {

struct WhyQuestion;

/// A part of a cell, with its own copies of texts.
struct CostCell {
  ledger::Interval when;
  std::string gpu;
  std::string sku;
  std::optional<std::int64_t> micro_usd_per_gpu_hour;
  std::string slice;  ///< "" for an unused part
  std::int64_t weight = 0;
  std::int64_t whole = 0;
  std::string tenant;
  std::string service;
  ledger::Role role = ledger::Role::kIdle;
  ledger::Amount amount;
};

struct CostCells {
  std::vector<CostCell> list;  ///< by GPU and time, at most kCostCellsMax
  std::uint64_t count = 0;     ///< of all
  ledger::Amount total;        ///< of all
};
inline constexpr std::size_t kCostCellsMax = 100'000;

/// The cells that match the question. Counts and sums include those beyond kCostCellsMax.
[[nodiscard]] CostCells find_cells(ledger::Books& books, const WhyQuestion& question);

}  // namespace berth::cli
