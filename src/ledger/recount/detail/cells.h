/// From time to money: the cost of a month of one GPU, by payer.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/core/month.h"
#include "ledger/books/amount.h"
#include "ledger/recount/detail/line.h"

namespace berth::ledger::recounting {

/// Who pays for what: the key of a row without its class.
struct Account {
  std::string_view tenant;
  std::string_view service;
  std::string_view sku;
  Role role = Role::kIdle;
  friend auto operator<=>(const Account&, const Account&) = default;
};

using Prices = std::map<std::string_view, std::map<std::int64_t, std::int64_t>>;  ///< sku, from, micro-dollars per hour
using PaidPeriods = std::map<std::int64_t, const Gpu*>;                           ///< by from_us, without overlaps

struct MonthCount {
  std::map<Account, Amount> amounts;
  Int128 unpriced_us = 0;
  Int128 unbacked_us = 0;
};

/// The cells of a GPU in a month, each split among its uses and idle. `uses` are those of the GPU that touch the month.
/// O(n log n) in the borders, and O(log) for each part of a cell.
[[nodiscard]] MonthCount count_month(Month month, const PaidPeriods& paid, const std::vector<const Use*>& uses,
                                     const Prices& prices);

/// `total` in proportion to the weights: parts are rounded down, then the rest is given out one each to the largest
/// remainders; ties: the first. Requires: 0 <= total, weights are not negative, their sum is positive, and total times
/// a weight fits 127 bits.
[[nodiscard]] std::vector<Int128> split(Int128 total, const std::vector<std::int64_t>& weights);

}  // namespace berth::ledger::recounting
