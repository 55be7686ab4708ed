#include "surface/cli/schedule/schedule_run.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "edges/files/file_sink.h"
#include "job_list/job_list.h"
#include "job_list/tenant_list.h"
#include "sched/comparison.h"
#include "sched/study.h"
#include "surface/cli/schedule/schedule_json.h"
#include "surface/cli/schedule/schedule_question.h"
#include "surface/cli/schedule/schedule_table.h"
#include "surface/cli/shared/interrupt.h"
#include "surface/cli/shared/progress_bar.h"
#include "surface/cli/shared/report_folder.h"
#include "surface/cli/shared/unwritable.h"

namespace berth::cli {
namespace {

using sched::PolicyFigures;
using sched::Workload;

Result<Workload> read_workload(const ScheduleRequest& request, const Files& files) {
  const auto text = files.read(request.trace_path);
  if (!text) return pass_on(text.error());
  const auto jobs = read_jobs(*text, request.trace_path, request.trace_format);
  if (!jobs) return pass_on(jobs.error());
  std::optional<std::vector<ListedTenant>> tenants;
  if (request.tenants_path) {
    const auto tenants_text = files.read(*request.tenants_path);
    if (!tenants_text) return pass_on(tenants_text.error());
    auto listed = read_tenants(*tenants_text, *request.tenants_path, request.gpus);
    if (!listed) return pass_on(listed.error());
    tenants = std::move(*listed);
  }
  return sched::make_workload(*jobs, request.trace_path, tenants, request.gpus);
}

/// The file of --log, which appears when all is written.
class ScheduleLog {
 public:
  Result<void> open(const std::optional<std::string>& path) {
    if (!path) return {};
    auto file = edges::FileSink::open(*path);
    if (!file) return unwritable(file.error());
    file_.emplace(std::move(*file));
    return {};
  }
  [[nodiscard]] bool is_open() const { return file_.has_value(); }
  [[nodiscard]] const Result<void>& written() const { return written_; }
  void add(const Workload& workload, sched::Policy policy, const std::vector<sched::LogEntry>& entries) {
    for (const sched::LogEntry& entry : entries) {
      if (written_) written_ = file_->append(schedule_log_line(workload, policy, entry));
    }
  }
  Result<void> commit() {
    if (!file_) return {};
    if (written_) written_ = file_->commit();
    if (!written_) return unwritable(written_.error());
    return {};
  }

 private:
  std::optional<edges::FileSink> file_;
  Result<void> written_;
};

}  // namespace

Result<std::string> run_schedule(const ScheduleRequest& request, const VerbContext& context) {
  InterruptWatch interrupt;
  const auto workload = read_workload(request, *context.files);
  if (!workload) return pass_on(workload.error());
  interrupt.defer();
  if (request.question) return answer_question(*workload, request, context, interrupt);
  ScheduleLog log;
  if (auto opened = log.open(request.log_path); !opened) return pass_on(opened.error());
  ReportFolder folder;
  if (request.report_dir) {
    if (auto made = folder.make(*request.report_dir); !made) return pass_on(made.error());
  }
  sched::Comparison comparison{.trace_name = request.trace_path, .workload = &*workload, .terms = request.terms};
  ProgressBar bar(context.progress(), static_cast<int>(request.policies.size()), steady_now);
  std::vector<PolicyFigures>& results = comparison.results;
  for (const sched::Policy policy : request.policies) {
    sched::RunListener listener;
    if (request.report_dir) comparison.courses.emplace_back(*workload, policy);
    if (log.is_open() || request.report_dir) {
      listener.passed = [&](const sched::Simulation& simulation) {
        if (log.is_open()) log.add(*workload, policy, simulation.log());
        if (request.report_dir) comparison.courses.back().add(simulation);
      };
    }
    listener.progressed = [&](double share) {
      bar.show(fmt::format("{:<5}", sched::name_of(policy)), static_cast<int>(results.size()), share);
      return !interrupt.is_interrupted() && log.written().has_value();
    };
    auto figures = sched::run_policy(*workload, request.terms, policy, listener);
    if (!figures) return pass_on(figures.error());
    if (!*figures) return log.written() ? pass_on(interrupted_error()) : unwritable(log.written().error());
    results.push_back(std::move(**figures));
  }
  bar.clear();
  const auto page = request.report_dir ? std::optional(context.reports.schedule(comparison)) : std::nullopt;
  if (auto written = log.commit(); !written) return pass_on(written.error());
  if (page) {
    if (auto written = folder.write_page(*page); !written) return pass_on(written.error());
  }
  return request.format == OutputFormat::kJson ? schedule_json(*workload, results)
                                               : schedule_table(*workload, results, context.has_colour());
}

}  // namespace berth::cli
