#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/core/rows.h"
#include "base/core/text.h"
#include "domain/lists/detail/job_rows.h"

namespace berth::job_list_detail {
namespace {

constexpr std::size_t kFieldCount = 12;
constexpr std::size_t kGpusField = 6;
constexpr std::size_t kDurationField = 10;
constexpr std::size_t kSubmitField = 11;

std::vector<Field> split_at_tabs(std::string_view line) {
  std::vector<Field> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    fields.push_back({.text = line.substr(begin, end - begin), .column = begin + 1});
    begin = end + 1;
  }
  return fields;
}

/// A line and its position.
struct ShockwaveLine {
  std::string_view file;
  std::size_t number = 0;
  std::vector<Field> fields;

  [[nodiscard]] Result<std::int64_t> number_at(std::size_t field, std::string_view name, std::int64_t min) const {
    const auto value = rounded_up(fields[field].text, min);
    if (value) return *value;
    return tl::unexpected(error_at(file, {.line = number, .column = fields[field].column},
                                   fmt::format("{}: wanted a number from {} to {}, found {}", name, min, kNumberMax,
                                               in_quotes(fields[field].text))));
  }
};

Result<ListedJob> shockwave_job(const ShockwaveLine& line, std::size_t row) {
  if (line.fields.size() != kFieldCount) {
    return tl::unexpected(
        error_at(line.file, {.line = line.number, .column = 1},
                 fmt::format("wanted {} fields, separated by tabs, found {}", kFieldCount, line.fields.size())));
  }
  const auto gpus = line.number_at(kGpusField, "field 7 (GPUs)", 1);
  if (!gpus) return pass_on(gpus.error());
  const auto duration = line.number_at(kDurationField, "field 11 (duration)", 1);
  if (!duration) return pass_on(duration.error());
  const auto submit = line.number_at(kSubmitField, "field 12 (submit)", 0);
  if (!submit) return pass_on(submit.error());
  return ListedJob{.name = std::to_string(row),
                   .submit_s = *submit,
                   .gpus = *gpus,
                   .duration_s = *duration,
                   .estimate_s = *duration,
                   .line = line.number};
}

}  // namespace

Result<std::vector<ListedJob>> read_shockwave_jobs(std::string_view text, std::string_view file) {
  const std::size_t bad = find_bad_utf8(text);
  std::vector<ListedJob> jobs;
  LineReader lines(text);
  while (lines.next()) {
    const auto end = static_cast<std::size_t>(lines.line().data() + lines.line().size() - text.data());
    if (bad < end || (is_blank(lines.line()) && !lines.is_rest_blank())) {
      return tl::unexpected(
          error_at(file, {.line = lines.number(), .column = 1},
                   bad < end ? "wanted text in UTF-8, found other bytes" : "wanted a job, found a blank line"));
    }
    if (is_blank(lines.line())) break;
    if (jobs.size() >= kRowCountMax) {
      return tl::unexpected(error_at(file, {.line = lines.number(), .column = 1},
                                     fmt::format("wanted at most {} jobs, found more", kRowCountMax)));
    }
    auto job =
        shockwave_job({.file = file, .number = lines.number(), .fields = split_at_tabs(lines.line())}, jobs.size());
    if (!job) return pass_on(job.error());
    jobs.push_back(std::move(*job));
  }
  if (jobs.empty())
    return tl::unexpected(error_at(file, {.line = 1, .column = 1}, "wanted at least one job, found none"));
  return jobs;
}

}  // namespace berth::job_list_detail
