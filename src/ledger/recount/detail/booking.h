/// Books months: counted amounts become rows, and are corrected later.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/core/month.h"
#include "ledger/books/report.h"
#include "ledger/recount/detail/cells.h"

namespace berth::ledger::recounting {

class Booking {
 public:
  /// Replaces the count of a GPU's month.
  void replace(Month month, const MonthCount& before, const MonthCount& now);

  /// Books the month, and at the first close all months before it. Requires: all months up to it are counted.
  void close(Month month);
  /// Books the open months. Returns everything booked; its line counts are empty. Requires: all months are counted, and
  /// nothing is called afterwards.
  [[nodiscard]] Report finish();

 private:
  struct Sum {
    Amount counted;
    Amount booked;  ///< in the month's own rows and in corrections
  };
  using CarryKey = std::pair<Account, std::optional<Month>>;  ///< with the month that is corrected

  void book(Month month);
  /// Books the amounts of the month `of` that are counted but not booked.
  void book_difference(std::vector<Row>& rows, Month of, bool is_correction);

  std::map<Month, std::map<Account, Sum>> sums_;
  std::map<CarryKey, Grains> carries_;
  std::vector<MonthRows> booked_;
  std::optional<Month> last_closed_;
  Int128 unpriced_us_ = 0;
  Int128 unbacked_us_ = 0;
};

}  // namespace berth::ledger::recounting
