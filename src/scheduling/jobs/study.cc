#include "scheduling/jobs/study.h"

#include <fmt/format.h>

#include <limits>

#include "scheduling/jobs/progress_watch.h"

namespace berth::sched {
namespace {

tl::unexpected<Error> stuck_error(Policy policy, const World& world) {
  return invalid(fmt::format(
      "{}: wanted jobs that finish, found {} that get nowhere at {} s: they are preempted before a restart is "
      "over or a checkpoint reached (rounds of {} s, restarts of {} s)",
      name_of(policy), world.unfinished_count(), world.now(), world.terms().round, world.terms().restart));
}

}  // namespace

Result<bool> go_on(Simulation& simulation, Seconds before, const RunListener& listener) {
  constexpr std::int64_t kInstantsPerProgress = 1024;
  const World& world = simulation.world();
  const auto job_count = static_cast<double>(world.workload().jobs.size());
  ProgressWatch watch;
  std::int64_t instants = 0;
  std::int64_t finished = 0;
  for (auto next = simulation.next_instant(); next && *next < before; next = simulation.next_instant()) {
    simulation.begin(*next);
    simulation.decide();
    for (const LogEntry& entry : simulation.log()) finished += entry.type == LogType::kFinish ? 1 : 0;
    if (listener.passed) listener.passed(simulation);
    if (watch.is_stuck(world)) return stuck_error(simulation.name(), world);
    if (instants++ % kInstantsPerProgress != 0 || !listener.progressed) continue;
    if (!listener.progressed(static_cast<double>(finished) / job_count)) return false;
  }
  return true;
}

Result<std::optional<PolicyFigures>> run_policy(const Workload& workload, const Terms& terms, Policy policy,
                                                const RunListener& listener) {
  Simulation simulation(workload, terms, policy);
  const auto went_on = go_on(simulation, std::numeric_limits<Seconds>::max(), listener);
  if (!went_on) return pass_on(went_on.error());
  if (!*went_on) return std::optional<PolicyFigures>();
  return std::optional(figures_of(policy, simulation.world()));
}

}  // namespace berth::sched
