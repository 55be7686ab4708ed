/// The options of `berth schedule`: as typed, and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/lists/job_list.h"
#include "scheduling/jobs/policy_name.h"
#include "scheduling/jobs/slot.h"
#include "scheduling/jobs/workload.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct JobScheduleWords {
  std::string trace;
  std::string trace_format = "own";
  std::string gpus;
  std::optional<std::string> tenants = std::nullopt;
  std::string policies = "all";
  std::string round_seconds = "300";
  std::string restart_seconds = "60";
  std::string min_run_seconds = "0";
  std::string reclaim_seconds = "600";
  std::optional<std::string> format = std::nullopt;
  std::optional<std::string> log = std::nullopt;
  std::optional<std::string> estimates = std::nullopt;
  std::optional<std::string> report = std::nullopt;
  std::optional<std::string> why = std::nullopt;
  std::optional<std::string> slot = std::nullopt;
  std::optional<std::string> at = std::nullopt;
};

[[nodiscard]] OptionTable schedule_option_rows(JobScheduleWords& words);

/// A question about one second.
struct ScheduleQuestion {
  sched::Seconds at = 0;
  std::optional<std::string> why_job = std::nullopt;  ///< absent: the question is about `slot`
  sched::SlotWish slot = {};
};

/// Checked, as far as possible without the files.
struct ScheduleRequest {
  std::string trace_path;
  JobListFormat trace_format = JobListFormat::kOwn;
  sched::GpuCount gpus = 0;
  std::optional<std::string> tenants_path;
  std::vector<sched::Policy> policies;
  sched::Terms terms;
  OutputFormat format = OutputFormat::kTable;
  std::optional<std::string> log_path;
  std::optional<std::string> estimates_path;
  std::optional<std::string> report_dir;
  std::optional<ScheduleQuestion> question;
};

/// Refuses empty paths, unknown words, numbers out of range and malformed questions.
[[nodiscard]] Result<ScheduleRequest> check_schedule_options(const JobScheduleWords& words);

}  // namespace berth::cli
