#include "live/session/live_figures.h"

#include <algorithm>
#include <utility>

#include "domain/profile/at_speed.h"
#include "domain/profile/least_cost.h"
#include "domain/profile/operating_point.h"
#include "live/session/agreed_share.h"

namespace berth::live {

LiveFigures::Known& LiveFigures::known(ServiceId service) {
  if (service.index >= services_.size()) services_.resize(service.index + std::size_t{1});
  Known& known = services_[service.index];
  if (!known.minute) {
    known.minute.emplace();
    known.least_sm_us = profile::least_sm_us_per_request(scenario_, scenario_.services[service.index]).value_or(0);
  }
  return known;
}

void LiveFigures::add(ServiceId service, std::int64_t second, const ServiceFigures& figures) {
  add_second(service, second, figures);
  effective_us_ += static_cast<double>(figures.in_time + figures.late) * known(service).least_sm_us;
}

void LiveFigures::add_second(ServiceId service, std::int64_t second, const ServiceFigures& figures) {
  Known& of_service = known(service);
  of_service.minute->add(second, figures, scenario_.services[service.index].target);
  of_service.measured_until = Instant::at_second(second + 1);
  judge(service);
}

void LiveFigures::judge(ServiceId service) {
  Known& of_service = services_[service.index];
  const auto counts = of_service.minute->counts();
  ConditionStatus status = ConditionStatus::kUnknown;
  if (counts && counts->requests > 0) {
    const Decimal owed = agreed_share(scenario_.services[service.index]).share * Decimal(counts->requests);
    status = Decimal(counts->in_time) >= owed ? ConditionStatus::kTrue : ConditionStatus::kFalse;
  }
  InTimeSeen& seen = of_service.in_time;
  if (seen.since && seen.status == status) return;
  seen = {.status = status, .since = of_service.measured_until};
}

std::optional<FleetFigures> LiveFigures::read(Instant now, const sim::SmTime& sm_time) {
  std::int64_t sms = 0;
  for (const FleetEntry& entry : scenario_.fleet) sms += entry.count * entry.model.sms;
  auto figures = fleet_.read({.at = now, .sm_time = sm_time}, sms, std::exchange(effective_us_, 0));
  if (!figures) return std::nullopt;
  figures->micro_usd_per_hour = cost_micro_usd_per_hour(scenario_);
  fleet_.add(now, *figures);
  return figures;
}

void LiveFigures::restore(ServiceId service, std::int64_t second, const ServiceFigures& figures) {
  add_second(service, second, figures);
}

void LiveFigures::restore(std::int64_t second, const FleetFigures& figures) {
  fleet_.add(Instant::at_second(second + 1), figures);
}

void LiveFigures::read_spec(ServiceId service) {
  std::erase_if(rates_, [&](const auto& entry) { return entry.first.service == service; });
  largest_rates_.erase(service);
  if (service.index >= services_.size()) return;
  services_[service.index].least_sm_us =
      profile::least_sm_us_per_request(scenario_, scenario_.services[service.index]).value_or(0);
  if (services_[service.index].minute) judge(service);
}

void LiveFigures::forget(ServiceId service) {
  if (service.index < services_.size()) services_[service.index] = {};
  std::erase_if(rates_, [&](const auto& entry) { return entry.first.service == service; });
  largest_rates_.erase(service);
}

std::optional<MinuteFigures> LiveFigures::minute_of(ServiceId service) const {
  if (service.index >= services_.size() || !services_[service.index].minute) return std::nullopt;
  return services_[service.index].minute->figures();
}

std::optional<MinuteFigures> LiveFigures::counts_of(ServiceId service) const {
  if (service.index >= services_.size() || !services_[service.index].minute) return std::nullopt;
  return services_[service.index].minute->counts();
}

InTimeSeen LiveFigures::in_time_of(ServiceId service) const {
  return service.index < services_.size() ? services_[service.index].in_time : InTimeSeen();
}

std::optional<double> LiveFigures::needed_rate_of(ServiceId service) const {
  if (service.index >= services_.size() || !services_[service.index].minute) return std::nullopt;
  const double share = agreed_share(scenario_.services[service.index]).share.to_double();
  return services_[service.index].minute->rate_for(share);
}

std::optional<FunnelShares> LiveFigures::funnel() const { return fleet_.shares(); }

std::optional<double> LiveFigures::goodput() const {
  constexpr double kMicrosPerUnit = 1e6;
  std::int64_t requests = 0;
  std::int64_t accuracy_sum_micro = 0;
  for (const Known& known : services_) {
    const auto figures = known.minute ? known.minute->figures() : std::nullopt;
    if (!figures) continue;
    requests += figures->requests;
    accuracy_sum_micro += figures->accuracy_sum_micro;
  }
  if (requests == 0) return std::nullopt;
  return static_cast<double>(accuracy_sum_micro) / kMicrosPerUnit / static_cast<double>(requests);
}

double LiveFigures::rate_on(ServiceId service, const StandingSlice& slice) const {
  const Slice& place = slice.holding.slice;
  const GpuModel& model = scenario_.model_of(place.gpu);
  PointKey key{.service = service, .model = model.name, .profile = place.profile};
  if (slice.point) {
    key.variant = slice.point->variant;
    key.batch = slice.point->batch;
    key.processes = slice.point->processes;
  }
  auto it = rates_.find(key);
  if (it == rates_.end()) {
    const ServiceSpec spec = profile::spec_at_speed(scenario_, service);
    auto point = profile::point_for(spec, model, place.profile, slice.point);
    // The spec has changed since, and no longer lists the point.
    if (!point) point = profile::choose_point(spec, model, place.profile);
    it = rates_.emplace(std::move(key), point ? point->requests_per_second.to_double() : 0).first;
  }
  return it->second / static_cast<double>(slice.holding.services.size());
}

double LiveFigures::largest_rate_of(ServiceId service) const {
  const auto [it, is_new] = largest_rates_.try_emplace(service, 0);
  if (!is_new) return it->second;
  const ServiceSpec spec = profile::spec_at_speed(scenario_, service);
  double& largest = it->second;
  for (const FleetEntry& entry : scenario_.fleet) {
    const auto add = [&](ProfileId profile) {
      const auto point = profile::choose_point(spec, entry.model, profile);
      if (point) largest = std::max(largest, point->requests_per_second.to_double());
    };
    add(ProfileId::full());
    for (std::uint16_t index = 0; index < entry.model.profiles.size(); ++index) add({index});
  }
  return largest;
}

std::optional<std::int64_t> cost_micro_usd_per_hour(const Scenario& scenario) {
  constexpr std::int64_t kMicrosPerUsd = 1'000'000;
  Decimal cost;
  for (const FleetEntry& entry : scenario.fleet) {
    if (!entry.usd_per_gpu_hour) return std::nullopt;
    cost += *entry.usd_per_gpu_hour * Decimal(entry.count * kMicrosPerUsd);
  }
  return cost.round_half_even();
}

}  // namespace berth::live
