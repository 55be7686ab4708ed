#include "tier/readers/read_csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/core/first_error.h"
#include "base/core/rows.h"
#include "tier/readers/limits.h"
#include "tier/readers/table_builder.h"

namespace berth::tier {
namespace {

enum CsvColumn : std::size_t {
  kCsvGroup,
  kCsvWorkload,
  kCsvTier,
  kCsvBatch,
  kCsvProcesses,
  kCsvRate,
  kCsvLatency,
  kCsvFlops,
  kCsvActivations,
  kCsvParameters,
  kCsvWeights,
};

NamedColumns csv_columns() {
  return {.required = {"group", "workload", "tier", "batch", "processes", "samples_per_second"},
          .optional = {"latency_ms", "flops", "activation_bytes", "parameters", "weight_bytes"}};
}

/// Absent where the field is empty: not known.
Result<std::optional<Decimal>> graph_figure(const Rows& rows, std::size_t column) {
  if (rows.field(column).empty()) return std::optional<Decimal>();
  const auto number = rows.number(column, kGraphFigureMax);
  if (!number) return pass_on(number.error());
  return std::optional(*number);
}

Result<TierRow> row_of_csv(const Rows& rows) {
  FirstError first;
  TierRow row{.group = first.take(rows.word(kCsvGroup)),
              .workload = first.take(rows.word(kCsvWorkload)),
              .batch = first.take(rows.count(kCsvBatch, kBatchMax)),
              .tier = first.take(rows.word(kCsvTier)),
              .point = {.processes = first.take(rows.count(kCsvProcesses, kProcessesMax)),
                        .samples_per_second = first.take(rows.number(kCsvRate, kRateMax))},
              .graph = {.flops = first.take(graph_figure(rows, kCsvFlops)),
                        .activation_bytes = first.take(graph_figure(rows, kCsvActivations)),
                        .parameters = first.take(graph_figure(rows, kCsvParameters)),
                        .weight_bytes = first.take(graph_figure(rows, kCsvWeights))}};
  row.point.batch = row.batch;
  const bool has_latency = !rows.field(kCsvLatency).empty();
  const bool is_row = row.point.samples_per_second.sign() > 0;
  if (has_latency) {
    row.point.latency_ms = first.take(is_row ? rows.number_above_zero(kCsvLatency, kLatencyMsMax)
                                             : rows.number(kCsvLatency, kLatencyMsMax));
  }
  if (!first.is_clear()) return first.passed_on();
  return row;
}

/// Rows of jobs and of services cannot be told apart before all of a file is read: they are kept until then.
struct PlacedRow {
  TierRow row;
  std::size_t line = 1;
};

class CsvReading {
 public:
  CsvReading(std::string_view text, std::string_view file, const std::vector<Tier>& tiers, OtherTiers others)
      : rows_(text, file, csv_columns()), file_(file), tiers_(tiers), others_(others) {}

  Result<TierTable> read();

 private:
  Result<void> collect();
  Result<void> check_row(const TierRow& row);
  Result<void> check_latency(const TierRow& row);
  Result<TierTable> build();
  [[nodiscard]] std::optional<std::string> fault_of(RowFate fate, const TierRow& row) const;
  Result<void> check_workloads(const TierTable& table) const;
  [[nodiscard]] TierKind kind() const { return has_latency_.value_or(false) ? TierKind::kServices : TierKind::kJobs; }

