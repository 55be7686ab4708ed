#include "surface/cli/schedule/schedule_run.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "domain/lists/job_list.h"
#include "domain/lists/tenant_list.h"
#include "scheduling/jobs/study.h"
#include "surface/cli/schedule/schedule_json.h"
#include "surface/cli/schedule/schedule_outputs.h"
#include "surface/cli/schedule/schedule_question.h"
#include "surface/cli/schedule/schedule_table.h"
#include "surface/cli/shared/progress_bar.h"
#include "surface/cli/shared/run_outputs.h"

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

}  // namespace

Result<std::string> run_schedule(const ScheduleRequest& request, const VerbContext& context) {
  RunOutputs outputs;
  const auto workload = read_workload(request, *context.files);
  if (!workload) return pass_on(workload.error());
  outputs.begin();
  if (request.question) return answer_question(*workload, request, context, outputs);
  ScheduleOutputs wanted(request, *workload, outputs);
  if (auto opened = wanted.open(); !opened) return pass_on(opened.error());
  ProgressBar bar(context.progress(), static_cast<int>(request.policies.size()), steady_now);
  std::vector<PolicyFigures> results;
  for (const sched::Policy policy : request.policies) {
    sched::RunListener listener{.passed = wanted.follower(policy)};
    listener.progressed = [&](double share) {
      bar.show(fmt::format("{:<5}", sched::name_of(policy)), static_cast<int>(results.size()), share);
      return outputs.may_continue();
    };
    auto figures = sched::run_policy(*workload, request.terms, policy, listener);
    if (!figures) return pass_on(figures.error());
    if (!*figures) return pass_on(outputs.reason_of_stop());
    results.push_back(std::move(**figures));
  }
  bar.clear();
  return outputs.finish({.text =
                             [&] {
                               return request.format == OutputFormat::kJson
                                          ? schedule_json(*workload, results)
                                          : schedule_table(*workload, results, context.has_colour());
                             },
                         .page = [&] { return wanted.page(results); }});
}

}  // namespace berth::cli
