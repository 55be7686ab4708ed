#include "domain/profile/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>

#include "base/core/rows.h"

namespace berth::profile {
namespace {

/// Slices in these measurements, by their compute slices; the names are the A100-80GB's.
constexpr std::array<std::pair<int, const char*>, 5> kParvaProfiles = {
    {{1, "1g.10gb"}, {2, "2g.20gb"}, {3, "3g.40gb"}, {4, "4g.40gb"}, {7, "7g.80gb"}}};

auto key_of(const PerformancePoint& point) { return std::tie(point.gpu, point.profile, point.processes, point.batch); }

Result<std::string> parva_profile(const Rows& rows) {
  const auto size = rows.count(0, 7);
  if (size) {
    for (const auto& [slices, name] : kParvaProfiles) {
      if (slices == *size) return name;
    }
  }
  return rows.refuse(0, "1, 2, 3, 4 or 7");
}

/// The point of a ParvaGPU row; without throughput if it is not a measurement.
Result<PerformancePoint> parva_point(const Rows& rows) {
  const auto profile = parva_profile(rows);
  if (!profile) return pass_on(profile.error());
  const auto batch = rows.count(1, kBatchMax);
  if (!batch) return pass_on(batch.error());
  const auto processes = rows.count(2, kProcessesMax);
  if (!processes) return pass_on(processes.error());
  const auto throughput = rows.number(3, kThroughputMax);
  if (!throughput) return pass_on(throughput.error());
  const auto latency_seconds = rows.number(4, kLatencyMsMax / 1000);
  if (!latency_seconds) return pass_on(latency_seconds.error());
  if (throughput->sign() != latency_seconds->sign()) {
    return rows.refuse(throughput->sign() == 0 ? 3 : 4, "a number above 0 (both are 0 where nothing was measured)");
  }
  return PerformancePoint{
      "A100-80GB", *profile, *batch, *processes, *throughput * Decimal(*processes), *latency_seconds * Decimal(1000)};
}

/// A row of Berth's own format: model, GPU, profile, and the point.
struct CsvRow {
  std::string model;
  PerformancePoint point;
};

Result<CsvRow> csv_row(const Rows& rows, const ProfileResolver& resolve) {
  const auto model = rows.word(0);
  if (!model) return pass_on(model.error());
  const auto names = resolve(rows.field(1), rows.field(2));
  if (!names && names.error().is_gpu_unknown) return rows.fail_at(1, "gpu: " + names.error().message);
  if (!names) return rows.fail_at(2, "profile: " + names.error().message);
  const auto batch = rows.count(3, kBatchMax);
  if (!batch) return pass_on(batch.error());
  const auto processes = rows.count(4, kProcessesMax);
  if (!processes) return pass_on(processes.error());
  const auto throughput = rows.number_above_zero(5, kThroughputMax);
  if (!throughput) return pass_on(throughput.error());
  const auto latency_ms = rows.number_above_zero(6, kLatencyMsMax);
  if (!latency_ms) return pass_on(latency_ms.error());
  return CsvRow{*model, {names->gpu, names->profile, *batch, *processes, *throughput, *latency_ms}};
}

/// Passes a measurement of ParvaGPU's on: its rate is written for each process and its latency in seconds.
void observe_parva(const Rows& rows, const PerformancePoint& point, const RowObserver& observe) {
  constexpr int kSecondsInMs = 3;  // as a power of ten
  if (!observe) return;
  observe({.model = "",
           .point = point,
           .rate_digit = last_digit(rows.field(3)),
           .is_rate_per_process = true,
           .latency_digit = last_digit(rows.field(4)) + kSecondsInMs,
           .number = rows.line_number(),
           .rate_place = rows.place_of(3),
           .rate_text = rows.field(3),
           .latency_text = rows.field(4)});
}

void observe_csv(const Rows& rows, const CsvRow& row, const RowObserver& observe) {
  if (!observe) return;
  observe({.model = row.model,
           .point = row.point,
           .rate_digit = last_digit(rows.field(5)),
           .latency_digit = last_digit(rows.field(6)),
           .number = rows.line_number(),
           .rate_place = rows.place_of(5),
           .rate_text = rows.field(5),
           .latency_text = rows.field(6)});
}

/// Checks every row of a file and passes it on, in the file's order.
Result<void> walk_profile_csv(std::string_view text, std::string_view file, const ProfileResolver& resolve,
                              const RowObserver& observe, const std::function<void(const CsvRow&)>& take) {
  Rows rows(text, file, {"model", "gpu", "profile", "batch", "processes", "requests_per_second", "latency_ms"});
  if (const auto begun = rows.begin(); !begun) return pass_on(begun.error());
  std::set<std::tuple<std::string, std::string, std::string, int, int>> seen;
  while (true) {
    const auto has_row = rows.next();
    if (!has_row) return pass_on(has_row.error());
    if (!*has_row) return {};
    const auto row = csv_row(rows, resolve);
    if (!row) return pass_on(row.error());
    const PerformancePoint& point = row->point;
    const bool is_new = seen.emplace(row->model, point.gpu, point.profile, point.batch, point.processes).second;
    if (!is_new) {
      return rows.fail_row(fmt::format("a second row of model {}, {}, {}, batch {}, processes {}",
                                       in_quotes(row->model), point.gpu, point.profile, point.batch, point.processes));
    }
    observe_csv(rows, *row, observe);
    take(*row);
  }
}

struct MisoRow {
  std::string model;
  int batch = 1;
  int slices = 1;
  Decimal mean_seconds;
};

/// "3g.20gb" -> 3. Nothing if it is not the name of a plain profile.
std::optional<int> compute_slices(std::string_view name) {
  if (name.size() < 6 || name.substr(1, 2) != "g." || name.substr(name.size() - 2) != "gb") return std::nullopt;
  if (!parse_count(name.substr(3, name.size() - 5), 10'000)) return std::nullopt;
  const int slices = name[0] - '0';
  for (const auto& [known, unused] : kParvaProfiles) {
    if (known == slices) return slices;
  }
  return std::nullopt;
}

Result<MisoRow> miso_row(const Rows& rows) {
  constexpr int kIterationsMax = 2'000'000'000;
  const auto model = rows.word(0);
  if (!model) return pass_on(model.error());
  const auto batch = rows.count(1, kBatchMax);
  if (!batch) return pass_on(batch.error());
  const auto slices = compute_slices(rows.field(2));
  if (!slices) return rows.refuse(2, "a slice such as 3g.20gb");
  const auto median = rows.number_above_zero(3, kLatencyMsMax / 1000);
  if (!median) return pass_on(median.error());
  const auto mean = rows.number_above_zero(4, kLatencyMsMax / 1000);
  if (!mean) return pass_on(mean.error());
  const auto iterations = rows.count(5, kIterationsMax);
  if (!iterations) return pass_on(iterations.error());
  return MisoRow{*model, *batch, *slices, *mean};
}

}  // namespace

void sort_points(PerformanceTable& table) {
  std::sort(table.points.begin(), table.points.end(),
            [](const PerformancePoint& a, const PerformancePoint& b) { return key_of(a) < key_of(b); });
}

Result<PerformanceTable> read_parvagpu(std::string_view text, std::string_view file, const RowObserver& observe) {
  Rows rows(text, file, {"Mig instance", "Batch size", "Workload Number", "Throughput", "Latency"});
  if (const auto begun = rows.begin(); !begun) return pass_on(begun.error());
  PerformanceTable table;
  std::set<std::tuple<std::string, int, int>> seen;
  while (true) {
    const auto has_row = rows.next();
    if (!has_row) return pass_on(has_row.error());
    if (!*has_row) break;
    const auto point = parva_point(rows);
    if (!point) return pass_on(point.error());
    if (!seen.emplace(point->profile, point->batch, point->processes).second) {
      return rows.fail_row("a second row of the same instance, batch size and number of workloads");
    }
    if (point->requests_per_second.sign() == 0) continue;
    observe_parva(rows, *point, observe);
    table.points.push_back(*point);
  }
  if (table.points.empty()) return rows.fail_file("wanted at least one measurement, found none");
  sort_points(table);
  return table;
}

Result<PerformanceTable> read_profile_csv(std::string_view text, std::string_view file, std::string_view model,
                                          const ProfileResolver& resolve, const RowObserver& observe) {
  PerformanceTable table{std::string(model), {}};
  const auto walked = walk_profile_csv(text, file, resolve, observe, [&](const CsvRow& row) {
    if (row.model == model) table.points.push_back(row.point);
  });
  if (!walked) return pass_on(walked.error());
  if (table.points.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: wanted rows of the model {}, found none", file, in_quotes(model)));
  }
  sort_points(table);
  return table;
}

Result<std::vector<PerformanceTable>> read_profile_csv_models(std::string_view text, std::string_view file,
                                                              const ProfileResolver& resolve,
                                                              const RowObserver& observe) {
  std::map<std::string, PerformanceTable> by_model;
  const auto walked = walk_profile_csv(text, file, resolve, observe,
                                       [&](const CsvRow& row) { by_model[row.model].points.push_back(row.point); });
  if (!walked) return pass_on(walked.error());
  std::vector<PerformanceTable> tables;
  tables.reserve(by_model.size());
  for (auto& [model, table] : by_model) {
    table.model = model;
    sort_points(table);
    tables.push_back(std::move(table));
  }
  return tables;
}

Result<std::map<int, Decimal>> read_miso(std::string_view text, std::string_view file, const MisoJob& job) {
  Rows rows(text, file, {"model", "batch", "mig_slice", "median_s_per_iter", "mean_s_per_iter", "n_iters"});
  if (const auto begun = rows.begin(); !begun) return pass_on(begun.error());
  std::map<int, Decimal> mean_seconds;
  std::set<std::tuple<std::string, int, int>> seen;
  while (true) {
    const auto has_row = rows.next();
    if (!has_row) return pass_on(has_row.error());
    if (!*has_row) break;
    const auto row = miso_row(rows);
    if (!row) return pass_on(row.error());
    if (!seen.emplace(row->model, row->batch, row->slices).second) {
      return rows.fail_row(fmt::format("a second row of model {}, batch {}, {} compute slices", in_quotes(row->model),
                                       row->batch, row->slices));
    }
    if (row->model == job.model && row->batch == job.batch) mean_seconds.emplace(row->slices, row->mean_seconds);
  }
  if (mean_seconds.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("{}: wanted rows of the model {} at batch {}, found none", file,
                                                  in_quotes(job.model), job.batch));
  }
  return mean_seconds;
}

}  // namespace berth::profile
