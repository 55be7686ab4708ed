#include "sim/study/whole_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/sort_stably.h"
#include "domain/profile/operating_point.h"
#include "domain/trace/run_arrivals.h"
#include "purchase/scale/hindsight.h"
#include "purchase/scale/run.h"
#include "sim/study/elastic_run.h"

namespace berth::study {
namespace {

constexpr std::int64_t kWholeGpusMax = 4096;
constexpr std::int64_t kRateUnits = 1'000'000;

std::int64_t in_seconds(Micros time) { return (time.count() + kMicrosPerSecond - 1) / kMicrosPerSecond; }

/// One service alone on whole GPUs of its own.
Result<measure::Figures> replay_alone(const Scenario& scenario, ServiceId service, std::uint64_t seed,
                                      std::int64_t gpus_max, const std::function<std::int64_t(std::int64_t)>& wanted,
                                      const GoesOn& goes_on) {
  const Scenario elastic = elastic_scenario(scenario, gpus_max);
  const elastic::WholeGpuCounts counts = [&](ServiceId each, std::int64_t second) {
    return each == service ? wanted(second) : 0;
  };
  ElasticRun run{.stages = {}, .policy = "whole", .only = service};
  run.gpus_at_start = static_cast<std::uint32_t>(elastic::gpus_at_start(elastic, counts));
  run.stages.push_back(elastic::whole_gpus_stage(elastic, counts));
  const auto progress = [&](double) { return !goes_on || goes_on(); };
  auto outcome = run_elastic(elastic, seed, std::move(run), progress, nullptr);
  if (!outcome) return pass_on(outcome.error());
  ENSURE(!outcome->infeasible);
  return outcome->result.services[service.index].figures;
}

bool keeps(const measure::Figures& figures, const Decimal& attainment) {
  return figures.requests == 0 || Decimal(figures.in_time, figures.requests) >= attainment;
}

/// What target tracking asks for in each second, whatever its effect.
std::vector<std::int64_t> wants_of(const scale::Problem& problem, scale::Tracking tracking) {
  std::vector<std::int64_t> wants;
  wants.reserve(static_cast<std::size_t>(problem.load.seconds()));
  const std::int64_t ready = scale::initial_replicas(problem);
  scale::TargetTracking rule(problem, tracking);
  static_cast<void>(scale::serve_run(problem, ready, [&](const scale::Moment& moment) {
    wants.push_back(rule.want(moment));
    return wants.back();
  }));
  return wants;
}

struct Candidate {
  scale::Tracking tracking;
  std::vector<std::int64_t> wants;
  std::int64_t cost = 0;  ///< GPU-seconds
};

/// By cost, then target, then hold.
std::vector<Candidate> candidates_of(const scale::Problem& problem) {
  std::vector<Candidate> candidates;
  candidates.reserve(scale::tracking_choices().size());
  for (const scale::Tracking& tracking : scale::tracking_choices()) {
    Candidate candidate{.tracking = tracking, .wants = wants_of(problem, tracking)};
    for (const std::int64_t want : candidate.wants) candidate.cost += want;
    candidates.push_back(std::move(candidate));
  }
  sort_stably(candidates, &Candidate::cost);
  return candidates;
}

}  // namespace

Result<WholeGpuLoad> WholeGpuLoad::of(const Scenario& scenario, ServiceId service, std::uint64_t seed,
                                      const Decimal& attainment) {
  const ServiceSpec& spec = scenario.services[service.index];
  const GpuModel& model = scenario.fleet.front().model;
  const auto point = model.has_full ? profile::choose_point(spec, model, ProfileId::full()) : std::nullopt;
  if (!point) {
    return invalid(fmt::format("service {}: wanted a measured point on a whole {} below {} x its target, found none",
                               service_label(scenario, service), model.name, spec.batching.slo_factor.to_string()));
  }
  WholeGpuLoad load;
  const RunArrivals arrivals(scenario, seed);
  while (load.history_ < scenario.history_seconds && arrivals.history(service, -load.history_ - 1)) ++load.history_;
  load.counts_.reserve(static_cast<std::size_t>(load.history_ + scenario.simulated_seconds()));
  for (std::int64_t second = -load.history_; second < 0; ++second) {
    load.counts_.push_back(static_cast<std::uint32_t>(*arrivals.history(service, second)));
  }
  for (std::int64_t second = 0; second < scenario.simulated_seconds(); ++second) {
    load.counts_.push_back(static_cast<std::uint32_t>(arrivals.count(service, second)));
  }
  // Down to a millionth, as a replica's rate has at most nine decimals.
  const Decimal rate((point->requests_per_second * Decimal(kRateUnits)).floor(), kRateUnits);
  auto replica = scale::ReplicaRate::of(rate);
  if (!replica)
    return invalid(fmt::format("service {}: {}", service_label(scenario, service), replica.error().message));
  load.problem_.rate = *replica;
  load.problem_.wait_seconds = spec.target.count() / kMicrosPerSecond;
  load.problem_.start_seconds = scenario.provision_seconds.value_or(0) + in_seconds(spec.start);
  load.problem_.attainment = attainment;
  return load;
}

scale::Problem WholeGpuLoad::problem() const {
  scale::Problem problem = problem_;
  problem.load = {.counts = counts_, .from_second = history_};
  return problem;
}

scale::Problem WholeGpuLoad::by_request() const {
  scale::Problem by_request = problem();
  by_request.rate = scale::ReplicaRate();
  return by_request;
}

std::int64_t WholeGpuLoad::peak_gpus() const {
  std::int64_t peak = 0;
  for (auto it = counts_.begin() + history_; it != counts_.end(); ++it) peak = std::max<std::int64_t>(peak, *it);
  return problem_.rate.replicas_for(peak);
}

Result<std::int64_t> smallest_whole_count(const Scenario& scenario, ServiceId service, std::uint64_t seed,
                                          const WholeGpuLoad& load, const Decimal& attainment, const GoesOn& goes_on) {
  const auto tries = [&](std::int64_t gpus) -> Result<bool> {
    const auto figures = replay_alone(scenario, service, seed, gpus, [=](std::int64_t) { return gpus; }, goes_on);
    if (!figures) return pass_on(figures.error());
    return keeps(*figures, attainment);
  };
  std::int64_t low = 0;  // does not keep it
  std::int64_t high = std::max<std::int64_t>(1, load.peak_gpus());
  while (true) {
    const auto is_enough = tries(high);
    if (!is_enough) return pass_on(is_enough.error());
    if (*is_enough) break;
    low = high;
    high *= 2;
    if (high > kWholeGpusMax) {
      return invalid(
          fmt::format("service {}: wanted a number of whole GPUs with which it keeps {} in time, found none "
                      "up to {}",
                      service_label(scenario, service), attainment.to_string(), low));
    }
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    const auto is_enough = tries(middle);
    if (!is_enough) return pass_on(is_enough.error());
    (*is_enough ? high : low) = middle;
  }
  return high;
}

Result<TunedTracking> tuned_whole_counts(const Scenario& scenario, ServiceId service, std::uint64_t seed,
                                         const WholeGpuLoad& load, const Decimal& attainment, const GoesOn& goes_on) {
  std::optional<TunedTracking> best;
  std::int64_t most = -1;
  for (Candidate& candidate : candidates_of(load.problem())) {
    const std::vector<std::int64_t>& wants = candidate.wants;
    const auto figures = replay_alone(
        scenario, service, seed, 2 * std::ranges::max(wants) + 1,
        [&](std::int64_t second) {
          const auto last = static_cast<std::int64_t>(wants.size()) - 1;
          return wants[static_cast<std::size_t>(std::min(second, last))];
        },
        goes_on);
    if (!figures) return pass_on(figures.error());
    const bool does = keeps(*figures, attainment);
    if (!does && figures->in_time <= most) continue;
    most = figures->in_time;
    best = TunedTracking{.tracking = candidate.tracking, .wants = std::move(candidate.wants), .holds = does};
    if (does) break;
  }
  return *best;
}

}  // namespace berth::study
