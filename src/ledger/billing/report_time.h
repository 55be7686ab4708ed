/// The time behind a report: of each holder, and of GPUs without a price. The rows of a report leave out time that cost
/// nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/books/amount.h"
#include "ledger/books/books.h"

namespace berth::ledger {

struct HolderTime {
  std::string tenant;  ///< empty: unowned; of idle time its owner, or empty
  Role role = Role::kIdle;
  GpuMicros gpu_us = 0;
};

/// Paid time of a GPU model while it had no price.
struct UnpricedSku {
  std::string sku;
  std::int64_t from_us = 0;  ///< the first such instant, in microseconds since 1970
  GpuMicros gpu_us = 0;
};

struct ReportTime {
  std::vector<HolderTime> holders;    ///< by tenant and role: all time, with a price or without
  std::vector<UnpricedSku> unpriced;  ///< by sku
};

/// As known now. O(cells).
[[nodiscard]] ReportTime report_time(Books& books);

}  // namespace berth::ledger
