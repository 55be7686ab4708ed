#include "tier/readers/read_parvagpu.h"

#include <fmt/format.h>

#include <utility>

#include "base/core/first_error.h"
#include "base/core/rows.h"
#include "tier/readers/limits.h"
#include "tier/readers/table_builder.h"

namespace berth::tier {
namespace {

enum ParvagpuColumn : std::size_t { kInstance, kSliceBatch, kWorkloadNumber, kThroughput, kLatencySeconds };

constexpr int kUsedProcessesMax = 3;
constexpr int kInstanceMax = 7;

Result<TierRow> row_of_parvagpu(const Rows& rows, const std::string& model) {
  FirstError first;
  const int instance = first.take(rows.count(kInstance, kInstanceMax));
  TierPoint point{.batch = first.take(rows.count(kSliceBatch, kBatchMax)),
                  .processes = first.take(rows.count(kWorkloadNumber, kProcessesMax)),
                  .samples_per_second = first.take(rows.number(kThroughput, kRateMax)),
                  .latency_ms = first.take(rows.number(kLatencySeconds, kLatencyMsMax / 1000))};
  if (!first.is_clear()) return first.passed_on();
  if (point.samples_per_second.sign() != point.latency_ms.sign()) {
    return rows.refuse(point.samples_per_second.sign() == 0 ? kThroughput : kLatencySeconds,
                       "a number above 0 (both are 0 where nothing was measured)");
  }
  point.samples_per_second = point.samples_per_second * Decimal(point.processes);
  point.latency_ms = point.latency_ms * Decimal(1000);
  return TierRow{.group = model, .workload = model, .tier = fmt::format("{}g", instance), .point = std::move(point)};
}

Result<void> add_model(TableBuilder& builder, const ParvagpuFile& file) {
  Rows rows(file.text, file.file,
            NamedColumns{.required = {"Mig instance", "Batch size", "Workload Number", "Throughput", "Latency"}});
  if (auto begun = rows.begin(); !begun) return pass_on(begun.error());
  while (true) {
    const auto has_row = rows.next();
    if (!has_row) return pass_on(has_row.error());
    if (!*has_row) return {};
    const auto row = row_of_parvagpu(rows, file.model);
    if (!row) return pass_on(row.error());
    if (row->point.processes > kUsedProcessesMax) continue;
    if (builder.add(*row) == RowFate::kRepeated) {
      return rows.fail_row(
          fmt::format("wanted one row per slice, batch and processes, found a second one of {}, batch "
                      "{}, processes {}",
                      row->tier, row->point.batch, row->point.processes));
    }
  }
}

}  // namespace

Result<TierTable> read_parvagpu(const std::vector<ParvagpuFile>& files, const std::vector<Tier>& tiers) {
  TableBuilder builder(TierKind::kServices, tiers);
  for (const ParvagpuFile& file : files) {
    if (auto added = add_model(builder, file); !added) return pass_on(added.error());
  }
  return builder.take();
}

}  // namespace berth::tier
