#include "sim/measure/figures.h"

#include <algorithm>
#include <set>

#include "base/core/decimal.h"
#include "domain/profile/least_cost.h"
#include "world/slices/slice_sums.h"

namespace berth::measure {
namespace {

constexpr double kMicrosPerUnit = 1e6;

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// GPU-microseconds of each fleet entry to micro-dollars, exact; absent where a GPU that was used has no price.
std::optional<Decimal> exact_micro_usd(const Scenario& scenario, const std::vector<Decimal>& gpu_us_by_entry) {
  Decimal usd_hours_us;
  for (std::size_t entry = 0; entry < gpu_us_by_entry.size(); ++entry) {
    if (gpu_us_by_entry[entry].sign() == 0) continue;
    if (!scenario.fleet[entry].usd_per_gpu_hour) return std::nullopt;
    usd_hours_us += gpu_us_by_entry[entry] * *scenario.fleet[entry].usd_per_gpu_hour;
  }
  // micro-dollars = usd/hour x us / (3600 x 10^6) x 10^6
  return usd_hours_us / Decimal(3600);
}

/// Sets the cost of the run and the cost of a million answers in time, each rounded half to even once.
void set_cost(const std::optional<Decimal>& micro_usd, Figures& figures) {
  if (!micro_usd) return;
  figures.cost_micro_usd = micro_usd->round_half_even();
  if (figures.in_time == 0) return;
  const Decimal per_million = *micro_usd * Decimal(1'000'000) / Decimal(figures.in_time);
  figures.cost_micro_usd_per_million_in_time = per_million.round_half_even();
}

double fleet_sm_us(const Scenario& scenario) {
  double sms = 0;
  for (const FleetEntry& entry : scenario.fleet) sms += static_cast<double>(entry.count) * entry.model.sms;
  return sms * static_cast<double>(scenario.simulated_seconds()) * kMicrosPerUnit;
}

double fleet_gpu_seconds(const Scenario& scenario) {
  return static_cast<double>(scenario.gpu_count()) * static_cast<double>(scenario.simulated_seconds());
}

void set_counts(const sim::ServiceTotals& totals, const sim::LatencyHistogram& latencies, Figures& figures) {
  figures.RequestCounts::operator=(totals);
  const auto worth = static_cast<double>(totals.accuracy_sum_micro) / kMicrosPerUnit;
  if (totals.requests > 0) {
    figures.goodput = worth / static_cast<double>(totals.requests);
    figures.slo_attainment = static_cast<double>(totals.in_time) / static_cast<double>(totals.requests);
  }
  if (totals.in_time > 0) figures.mean_accuracy = worth / static_cast<double>(totals.in_time);
  figures.latency_mean_ms = latencies.mean_ms();
  figures.latency_p50_ms = latencies.percentile_ms(50);
  figures.latency_p99_ms = latencies.percentile_ms(99);
}

/// SM-microseconds of an answer at the service's best point: the default point of any slice, or a point that the policy
/// chose instead; 0 if it has none.
double least_sm_us(const Scenario& scenario, const sim::World& world, ServiceId service) {
  const auto by_default = profile::least_sm_us_per_request(scenario, scenario.services[service.index]);
  const auto chosen = world.least_chosen_sm_us(service);
  if (!by_default || !chosen) return by_default.value_or(chosen.value_or(0));
  return std::min(*by_default, *chosen);
}

Figures service_figures(const Scenario& scenario, const sim::World& world, std::uint32_t index) {
  const sim::ServiceMeter& meter = world.meters()[index];
  const world::SliceSums& sums = world.slice_sums();
  Figures figures;
  set_counts(meter.totals(), meter.latencies(), figures);
  figures.goodput_mean_of_services = figures.goodput;
  figures.goodput_worst_service = figures.goodput;
  Decimal gpu_us;
  for (const Decimal& share : sums.gpu_us_by_service[index]) gpu_us += share;
  figures.gpu_seconds = gpu_us.to_double() / kMicrosPerUnit;
  figures.gpu_seconds_fleet = fleet_gpu_seconds(scenario);
  set_cost(exact_micro_usd(scenario, sums.gpu_us_by_service[index]), figures);
  const double whole = fleet_sm_us(scenario);
  const auto answered = static_cast<double>(figures.in_time + figures.late);
  const double least = least_sm_us(scenario, world, {index});
  figures.utilisation = {.allocated = ratio(sums.allocated_sm_us_by_service[index], whole),
                         .busy = ratio(world.busy().sm_us_of(ServiceId{index}), whole),
                         .effective = ratio(answered * least, whole)};
  figures.changes = sums.changes_by_service[index];
  figures.lost_slice_seconds = static_cast<double>(sums.lost_us_by_service[index]) / kMicrosPerUnit;
  return figures;
}

/// Sets the mean of the services' goodputs, weighted, and the worst, over the services that had requests.
void set_goodput_over_services(const Scenario& scenario, const std::vector<ServiceFigures>& services,
                               Figures& figures) {
  double weighted = 0;
  double weights = 0;
  for (std::size_t index = 0; index < services.size(); ++index) {
    const auto& goodput = services[index].figures.goodput;
    if (!goodput) continue;
    const double weight = scenario.services[index].weight.to_double();
    weighted += weight * *goodput;
    weights += weight;
    figures.goodput_worst_service = std::min(figures.goodput_worst_service.value_or(*goodput), *goodput);
  }
  if (weights > 0) figures.goodput_mean_of_services = weighted / weights;
}

}  // namespace

std::optional<double> objective_value(const Scenario& scenario, const Figures& figures) {
  return scenario.objective == Objective::kServices ? figures.goodput_mean_of_services : figures.goodput;
}

void measure(const Scenario& scenario, const sim::World& world, PolicyResult& result) {
  const world::SliceSums& sums = world.slice_sums();
  sim::ServiceTotals totals;
  sim::LatencyHistogram latencies;
  double effective = 0;
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    const sim::ServiceTotals& own = world.meters()[index].totals();
    totals += own;
    totals.accuracy_sum_micro += own.accuracy_sum_micro;
    latencies.add_all(world.meters()[index].latencies());
    result.services.push_back(
        {.name = scenario.services[index].name, .figures = service_figures(scenario, world, index)});
    effective += result.services.back().figures.utilisation.effective;
    result.figures.lost_slice_seconds += result.services.back().figures.lost_slice_seconds;
  }
  Figures& figures = result.figures;
  set_counts(totals, latencies, figures);
  set_goodput_over_services(scenario, result.services, figures);

  std::vector<Decimal> gpu_us;
  double gpu_us_sum = 0;
  for (const std::int64_t us : sums.gpu_us_by_entry) {
    gpu_us.emplace_back(us);
    gpu_us_sum += static_cast<double>(us);
  }
  figures.gpu_seconds = gpu_us_sum / kMicrosPerUnit;
  figures.gpu_seconds_fleet = fleet_gpu_seconds(scenario);
  set_cost(exact_micro_usd(scenario, gpu_us), figures);
  const double whole = fleet_sm_us(scenario);
  figures.utilisation = {.allocated = ratio(sums.allocated_sm_us, whole),
                         .busy = ratio(world.busy().sm_us(), whole),
                         .effective = effective};
  figures.changes = sums.changes;
}

}  // namespace berth::measure
