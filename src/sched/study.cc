#include "sched/study.h"

#include <fmt/format.h>

#include "sched/progress_watch.h"

namespace berth::sched {
namespace {

tl::unexpected<Error> stuck_error(Policy policy, const World& world) {
  return invalid(fmt::format(
      "{}: wanted jobs that finish, found {} that get nowhere at {} s: they are preempted before a restart is "
      "over or a checkpoint reached (rounds of {} s, restarts of {} s)",
      name_of(policy), world.unfinished_count(), world.now(), world.terms().round, world.terms().restart));
}

}  // namespace

Result<std::optional<PolicyFigures>> run_policy(const Workload& workload, const Terms& terms, Policy policy,
                                                const RunListener& listener) {
  constexpr std::int64_t kInstantsPerProgress = 1024;
  Simulation simulation(workload, terms, policy);
  ProgressWatch watch;
  std::int64_t instants = 0;
  std::int64_t finished = 0;
  while (const auto next = simulation.next_instant()) {
    simulation.begin(*next);
    simulation.decide();
    for (const LogEntry& entry : simulation.log()) finished += entry.type == LogType::kFinish ? 1 : 0;
    if (listener.passed) listener.passed(simulation);
    if (watch.is_stuck(simulation.world())) return stuck_error(policy, simulation.world());
    if (instants++ % kInstantsPerProgress != 0 || !listener.progressed) continue;
    if (!listener.progressed(static_cast<double>(finished) / static_cast<double>(workload.jobs.size()))) {
      return std::optional<PolicyFigures>();
    }
  }
  return std::optional(figures_of(policy, simulation.world()));
}

}  // namespace berth::sched
