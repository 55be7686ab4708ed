#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "base/core/first_error.h"
#include "base/core/rows.h"
#include "base/core/text.h"
#include "domain/lists/detail/job_rows.h"

namespace berth::job_list_detail {
namespace {

enum Column : std::size_t {
  kJob,
  kSubmit,
  kGpus,
  kDuration,
  kTenant,
  kEstimate,
  kPriority,
  kCheckpoint,
  kPreemptible,
  kDeadline
};

const NamedColumns own_columns = {
    .required = {"job", "submit_s", "gpus", "duration_s"},
    .optional = {"tenant", "estimate_s", "priority", "checkpoint_s", "preemptible", "deadline_s"}};

/// A number of an optional column; nothing where it is empty.
Result<std::optional<std::int64_t>> number_or_none(const Rows& rows, std::size_t column, std::int64_t min) {
  if (rows.field(column).empty()) return std::optional<std::int64_t>();
  const auto number = rows.integer(column, min, kNumberMax);
  if (!number) return pass_on(number.error());
  return std::optional(*number);
}

/// May be negative.
Result<std::int64_t> priority_of(const Rows& rows) {
  std::string_view text = rows.field(kPriority);
  if (text.empty()) return 0;
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const auto number = parse_count(text, kNumberMax);
  if (!number) return rows.refuse(kPriority, fmt::format("a whole number from -{} to {}", kNumberMax, kNumberMax));
  return is_negative ? -*number : *number;
}

Result<bool> is_preemptible(const Rows& rows) {
  const std::string_view text = rows.field(kPreemptible);
  if (text.empty() || text == "true") return true;
  if (text == "false") return false;
  return rows.refuse(kPreemptible, "true or false");
}

Result<ListedJob> own_row(const Rows& rows) {
  FirstError first;
  ListedJob job;
  job.name = first.take(rows.word(kJob));
  job.submit_s = first.take(rows.integer(kSubmit, 0, kNumberMax));
  job.gpus = first.take(rows.integer(kGpus, 1, kNumberMax));
  job.duration_s = first.take(rows.integer(kDuration, 1, kNumberMax));
  if (!rows.field(kTenant).empty()) job.tenant = first.take(rows.word(kTenant));
  job.estimate_s = first.take(number_or_none(rows, kEstimate, 1));
  job.priority = first.take(priority_of(rows));
  job.checkpoint_s = first.take(number_or_none(rows, kCheckpoint, 0)).value_or(0);
  job.is_preemptible = first.take(is_preemptible(rows));
  job.deadline_s = first.take(number_or_none(rows, kDeadline, 0));
  job.line = rows.line_number();
  if (!first.is_clear()) return first.passed_on();
  return job;
}

}  // namespace

Result<std::vector<ListedJob>> read_own_jobs(std::string_view text, std::string_view file) {
  Rows rows(text, file, own_columns);
  if (Result<void> begun = rows.begin(); !begun) return pass_on(begun.error());
  std::vector<ListedJob> jobs;
  std::unordered_set<std::string> names;
  for (Result<bool> more = rows.next();; more = rows.next()) {
    if (!more) return pass_on(more.error());
    if (!*more) break;
    auto job = own_row(rows);
    if (!job) return pass_on(job.error());
    if (!names.insert(job->name).second) return rows.refuse(kJob, "a name that no other job has");
    jobs.push_back(std::move(*job));
  }
  if (jobs.empty()) return rows.fail_file("wanted at least one job, found none");
  return jobs;
}

}  // namespace berth::job_list_detail
