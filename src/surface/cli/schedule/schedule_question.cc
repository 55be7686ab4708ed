#include "surface/cli/schedule/schedule_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/core/text.h"
#include "scheduling/jobs/moment.h"
#include "scheduling/jobs/slot.h"
#include "scheduling/jobs/why.h"
#include "surface/cli/schedule/why_text.h"
#include "surface/cli/shared/progress_bar.h"

namespace berth::cli {
namespace {

using sched::JobIndex;

Result<JobIndex> find_job(const sched::Workload& workload, const ScheduleRequest& request) {
  const std::string& name = *request.question->why_job;
  const auto found = std::ranges::find(workload.job_names, name);
  if (found == workload.job_names.end()) {
    return invalid(fmt::format("--why: wanted a job of {}, found {}", request.trace_path, in_quotes(name)));
  }
  return JobIndex(static_cast<std::uint32_t>(found - workload.job_names.begin()));
}

}  // namespace

Result<std::string> answer_question(const sched::Workload& workload, const ScheduleRequest& request,
                                    const VerbContext& context, const RunOutputs& outputs) {
  const ScheduleQuestion& question = *request.question;
  std::optional<JobIndex> job;
  if (question.why_job) {
    const auto found = find_job(workload, request);
    if (!found) return pass_on(found.error());
    job = *found;
  }
  const sched::Policy policy = request.policies.size() == 1 ? request.policies.front() : sched::Policy::kBerth;
  ProgressBar bar(context.progress(), 1, steady_now);
  sched::RunListener listener;
  listener.progressed = [&](double share) {
    bar.show(sched::name_of(policy), 0, share);
    return outputs.may_continue();
  };
  const auto moment = sched::moment_at(workload, request.terms, policy, question.at, listener);
  bar.clear();
  if (!moment) return pass_on(moment.error());
  if (!*moment) return pass_on(outputs.reason_of_stop());
  const bool is_json = request.format == OutputFormat::kJson;
  if (job) {
    const sched::Explanation explanation = sched::explain(**moment, *job);
    return is_json ? why_json(workload, explanation) : why_text(workload, explanation);
  }
  const auto slot = sched::find_slot((*moment)->after.world(), (*moment)->run_times, question.slot);
  return is_json ? slot_json(slot) : slot_text(question.slot, slot);
}

}  // namespace berth::cli
