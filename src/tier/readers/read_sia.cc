#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/core/first_error.h"
#include "base/core/rows.h"
#include "tier/readers/limits.h"
#include "tier/readers/read_training.h"
#include "tier/readers/table_builder.h"

namespace berth::tier {
namespace {

enum SiaColumn : std::size_t { kSiaPlacement, kSiaBatch, kSiaSeconds };

/// e to the power of 0.09, to 38 digits: the ratio of two whole numbers below 10^9 is never that near to it.
Decimal batch_ratio_limit() { return Decimal::parse("1.0941742837052103578728976235448860118").value(); }

using RateByBatch = std::map<int, Decimal>;              ///< samples per second
using RatesByTier = std::map<std::string, RateByBatch>;  ///< of one app
using RatesByApp = std::map<std::string, RatesByTier>;

/// The rows with placement 1 of one file. A time of 0 is no row.
Result<void> collect_sia(const SiaFile& file, RateByBatch& rates) {
  Rows rows(file.text, file.file, NamedColumns{.required = {"placement", "local_bsz", "step_time"}});
  if (auto begun = rows.begin(); !begun) return pass_on(begun.error());
  std::set<int> seen;
  while (true) {
    const auto has_row = rows.next();
    if (!has_row) return pass_on(has_row.error());
    if (!*has_row) return {};
    if (rows.field(kSiaPlacement) != "1") continue;
    FirstError first;
    const int batch = first.take(rows.count(kSiaBatch, kBatchMax));
    const Decimal seconds = first.take(rows.number(kSiaSeconds, kSecondsMax));
    if (!first.is_clear()) return first.passed_on();
    if (!seen.insert(batch).second) {
      return rows.fail_row(fmt::format("wanted one row of placement 1 per local_bsz, found a second one of {}", batch));
    }
    if (seconds.sign() > 0) rates.emplace(batch, Decimal(batch) / seconds);
  }
}

/// max(a, b) / min(a, b): its logarithm is the distance of two batches.
Decimal ratio_of(int a, int b) { return Decimal(std::max(a, b), std::min(a, b)); }

/// The measured batch nearest to `batch` by its logarithm, the smaller of two; nothing if all are too far away.
std::optional<int> nearest_batch(const RateByBatch& rates, int batch) {
  static constexpr int kNone = 0;
  int nearest = kNone;
  for (const auto& [measured, unused] : rates) {
    if (nearest == kNone || ratio_of(measured, batch) < ratio_of(nearest, batch)) nearest = measured;
  }
  if (nearest == kNone || ratio_of(nearest, batch) >= batch_ratio_limit()) return std::nullopt;
  return nearest;
}

void add_app(TableBuilder& builder, const std::string& app, const RatesByTier& by_tier) {
  std::set<int> batches;
  for (const auto& [tier, rates] : by_tier) {
    for (const auto& [batch, unused] : rates) {
      if (builder.has_tier(tier)) batches.insert(batch);
    }
  }
  for (const int batch : batches) {
    for (const auto& [tier, rates] : by_tier) {
      const auto measured = builder.has_tier(tier) ? nearest_batch(rates, batch) : std::nullopt;
      if (!measured) continue;
      builder.add({.group = app,
                   .workload = batch_name(batch),
                   .batch = batch,
                   .tier = tier,
                   .point = {.batch = *measured, .samples_per_second = rates.at(*measured)}});
    }
  }
}

}  // namespace

Result<TierTable> read_sia(const std::vector<SiaFile>& files, const std::vector<Tier>& tiers) {
  RatesByApp by_app;
  for (const SiaFile& file : files) {
    if (auto collected = collect_sia(file, by_app[file.app][file.tier]); !collected) return pass_on(collected.error());
  }
  TableBuilder builder(TierKind::kJobs, tiers);
  std::int64_t left_out = 0;
  for (const auto& [app, by_tier] : by_app) {
    add_app(builder, app, by_tier);
    for (const auto& [tier, rates] : by_tier) {
      if (!builder.has_tier(tier)) left_out += static_cast<std::int64_t>(rates.size());
    }
  }
  TierTable table = builder.take();
  table.rows_left_out = left_out;
  return table;
}

}  // namespace berth::tier
