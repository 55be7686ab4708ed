#include "domain/lists/job_list.h"

#include <algorithm>

#include "base/core/decimal.h"
#include "domain/lists/detail/job_rows.h"

namespace berth {
namespace {

Result<std::vector<ListedJob>> read_format(std::string_view text, std::string_view file, JobListFormat format) {
  switch (format) {
    case JobListFormat::kOwn:
      return job_list_detail::read_own_jobs(text, file);
    case JobListFormat::kPhilly:
      return job_list_detail::read_philly_jobs(text, file);
    case JobListFormat::kShockwave:
      break;
  }
  return job_list_detail::read_shockwave_jobs(text, file);
}

}  // namespace

Result<std::vector<ListedJob>> read_jobs(std::string_view text, std::string_view file, JobListFormat format) {
  auto jobs = read_format(text, file, format);
  if (!jobs) return jobs;
  const std::int64_t first = std::ranges::min_element(*jobs, {}, &ListedJob::submit_s)->submit_s;
  for (ListedJob& job : *jobs) {
    job.submit_s -= first;
    if (job.deadline_s) *job.deadline_s -= first;
  }
  return jobs;
}

namespace job_list_detail {

std::optional<std::int64_t> rounded_up(std::string_view text, std::int64_t min) {
  const auto value = Decimal::parse(text);
  if (!value || value->sign() < 0 || *value > Decimal(kNumberMax)) return std::nullopt;
  const std::int64_t whole = value->is_integer() ? value->floor() : value->floor() + 1;
  return whole < min ? std::nullopt : std::optional(whole);
}

}  // namespace job_list_detail
}  // namespace berth
