#include "scheduling/jobs/why_message.h"

#include <fmt/format.h>

#include "base/core/count_words.h"
#include "base/core/figure_text.h"
#include "scheduling/jobs/policy_name.h"
#include "scheduling/jobs/world.h"

namespace berth::sched {
namespace {

std::string at_second(Seconds time) { return with_separators(time) + " s"; }

std::string order_text(const Ahead& ahead, std::string_view first) {
  if (ahead.jobs.size() == 1) return fmt::format("{} for {} is served first", first, counted_noun(ahead.gpus, "GPU"));
  return fmt::format("{} for {} are served first, {} before all", counted_noun(std::ssize(ahead.jobs), "job"),
                     counted_noun(ahead.gpus, "GPU"), first);
}

std::string blocker_text(const World& world, const Explanation& explanation, const Blocker& blocker) {
  const Workload& workload = world.workload();
  switch (blocker.code) {
    case BlockerCode::kLimit: {
      for (const TenantIndex at : indices_of<TenantIndex>(workload.tenants)) {
        const Tenant& tenant = workload.tenant(at);
        if (tenant.name != blocker.where) continue;
        return fmt::format("{} runs on {} of at most {}", tenant.name, with_separators(world.use_of(at)),
                           with_separators(*tenant.limit));
      }
      return blocker.where + " is at its limit";
    }
    case BlockerCode::kOrder:
      return order_text(explanation.ahead, blocker.where);
    case BlockerCode::kGuarantee:
      if (!world.keeps_guarantees_reachable(explanation.job)) {
        return fmt::format("it may not be preempted, and would put the guarantee of {} out of reach", blocker.where);
      }
      return fmt::format("what is free is kept for the guarantee of {}", blocker.where);
    case BlockerCode::kRound:
      return fmt::format("{} decides next at {}", name_of(explanation.policy), at_second(blocker.needed));
    case BlockerCode::kCapacity:
      break;
  }
  const bool is_one = blocker.available == 1 || workload.gpus == 1;
  return fmt::format("{} of {} {} free", with_separators(blocker.available), counted_noun(workload.gpus, "GPU"),
                     is_one ? "is" : "are");
}

std::string waiting_message(const World& world, const Explanation& explanation, std::string_view name, GpuCount gpus) {
  std::string text = fmt::format("{} waits for {}", name, counted_noun(gpus, "GPU"));
  for (std::size_t i = 0; i < explanation.blockers.size(); ++i) {
    text += (i == 0 ? ": " : ", and ") + blocker_text(world, explanation, explanation.blockers[i]);
  }
  if (explanation.eta) text += fmt::format("; it probably starts at {}", at_second(explanation.eta->p50));
  return text;
}

}  // namespace

std::string why_message(const World& world, const Explanation& explanation) {
  const Job& job = world.workload().job(explanation.job);
  const JobRecord& record = world.record(explanation.job);
  const std::string& name = world.workload().job_names[static_cast<std::size_t>(explanation.job)];
  switch (explanation.verdict) {
    case Verdict::kNotSubmitted:
      return fmt::format("{} will be submitted at {}", name, at_second(job.submit));
    case Verdict::kRunning:
      return fmt::format("{} has run on {} since {}", name, counted_noun(job.gpus, "GPU"), at_second(record.started));
    case Verdict::kFinished:
      return fmt::format("{} finished at {}", name, at_second(record.stopped));
    case Verdict::kStartable:
      return fmt::format("{} would start if {} decided at this second", name, name_of(explanation.policy));
    case Verdict::kWaiting:
      break;
  }
  return waiting_message(world, explanation, name, job.gpus);
}

}  // namespace berth::sched