  Rows rows_;
  std::string_view file_;
  const std::vector<Tier>& tiers_;
  OtherTiers others_;
  std::vector<PlacedRow> placed_;
  std::optional<bool> has_latency_;  ///< of the first row above 0
  std::size_t deciding_line_ = 1;
};

Result<TierTable> CsvReading::read() {
  if (auto begun = rows_.begin(); !begun) return pass_on(begun.error());
  if (auto collected = collect(); !collected) return pass_on(collected.error());
  return build();
}

Result<void> CsvReading::collect() {
  while (true) {
    const auto has_row = rows_.next();
    if (!has_row) return pass_on(has_row.error());
    if (!*has_row) return {};
    auto row = row_of_csv(rows_);
    if (!row) return pass_on(row.error());
    if (auto checked = check_row(*row); !checked) return checked;
    placed_.push_back({std::move(*row), rows_.line_number()});
  }
}

Result<void> CsvReading::check_row(const TierRow& row) {
  const bool is_known = std::ranges::find(tiers_, row.tier, &Tier::name) != tiers_.end();
  if (!is_known && others_ == OtherTiers::kRefuse) {
    std::vector<std::string_view> names;
    names.reserve(tiers_.size());
    for (const Tier& tier : tiers_) names.emplace_back(tier.name);
    return rows_.fail_at(kCsvTier, fmt::format("tier: wanted {}, found {}{}", fmt::join(names, ", "),
                                               in_quotes(row.tier), spelling_hint(row.tier, names)));
  }
  return check_latency(row);
}

Result<void> CsvReading::check_latency(const TierRow& row) {
  if (row.point.samples_per_second.sign() == 0) return {};
  const bool has_latency = !rows_.field(kCsvLatency).empty();
  if (!has_latency_) {
    has_latency_ = has_latency;
    deciding_line_ = rows_.line_number();
  }
  if (*has_latency_ == has_latency) return {};
  return rows_.refuse(kCsvLatency, fmt::format("{} latency, as in line {}", has_latency ? "no" : "a", deciding_line_));
}

Result<TierTable> CsvReading::build() {
  TableBuilder builder(kind(), tiers_);
  for (const PlacedRow& placed : placed_) {
    if (const auto fault = fault_of(builder.add(placed.row), placed.row)) {
      return tl::unexpected(error_at(file_, {placed.line, 1}, *fault));
    }
  }
  TierTable table = builder.take();
  if (auto checked = check_workloads(table); !checked) return pass_on(checked.error());
  return table;
}

std::optional<std::string> CsvReading::fault_of(RowFate fate, const TierRow& row) const {
  const std::string workload = fmt::format("workload {} of group {}", in_quotes(row.workload), in_quotes(row.group));
  if (fate == RowFate::kContradicts) {
    return fmt::format(
        "wanted the same flops, activation_bytes, parameters and weight_bytes in each row of {}, found "
        "others than before",
        workload);
  }
  if (fate != RowFate::kRepeated) return std::nullopt;
  if (kind() == TierKind::kJobs) {
    return fmt::format(
        "wanted one row per workload and tier (there is no latency, so these are jobs), found a second "
        "one of {} on {}",
        workload, in_quotes(row.tier));
  }
  return fmt::format(
      "wanted one row per workload, tier, batch and processes, found a second one of {} on {}, batch {}, "
      "processes {}",
      workload, in_quotes(row.tier), row.point.batch, row.point.processes);
}

Result<void> CsvReading::check_workloads(const TierTable& table) const {
  if (others_ == OtherTiers::kLeaveOut) return {};
  std::set<std::pair<std::string, std::string>> with_points;
  for (const TierWorkload& workload : table.workloads) with_points.emplace(workload.group, workload.name);
  for (const PlacedRow& placed : placed_) {
    if (with_points.contains({placed.row.group, placed.row.workload})) continue;
    return tl::unexpected(error_at(file_, {placed.line, 1},
                                   fmt::format("wanted a row with samples_per_second above 0 of workload {} of group "
                                               "{}, found none on any tier",
                                               in_quotes(placed.row.workload), in_quotes(placed.row.group))));
  }
  return {};
}

}  // namespace

Result<TierTable> read_csv(std::string_view text, std::string_view file, const std::vector<Tier>& tiers,
                           OtherTiers others) {
  return CsvReading(text, file, tiers, others).read();
}

}  // namespace berth::tier
