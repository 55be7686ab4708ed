#include "domain/profile_book/imported.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "domain/profile_book/point_text.h"

namespace berth::profile_book {
namespace {

constexpr std::string_view kParvaHeader = "Mig instance,";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kCsvSuffix = ".csv";
constexpr std::string_view kCpuSuffix = ".cpu.csv";

/// Runs by model, GPU and profile.
using RunsByPlace = std::map<std::tuple<std::string, std::string, std::string>, ProfileRun>;

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Its name without the suffix.
std::string model_of_file(std::string_view path) {
  std::string_view name = file_name(path);
  if (name.ends_with(kCsvSuffix)) name.remove_suffix(kCsvSuffix.size());
  return std::string(name);
}

ProfilePoint imported_point(const PerformancePoint& point, std::string rate_text, std::string latency_text) {
  constexpr double kMicrosPerMs = 1000;
  const double mean_us = point.latency_ms.to_double() * kMicrosPerMs;
  return {.batch = point.batch,
          .processes = point.processes,
          .rows_per_second = point.requests_per_second.to_double(),
          .mean_us = mean_us,
          .mean_us_low = mean_us,
          .mean_us_high = mean_us,
          .rate_text = std::move(rate_text),
          .latency_text = std::move(latency_text)};
}

ProfileRun& run_for(RunsByPlace& runs, const ImportTerms& terms, const std::string& model,
                    const PerformancePoint& point) {
  ProfileRun& run = runs[{model, point.gpu, point.profile}];
  if (run.label.empty()) {
    run.started_us = terms.started_us;
    run.berth_version = terms.berth_version;
    run.label = fmt::format("{}:{}", point.gpu, point.profile);
    run.model.name = model;
    run.machine.device = std::string_view(terms.file).ends_with(kCpuSuffix) ? "cpu" : run.label;
    run.machine.engine = fmt::format("imported from {}", file_name(terms.file));
  }
  return run;
}

/// Adds one row of a file.
void take_row(RunsByPlace& runs, const ImportTerms& terms, const std::string& model, const profile::WrittenRow& row) {
  const PerformancePoint& point = row.point;
  std::string rate(row.rate_text);
  std::string latency(row.latency_text);
  if (row.is_rate_per_process) {  // ParvaGPU's: also seconds
    if (point.processes > 1) rate = decimal_text(point.requests_per_second, row.rate_digit);
    latency = decimal_text(point.latency_ms, row.latency_digit);
  }
  run_for(runs, terms, model, point).points.push_back(imported_point(point, std::move(rate), std::move(latency)));
}

bool is_parvagpu(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text.starts_with(kParvaHeader);
}

}  // namespace

Result<ImportedFile> import_profiles(std::string_view text, const ImportTerms& terms,
                                     const profile::ProfileResolver& resolve) {
  const bool is_parva = is_parvagpu(text);
  ImportedFile imported;
  RunsByPlace runs;
  const auto observe = [&](const profile::WrittenRow& row) {
    imported.contradictions.add(row);
    take_row(runs, terms, is_parva ? model_of_file(terms.file) : std::string(row.model), row);
  };
  Result<void> read;
  if (is_parva) {
    if (auto table = profile::read_parvagpu(text, terms.file, observe); !table) read = pass_on(table.error());
  } else {
    auto tables = profile::read_profile_csv_models(text, terms.file, resolve, observe);
    if (!tables) read = pass_on(tables.error());
  }
  if (!read) return pass_on(read.error());
  if (runs.empty()) return invalid(fmt::format("{}: wanted at least one row, found none", terms.file));
  for (auto& [place, run] : runs) {
    std::ranges::sort(run.points, {},
                      [](const ProfilePoint& point) { return std::pair(point.processes, point.batch); });
    imported.runs.push_back(std::move(run));
  }
  return imported;
}

}  // namespace berth::profile_book
