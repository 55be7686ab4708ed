#include "engine/rivals/detail/thief.h"

#include <cstddef>
#include <utility>

namespace berth::partition::detail {
namespace {

constexpr double kStealGainMin = 1e-9;

struct ThiefJob {
  int service = 0;
  bool retrains = false;
};

int& quanta_of_job(std::vector<QuantaShare>& shares, const ThiefJob& job) {
  return job.retrains ? shares[job.service].retraining : shares[job.service].inference;
}

/// The combined value of the services of two jobs.
double value_of_pair(const ThiefProblem& problem, const std::vector<QuantaShare>& shares, const ThiefJob& a,
                     const ThiefJob& b) {
  const double value = problem.value(a.service, shares[a.service]);
  return a.service == b.service ? value : value + problem.value(b.service, shares[b.service]);
}

/// Steals the best amount; returns whether that gained anything.
bool steal(const ThiefProblem& problem, std::vector<QuantaShare>& shares, const ThiefJob& thief,
           const ThiefJob& victim) {
  double best_value = value_of_pair(problem, shares, thief, victim) + kStealGainMin;
  std::vector<QuantaShare> best = shares;
  std::vector<QuantaShare> tried = shares;
  int in_vain = 0;
  while (in_vain < problem.look_ahead && quanta_of_job(tried, victim) > 0) {
    --quanta_of_job(tried, victim);
    ++quanta_of_job(tried, thief);
    const double value = value_of_pair(problem, tried, thief, victim);
    ++in_vain;
    if (value <= best_value) continue;
    best_value = value;
    best = tried;
    in_vain = 0;
  }
  const bool has_gained = best != shares;
  shares = std::move(best);
  return has_gained;
}

}  // namespace

std::vector<QuantaShare> steal_quanta(const ThiefProblem& problem) {
  std::vector<ThiefJob> jobs;
  const int service_count = static_cast<int>(problem.may_retrain.size());
  jobs.reserve(2 * problem.may_retrain.size());
  for (int service = 0; service < service_count; ++service) jobs.push_back({service, false});
  for (int service = 0; service < service_count; ++service) {
    if (problem.may_retrain[service] != 0) jobs.push_back({service, true});
  }
  std::vector<QuantaShare> shares(problem.may_retrain.size());
  const int job_count = static_cast<int>(jobs.size());
  for (int job = 0; job < job_count; ++job) {
    quanta_of_job(shares, jobs[job]) = problem.quanta / job_count + (job < problem.quanta % job_count ? 1 : 0);
  }
  for (int round = 0; round < problem.rounds_max; ++round) {
    bool has_changed = false;
    for (const ThiefJob& thief : jobs) {
      for (const ThiefJob& victim : jobs) {
        if (thief.service == victim.service && thief.retrains == victim.retrains) continue;
        has_changed = steal(problem, shares, thief, victim) || has_changed;
      }
    }
    if (!has_changed) break;
  }
  return shares;
}

}  // namespace berth::partition::detail
