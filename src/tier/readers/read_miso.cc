#include <fmt/format.h>

#include <utility>

#include "base/core/first_error.h"
#include "base/core/rows.h"
#include "tier/readers/limits.h"
#include "tier/readers/read_training.h"
#include "tier/readers/table_builder.h"

namespace berth::tier {
namespace {

enum MisoColumn : std::size_t { kMisoModel, kMisoBatch, kMisoSlice, kMisoMedian };

/// "3g.20gb" -> "3g".
Result<std::string> tier_of_slice(const Rows& rows) {
  const std::string_view slice = rows.field(kMisoSlice);
  const bool is_slice = slice.size() >= 2 && slice[0] >= '1' && slice[0] <= '9' && slice[1] == 'g';
  if (!is_slice) return rows.refuse(kMisoSlice, "the name of a slice, such as 3g.20gb");
  return std::string(slice.substr(0, 2));
}

Result<TierRow> row_of_miso(const Rows& rows) {
  FirstError first;
  TierRow row{.group = first.take(rows.word(kMisoModel)),
              .workload = {},
              .batch = first.take(rows.count(kMisoBatch, kBatchMax)),
              .tier = first.take(tier_of_slice(rows)),
              .point = {}};
  const Decimal seconds = first.take(rows.number(kMisoMedian, kSecondsMax));
  if (!first.is_clear()) return first.passed_on();
  row.workload = batch_name(row.batch);
  row.point.batch = row.batch;
  if (seconds.sign() > 0) row.point.samples_per_second = Decimal(row.batch) / seconds;
  return row;
}

}  // namespace

Result<TierTable> read_miso(std::string_view text, std::string_view file, const std::vector<Tier>& tiers) {
  Rows rows(text, file, NamedColumns{.required = {"model", "batch", "mig_slice", "median_s_per_iter"}});
  if (auto begun = rows.begin(); !begun) return pass_on(begun.error());
  TableBuilder builder(TierKind::kJobs, tiers);
  while (true) {
    const auto has_row = rows.next();
    if (!has_row) return pass_on(has_row.error());
    if (!*has_row) return builder.take();
    auto row = row_of_miso(rows);
    if (!row) return pass_on(row.error());
    if (builder.add(*row) == RowFate::kRepeated) {
      return rows.fail_row(fmt::format("wanted one row per model, batch and slice, found a second one of {}, {}, {}",
                                       in_quotes(row->group), row->batch, row->tier));
    }
  }
}

}  // namespace berth::tier
