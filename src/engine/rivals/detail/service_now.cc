#include "engine/rivals/detail/service_now.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace berth::partition::detail {
namespace {

double seconds_to_next_due(const Retraining& retraining, Instant now) {
  const Micros since_first = now - (Instant() + retraining.offset);
  if (since_first < Micros()) return Micros(-since_first.count()).to_seconds();
  return Micros(retraining.every.count() - since_first.count() % retraining.every.count()).to_seconds();
}

ServiceNow::Accuracies accuracies_of(const Accuracy& accuracy) {
  return {static_cast<double>(accuracy.before_micro) / 1e6, static_cast<double>(accuracy.after_micro) / 1e6};
}

ServiceNow service_now(const ServiceSpec& spec, const ServiceState& state, double progress, Instant now) {
  ServiceNow service;
  service.drops_never = spec.drop == DropRule::kNever;
  service.accuracies.reserve(spec.variants.size() + 1);
  service.accuracies.push_back(accuracies_of(spec.accuracy));
  for (const Variant& variant : spec.variants) service.accuracies.push_back(accuracies_of(variant.accuracy));
  if (!spec.retraining) return service;
  service.has_retraining = true;
  service.is_due = state.is_retraining_due;
  service.progress = progress;
  service.next_due_seconds = seconds_to_next_due(*spec.retraining, now);
  service.swap_seconds = spec.retraining->swap.to_seconds();
  service.keeps_unfinished = spec.retraining->keeps_unfinished;
  return service;
}

}  // namespace

std::vector<ServiceNow> services_now(const Scenario& scenario, const Sight& sight, const ServiceForecasts& forecasts,
                                     std::int64_t horizon_seconds) {
  std::vector<ServiceNow> services;
  services.reserve(scenario.services.size());
  double weights = 0;
  double requests = 0;
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    const ServiceState& state = sight.snapshot.services[index];
    services.push_back(
        service_now(scenario.services[index], state, sight.retraining_progress[index], sight.snapshot.now));
    services.back().demand =
        forecasts.demand(ServiceId{index}, sight.snapshot.now.second(), std::max<std::int64_t>(1, horizon_seconds));
    if (services.back().drops_never && !state.seconds.empty()) {
      services.back().backlog_rate =
          static_cast<double>(state.seconds.back().queued) / static_cast<double>(horizon_seconds);
    }
    weights += scenario.services[index].weight.to_double();
    requests += services.back().demand.mean();
  }
  const bool is_by_service = scenario.objective == Objective::kServices;
  for (std::size_t index = 0; index < services.size(); ++index) {
    const double mean = services[index].demand.mean();
    if (mean <= 0) continue;
    services[index].worth = is_by_service ? scenario.services[index].weight.to_double() / weights / mean : 1 / requests;
  }
  return services;
}

double in_time_rate(const ServiceNow& service, double capacity) {
  const double served = service.demand.served(capacity);
  if (!service.drops_never) return served;
  const double wanted = service.demand.mean() + service.backlog_rate;
  if (wanted <= capacity || wanted <= 0) return served;
  return served * std::pow(capacity / wanted, 4);
}

double retraining_done_seconds(const ServiceNow& service, const Share& share) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (!service.is_due || !share.retrains || share.retraining_seconds <= 0) return kNever;
  const double done = share.retraining_coming_seconds + (1 - service.progress) * share.retraining_seconds;
  // A retraining that is done at the instant when the next is due is lost, too.
  return done < service.next_due_seconds || service.keeps_unfinished ? done + service.swap_seconds : kNever;
}

double expected_value(const ServiceNow& service, const Share& share, double horizon_seconds, int variant) {
  const ServiceNow::Accuracies& accuracy = service.accuracies[variant];
  const double serving = in_time_rate(service, share.rate_total());
  const double while_coming = share.rate_coming > 0 ? in_time_rate(service, share.rate) : serving;
  const double accuracy_now = service.is_due ? accuracy.before : accuracy.after;
  const double lost = (serving - while_coming) * std::min(1.0, share.coming_seconds() / horizon_seconds) * accuracy_now;
  const double done = retraining_done_seconds(service, share);
  const double until = service.is_due ? std::max(horizon_seconds, service.next_due_seconds) : horizon_seconds;
  if (done >= until) return service.worth * (accuracy_now * serving - lost);
  const double afterwards = in_time_rate(service, share.rate_total() + share.retraining_rate);
  const double stale_share = done / until;
  return service.worth *
         (stale_share * accuracy.before * serving + (1 - stale_share) * accuracy.after * afterwards - lost);
}

std::vector<char> due_services(const std::vector<ServiceNow>& services) {
  std::vector<char> due;
  due.reserve(services.size());
  for (const ServiceNow& service : services) due.push_back(service.is_due ? 1 : 0);
  return due;
}

}  // namespace berth::partition::detail
