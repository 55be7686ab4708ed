#include "domain/scenario/detail/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "domain/profile/contradiction.h"
#include "domain/profile/readers.h"
#include "domain/scenario/catalogue_resolver.h"
#include "domain/scenario/detail/rules.h"
#include "domain/scenario/service_keys.h"

namespace berth::scenario::detail {
namespace {

/// The names of `seconds_on` and the compute slices that they mean.
constexpr std::array<std::pair<std::string_view, int>, 6> kSizes = {
    {{"1g", 1}, {"2g", 2}, {"3g", 3}, {"4g", 4}, {"7g", 7}, {"full", 0}}};

constexpr std::string_view kWantedRows = "a list of at least one row";

Result<PerformanceTable> parse_profile(const yaml::Value& value, const SourceFile& file, bool is_csv,
                                       const std::string& model) {
  profile::Contradictions contradictions;
  const auto observe = [&](const profile::WrittenRow& row) { contradictions.add(row); };
  CatalogueResolver resolve;
  auto table = is_csv ? profile::read_profile_csv(*file.text, file.path, model, std::ref(resolve), observe)
                      : profile::read_parvagpu(*file.text, file.path, observe);
  if (!contradictions.empty()) value.warn(fmt::format("{}: {}", file.path, contradictions.text("line ")));
  for (const std::string& remark : resolve.remarks()) value.warn(fmt::format("{}: {}", file.path, remark));
  return table;
}

/// A model that is not in the file is an error of the scenario; other errors name their row.
void keep_failure(const yaml::Value& value, const Error& error) {
  if (error.code == ErrorCode::kNotFound) return value.at("model").fail_with(error);
  value.pass_on(error);
}

std::map<int, Micros> plain_seconds_on(const yaml::Value& value) {
  value.check_keys(key_names("retraining.seconds_on"));
  std::map<int, Micros> time_on;
  for (const auto& [name, slices] : kSizes) {
    if (value.at(name).is_written()) time_on.emplace(slices, duration_above_zero(value.at(name)));
  }
  return time_on;
}

std::map<int, Micros> miso_seconds_on(const yaml::Value& value, Sources& sources) {
  value.check_keys({"format", "path", "model", "batch", "seconds_7g"});
  (void)value.at("format").choice({"miso"});
  const profile::MisoJob job = {value.at("model").name(),
                                static_cast<int>(value.at("batch").whole({1, profile::kBatchMax}))};
  const Decimal seconds_7g = value.at("seconds_7g").number(yaml::number_above_zero(Decimal(kDurationSecondsMax)));
  const auto file = sources.read(value.at("path"));
  if (!file || value.has_failed()) return {};
  const auto means = profile::read_miso(*file->text, file->path, job);
  if (!means) {
    keep_failure(value, means.error());
    return {};
  }
  const auto whole = means->find(7);
  if (whole == means->end()) {
    value.fail(fmt::format("wanted a row of the model {} at batch {} on a 7g slice in {}, found none",
                           in_quotes(job.model), job.batch, file->path));
    return {};
  }
  std::map<int, Micros> time_on;
  for (const auto& [slices, mean] : *means) {
    time_on.emplace(slices, checked_duration(value, seconds_7g * mean / whole->second));
  }
  return time_on;
}

/// A row of `rows`: a model and its point.
struct ModelPoint {
  std::string model;
  PerformancePoint point;
};

profile::WrittenRow written_row(const yaml::Value& row, std::size_t number, const ModelPoint& read) {
  return {.model = read.model,
          .point = read.point,
          .rate_digit = profile::last_digit(row.at("requests_per_second").written()),
          .latency_digit = profile::last_digit(row.at("latency_ms").written()),
          .number = number};
}

ModelPoint read_row(const yaml::Value& row, CatalogueResolver& resolve) {
  static const std::vector<std::string_view> kKeys = key_names("profile.rows");  // there may be many rows
  row.check_keys(kKeys);
  ModelPoint read;
  read.model = row.at("model").name();
  const std::string gpu = row.at("gpu").name();
  const std::string profile = row.at("profile").name();
  PerformancePoint& point = read.point;
  point.batch = static_cast<int>(row.at("batch").whole({1, profile::kBatchMax}));
  point.processes = static_cast<int>(row.at("processes").whole({1, profile::kProcessesMax}));
  point.requests_per_second =
      row.at("requests_per_second").number(yaml::number_above_zero(Decimal(profile::kThroughputMax)));
  point.latency_ms = row.at("latency_ms").number(yaml::number_above_zero(Decimal(profile::kLatencyMsMax)));
  if (row.has_failed()) return read;
  const auto names = resolve(gpu, profile);
  if (!names) {
    row.at(names.error().is_gpu_unknown ? "gpu" : "profile").fail(names.error().message);
    return read;
  }
  point.gpu = names->gpu;
  point.profile = names->profile;
  return read;
}

/// Adds the rows of a model, with the checks of a file's rows.
void add_rows(const yaml::Value& rows, PerformanceTable& table, profile::Contradictions& contradictions) {
  CatalogueResolver resolve;
  std::set<std::tuple<std::string, std::string, std::string, int, int>> seen;
  std::size_t number = 0;
  for (const yaml::Value& row : rows.items(kWantedRows, false)) {
    ModelPoint read = read_row(row, resolve);
    if (row.has_failed()) return;
    contradictions.add(written_row(row, ++number, read));
    auto& [model, point] = read;
    if (!seen.emplace(model, point.gpu, point.profile, point.batch, point.processes).second) {
      row.refuse("each point once",
                 fmt::format("a second row of model {}, {}, {}, batch {}, processes {}", in_quotes(model), point.gpu,
                             point.profile, point.batch, point.processes));
      return;
    }
    if (model == table.model) table.points.push_back(std::move(point));
  }
  for (const std::string& remark : resolve.remarks()) rows.warn(fmt::format("{}: {}", rows.path(), remark));
}

/// The rows of a list, or the lines of a CSV without its header.
std::int64_t count_rows(const BlobRows& rows) {
  if (rows.list) {
    const auto* list = std::get_if<yaml::List>(&rows.list->value);
    return list == nullptr ? 0 : std::ssize(*list);
  }
  const std::int64_t line_count = std::ranges::count(rows.csv, '\n') + (rows.csv.ends_with('\n') ? 0 : 1);
  return line_count - 1;
}

/// Checked before the rows are read, which takes long.
void check_row_count(const yaml::Value& rows, std::int64_t count, Sources& sources) {
  sources.table_rows += count;
  if (sources.table_rows <= sources.table_rows_max) return;
  rows.refuse(
      fmt::format("at most {} rows in the profile and the variants of a service together", sources.table_rows_max),
      fmt::format("{}", sources.table_rows));
}

/// The table of a blob.
PerformanceTable table_of_blob(const yaml::Value& value, const BlobRows& rows, const std::string& model,
                               profile::Contradictions& contradictions) {
  PerformanceTable table{model, {}};
  if (rows.list) {
    yaml::Report report("blob");
    add_rows(yaml::Value(*rows.list, report), table, contradictions);
    if (report.has_failed()) Sources::keep_failure(value, report.parts());
    return table;
  }
  auto read = profile::read_profile_csv(rows.csv, "blob", model, CatalogueResolver(),
                                        [&](const profile::WrittenRow& row) { contradictions.add(row); });
  if (read) return std::move(*read);
  if (read.error().code != ErrorCode::kNotFound) value.at("rows").at("blob").fail_with(read.error());
  return table;
}

/// The failure at the worst row above 1.05.
yaml::Failure failure_at(const yaml::Value& value, const std::optional<BlobRows>& rows,
                         const profile::ExcessiveRow& row) {
  const yaml::Value list = value.at("rows");
  if (!rows) return list.items(kWantedRows)[row.number - 1].at("requests_per_second").refusal(row.wanted, row.found);
  const std::string place = rows->list ? fmt::format("rows[{}]", row.number - 1) : fmt::format("line {}", row.number);
  return list.at("blob").refusal(row.wanted, fmt::format("{} in {}", row.found, place));
}

/// Warns of contradicting columns, and keeps what is to be refused in a new service.
void note_contradictions(const yaml::Value& value, const std::optional<BlobRows>& rows,
                         const profile::Contradictions& contradictions, Sources& sources) {
  const std::size_t number = sources.table_count++;
  if (contradictions.empty()) return;
  const bool has_lines = rows && !rows->list;
  value.at("rows").warn(
      fmt::format("{}: {}", value.at("rows").path(), contradictions.text(has_lines ? "line " : "row ")));
  if (const auto& row = contradictions.excessive()) {
    sources.excessive.push_back({.number = number, .failure = failure_at(value, rows, *row)});
  }
}

/// The table of `{format: csv, model, rows}`.
PerformanceTable table_of_rows(const yaml::Value& value, Sources& sources) {
  Sources::refuse_path(value);
  (void)value.at("format").choice({"csv"});
  value.check_keys(key_names("profile"));
  PerformanceTable table{value.at("model").name(), {}};
  const auto rows = value.has_failed() ? std::nullopt : sources.find_rows(value);
  if (value.has_failed()) return table;
  profile::Contradictions contradictions;
  check_row_count(value.at("rows"), rows ? count_rows(*rows) : std::ssize(value.at("rows").items(kWantedRows, false)),
                  sources);
  if (value.has_failed()) return table;
  if (rows) {
    table = table_of_blob(value, *rows, table.model, contradictions);
  } else {
    add_rows(value.at("rows"), table, contradictions);
  }
  if (value.has_failed()) return table;
  if (table.points.empty()) value.at("model").refuse("the model of at least one row");
  if (!value.has_failed()) note_contradictions(value, rows, contradictions, sources);
  profile::sort_points(table);
  return table;
}

}  // namespace

PerformanceTable read_profile(const yaml::Value& value, Sources& sources) {
  if (!sources.has_files()) return table_of_rows(value, sources);
  value.check_keys({"format", "path", "model"});
  const bool is_csv = value.at("format").choice({"parvagpu", "csv"}) == 1;
  // A file of ParvaGPU's has one model, for any name in the scenario.
  const std::string model = is_csv ? value.at("model").name() : "";
  const std::string path = sources.resolve(value.at("path"));
  if (value.has_failed()) return {};
  const std::string key = fmt::format("{}\n{}\n{}", is_csv, model, path);
  if (const PerformanceTable* known = sources.tables.find(key)) return *known;
  const auto file = sources.read(value.at("path"));
  if (!file) return {};
  auto table = parse_profile(value, *file, is_csv, model);
  if (!table) {
    keep_failure(value, table.error());
    return {};
  }
  constexpr std::size_t kPointBytes = 256;  // approximately, with its names and numbers
  sources.tables.keep(key, *table, table->points.size() * kPointBytes);
  return std::move(*table);
}

std::map<int, Micros> read_seconds_on(const yaml::Value& value, Sources& sources) {
  if (!value.is_map()) {
    value.refuse("a map of seconds by slice size, or the format miso");
    return {};
  }
  if (!sources.has_files()) {
    Sources::refuse_path(value);
    return plain_seconds_on(value);
  }
  return value.at("format").is_written() ? miso_seconds_on(value, sources) : plain_seconds_on(value);
}

}  // namespace berth::scenario::detail
