#include <utility>

#include "base/core/date.h"
#include "base/core/first_error.h"
#include "base/core/rows.h"
#include "base/core/text.h"
#include "domain/lists/detail/job_rows.h"

namespace berth::job_list_detail {
namespace {

constexpr std::int64_t kSecondsPerDay = 86'400;

enum PhillyColumn : std::size_t { kTimestamp, kRunTime, kNumGpus, kCluster };

const NamedColumns philly_columns = {.required = {"timestamp", "duration", "num_gpus", "cluster"}, .optional = {}};

/// "HH:MM:SS" in seconds.
std::optional<std::int64_t> second_of_day(std::string_view text) {
  if (text.size() != 8 || text[2] != ':' || text[5] != ':') return std::nullopt;
  const auto hour = parse_count(text.substr(0, 2), 23);
  const auto minute = parse_count(text.substr(3, 2), 59);
  const auto second = parse_count(text.substr(6, 2), 59);
  if (!hour || !minute || !second) return std::nullopt;
  return (*hour * 60 + *minute) * 60 + *second;
}

/// "2017-10-09 07:01:55" in seconds since 1970.
Result<std::int64_t> timestamp_of(const Rows& rows) {
  constexpr std::size_t kDateLength = 10;
  const std::string_view text = rows.field(kTimestamp);
  const auto date = Date::parse(text.substr(0, kDateLength));
  const bool has_time = text.size() > kDateLength && (text[kDateLength] == ' ' || text[kDateLength] == 'T');
  const auto second = has_time ? second_of_day(text.substr(kDateLength + 1)) : std::nullopt;
  if (!date || !second) return rows.refuse(kTimestamp, "a time such as 2017-10-09 07:01:55");
  return date->days() * kSecondsPerDay + *second;
}

Result<std::int64_t> seconds_of(const Rows& rows, std::size_t column) {
  const auto seconds = rounded_up(rows.field(column), 1);
  if (!seconds) return rows.refuse(column, "a number above 0, at most 1000000000");
  return *seconds;
}

Result<ListedJob> philly_row(const Rows& rows, std::size_t row) {
  FirstError first;
  ListedJob job;
  job.name = std::to_string(row);
  job.submit_s = first.take(timestamp_of(rows));
  job.duration_s = first.take(seconds_of(rows, kRunTime));
  job.gpus = first.take(rows.integer(kNumGpus, 1, kNumberMax));
  job.tenant = first.take(rows.word(kCluster));
  job.line = rows.line_number();
  if (!first.is_clear()) return first.passed_on();
  return job;
}

}  // namespace

Result<std::vector<ListedJob>> read_philly_jobs(std::string_view text, std::string_view file) {
  Rows rows(text, file, philly_columns);
  if (Result<void> begun = rows.begin(); !begun) return pass_on(begun.error());
  std::vector<ListedJob> jobs;
  for (Result<bool> more = rows.next();; more = rows.next()) {
    if (!more) return pass_on(more.error());
    if (!*more) break;
    auto job = philly_row(rows, jobs.size());
    if (!job) return pass_on(job.error());
    jobs.push_back(std::move(*job));
  }
  if (jobs.empty()) return rows.fail_file("wanted at least one job, found none");
  return jobs;
}

}  // namespace berth::job_list_detail
