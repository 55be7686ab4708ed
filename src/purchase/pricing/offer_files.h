/// Catalogues of offers as CSV files: Berth's own format, and those of three public catalogues.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/date.h"
#include "base/core/result.h"
#include "purchase/pricing/offer.h"

namespace berth::pricing {

/// An offer and where it was read, FILE:LINE.
struct OfferRow {
  Offer offer;
  std::string place;
};

/// A file to read. Rows of the public catalogues have no dates: theirs is `stamp`.
struct OfferText {
  std::string_view text;
  std::string_view file;  ///< its name in messages
  Date stamp;
};

/// The rows of a file, in its order. The header determines the format:
///
/// - Berth's own: `provider,instance_type,region,purchase,gpu_model,gpu_count,gpu_memory_mib,vcpu_milli,memory_mib,
///   mig_instances_max,micro_usd_per_hour,valid_from,valid_to,source`. An empty price: not offered; an empty
///   `valid_to`: still valid; an empty memory: unknown.
/// - The catalogues of docs/reference/prices.md, by the column `price_od_usd_micro_hr`: GiB count 1,024 MiB, a vCPU
///   1,000 milli, a fraction of a GPU is 0 GPUs. A spot price gives a second row; an instance sold only as spot has no
///   on-demand row.
///
/// Columns may be in any order; other columns are ignored. At most 1,024 GPUs, 7 MIG instances, 10^9 MiB, 10^9 milli of
/// a vCPU and 10^12 micro-dollars per hour. Errors, as FILE:LINE:COLUMN: unreadable or out-of-range values, an empty
/// interval of dates, no rows, two rows for one product and date. O(n log n).
[[nodiscard]] Result<std::vector<OfferRow>> read_offers(const OfferText& text);

/// The offers in Berth's own format, in the order given.
[[nodiscard]] std::string write_offers(std::span<const Offer> offers);

}  // namespace berth::pricing
