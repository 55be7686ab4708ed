#include "scheduling/jobs/moment.h"

namespace berth::sched {

Result<std::optional<Moment>> moment_at(const Workload& workload, const Terms& terms, Policy policy, Seconds at,
                                        const RunListener& listener) {
  Simulation run(workload, terms, policy);
  RunTimes run_times(workload, policy);
  std::optional<StartEstimates> start_estimates;
  if (has_start_estimates(policy)) start_estimates.emplace(workload, policy);
  RunListener following = listener;
  following.passed = [&](const Simulation& simulation) {
    run_times.follow(simulation);
    if (start_estimates) (void)start_estimates->passed(simulation);
    if (listener.passed) listener.passed(simulation);
  };
  const auto went_on = go_on(run, at, following);
  if (!went_on) return pass_on(went_on.error());
  if (!*went_on) return std::optional<Moment>();
  const bool has_event = run.next_instant() == at;
  run.begin(at);
  Moment moment{
      .before = run, .after = run, .run_times = std::move(run_times), .start_estimates = std::move(start_estimates)};
  if (has_event) {
    moment.after.decide();
    moment.run_times.follow(moment.after);
    if (moment.start_estimates) (void)moment.start_estimates->passed(moment.after);
  }
  return std::optional(std::move(moment));
}

}  // namespace berth::sched
