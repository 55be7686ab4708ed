#include "sched/study.h"

namespace berth::sched {

std::optional<PolicyFigures> run_policy(const Workload& workload, const Terms& terms, Policy policy,
                                        const RunListener& listener) {
  constexpr std::int64_t kInstantsPerProgress = 1024;
  Simulation simulation(workload, terms, policy);
  std::int64_t instants = 0;
  std::int64_t finished = 0;
  while (const auto next = simulation.next_instant()) {
    simulation.begin(*next);
    simulation.decide();
    for (const LogEntry& entry : simulation.log()) finished += entry.type == LogType::kFinish ? 1 : 0;
    if (listener.passed) listener.passed(simulation);
    if (instants++ % kInstantsPerProgress != 0 || !listener.progressed) continue;
    if (!listener.progressed(static_cast<double>(finished) / static_cast<double>(workload.jobs.size()))) return std::nullopt;
  }
  return figures_of(policy, simulation.world());
}

}  // namespace berth::sched
