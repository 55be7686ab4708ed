#include "engine/loop/enforcement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/core/archive.h"
#include "base/core/ensure.h"
#include "base/core/nearest_double.h"
#include "domain/profile/at_speed.h"
#include "engine/loop/cheaper_slices.h"
#include "engine/loop/minute_rates.h"
#include "planner/window/frame.h"

namespace berth {
namespace {

constexpr std::int64_t kMinuteSeconds = 60;

double sure_enough(const Scenario& scenario) { return nearest_double(scenario.tiers.sure); }

/// The probabilities for which a predicted model is looked at, the surest first.
std::vector<double> levels_with(double sure) {
  std::vector<double> levels = {0.99, 0.975, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, sure};
  std::ranges::sort(levels, std::greater<>());
  const auto same = std::ranges::unique(levels);
  levels.erase(same.begin(), same.end());
  return levels;
}

bool has_rows(const ServiceSpec& spec, const std::string& gpu) {
  const auto has = [&](const PerformanceTable& table) {
    return std::ranges::find(table.points, gpu, &PerformancePoint::gpu) != table.points.end();
  };
  return has(spec.table) ||
         std::ranges::any_of(spec.variants, [&](const Variant& variant) { return has(variant.table); });
}

/// The most slices of a profile on one GPU.
int per_gpu_max(const GpuModel& model, ProfileId profile) {
  if (profile.is_full()) return 1;
  return std::max(1, static_cast<int>(model.profiles[profile.index].starts.size()));
}

/// What slices of a model's GPUs offer a service whose spec has these rows.
std::vector<tier::SliceOffer> slice_offers(const Scenario& scenario, const ServiceSpec& seen, const FleetEntry& entry) {
  std::vector<tier::SliceOffer> offers;
  for (const PricedProfile& priced : priced_profiles(scenario, seen, entry)) {
    offers.push_back({.per_second = priced.per_second,
                      .usd_per_hour = priced.usd_per_hour,
                      .per_gpu_max = per_gpu_max(entry.model, priced.profile)});
  }
  return offers;
}

/// The fleet with one entry for each model: all its GPUs, at the price of the first.
std::vector<FleetEntry> models_of(const Scenario& scenario) {
  std::vector<FleetEntry> models;
  for (const FleetEntry& entry : scenario.fleet) {
    const auto known =
        std::ranges::find_if(models, [&](const FleetEntry& model) { return model.model.name == entry.model.name; });
    if (known == models.end()) {
      models.push_back(entry);
    } else {
      known->count += entry.count;
    }
  }
  return models;
}

/// The model on which the scenario's layout gives the service the most slices; empty: on none.
std::string model_in_layout(const Scenario& scenario, ServiceId service) {
  std::map<std::string, int> counts;
  for (const Holding& holding : scenario.layout.value_or(std::vector<Holding>())) {
    const bool is_its = std::ranges::find(holding.services, service) != holding.services.end();
    if (is_its) ++counts[scenario.model_of(holding.slice.gpu).name];
  }
  const auto most = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
  return most == counts.end() ? "" : most->first;
}

}  // namespace

bool is_enforced(const ServiceSpec& service) {
  return !service.is_absent && (service.tier.is_auto || !service.tier.known_on.empty());
}

Enforcement::Enforcement(const Scenario& given, bool is_on)
    : given_(given), is_on_(is_on), compute_of_(tier::hardware_compute()) {
  if (auto forest = tier::read_tier_model(given.tiers)) forest_ = std::move(*forest);
  for (std::uint32_t index = 0; index < given.services.size(); ++index) note_changed({index});
}

const ServiceSpec& Enforcement::spec(ServiceId service) const { return given_.services[service.index]; }

std::vector<ServiceId> Enforcement::services() const {
  std::vector<ServiceId> ids;
  ids.reserve(services_.size());
  for (const auto& [service, state] : services_) ids.push_back(service);
  return ids;
}

void Enforcement::note_changed(ServiceId service) {
  services_.erase(service);
  if (!is_on_ || !is_enforced(spec(service))) return;
  ask_forest(service, services_[service]);
}

bool Enforcement::knows_rows(ServiceId service, const std::string& gpu) const {
  const auto found = services_.find(service);
  return found != services_.end() && std::ranges::binary_search(known_models(service, found->second), gpu);
}

bool Enforcement::note(const TierMeasured& measured) {
  const auto found = services_.find(measured.service);
  if (found == services_.end() || !has_rows(spec(measured.service), measured.gpu)) return false;
  if (knows_rows(measured.service, measured.gpu)) return false;
  State& state = found->second;
  state.kept.measured.insert(measured.gpu);
  state.offers.clear();
  state.rows.reset();
  ask_forest(measured.service, state);
  state.is_due = true;
  if (state.kept.last && state.kept.last->gpu == measured.gpu) state.kept.last->is_predicted = false;
  return true;
}

void Enforcement::note_speed(ServiceId service) {
  const auto found = services_.find(service);
  if (found == services_.end()) return;
  found->second.offers.clear();
  found->second.rows.reset();
  found->second.is_due = true;
}

void Enforcement::ask_forest(ServiceId service, State& state) const {
  state.speeds.reset();
  if (forest_) state.speeds = tier::forest_speeds(*forest_, spec(service).table, known_models(service, state));
}

// ---- the rows that are seen

std::vector<std::string> Enforcement::known_models(ServiceId service, const State& state) const {
  const TierRule& rule = spec(service).tier;
  std::set<std::string> known(rule.known_on.begin(), rule.known_on.end());
  if (rule.known_on.empty()) {
    for (const PerformancePoint& point : spec(service).table.points) known.insert(point.gpu);
    for (const Variant& variant : spec(service).variants) {
      for (const PerformancePoint& point : variant.table.points) known.insert(point.gpu);
    }
  }
  known.insert(state.kept.measured.begin(), state.kept.measured.end());
  return {known.begin(), known.end()};
}

ServiceSpec Enforcement::rows_seen(ServiceId service, const State& state, double sure) const {
  ServiceSpec seen = spec(service);
  seen.tier.gpu.clear();
  if (seen.tier.known_on.empty()) return profile::at_speed(std::move(seen), service, given_.speeds);
  const std::vector<std::string> known = known_models(service, state);
  const tier::RowPrediction prediction{
      .sure = sure, .compute_of = compute_of_, .forest = state.speeds ? &*state.speeds : nullptr};
  std::set<std::string> predicted;
  const auto replace = [&](PerformanceTable& table) {
    tier::SeenRows rows = tier::seen_rows(table, known, prediction);
    table = std::move(rows.table);
    predicted.insert(rows.predicted_on.begin(), rows.predicted_on.end());
  };
  replace(seen.table);
  for (Variant& variant : seen.variants) replace(variant.table);
  seen.tier.predicted_on.assign(predicted.begin(), predicted.end());
  return profile::at_speed(std::move(seen), service, given_.speeds);
}

ServiceSpec Enforcement::seen_spec(ServiceId service) const {
  const State& state = services_.at(service);
  ServiceSpec seen = rows_seen(service, state, sure_enough(given_));
  seen.tier.gpu = spec(service).tier.is_auto ? state.kept.memory.gpu : spec(service).tier.gpu;
  if (spec(service).tier.is_auto && !spec(service).running.replicas) leave_out_dear(seen);
  return seen;
}

void Enforcement::leave_out_dear(ServiceSpec& seen) const {
  const auto entry =
      std::ranges::find_if(given_.fleet, [&](const FleetEntry& each) { return each.model.name == seen.tier.gpu; });
  if (entry == given_.fleet.end()) return;
  std::set<std::string> dear;
  for (const ProfileId profile :
       dear_profiles(entry->model, priced_profiles(given_, seen, *entry), tier::kSavingShare)) {
    dear.insert(profile_name(entry->model, profile));
  }
  const auto is_dear = [&](const PerformancePoint& point) {
    return point.gpu == seen.tier.gpu && dear.contains(point.profile);
  };
  std::erase_if(seen.table.points, is_dear);
  for (Variant& variant : seen.variants) std::erase_if(variant.table.points, is_dear);
}

// ---- choosing models

std::vector<tier::TierOffer> Enforcement::offers_of(ServiceId service, const State& state) const {
  const std::vector<std::string> known = known_models(service, state);
  const std::vector<FleetEntry> models = models_of(given_);
  std::vector<tier::TierOffer> offers;
  for (const FleetEntry& entry : models) {
    tier::TierOffer& offer = offers.emplace_back();
    offer.gpu = entry.model.name;
    offer.gpus = entry.count;
    offer.has_rows = has_rows(spec(service), entry.model.name);
    offer.is_predicted = !std::ranges::binary_search(known, entry.model.name);
  }
  for (const double sure : levels_with(sure_enough(given_))) {
    const ServiceSpec seen = rows_seen(service, state, sure);
    for (std::size_t index = 0; index < models.size(); ++index) {
      tier::TierOffer& offer = offers[index];
      if (!offer.has_rows || (!offer.is_predicted && !offer.levels.empty())) continue;
      offer.levels.push_back(
          {.sure = offer.is_predicted ? sure : 1, .offers = slice_offers(given_, seen, models[index])});
    }
  }
  return offers;
}

double Enforcement::slices_carry(ServiceId service, State& state, const Snapshot& snapshot) const {
  if (!state.rows) state.rows = rows_seen(service, state, sure_enough(given_));
  double sum = 0;
  std::map<std::pair<std::string, ProfileId>, double> rates;
  for (const StandingSlice& standing : snapshot.staying()) {
    const std::vector<ServiceId>& holders = standing.holding.services;
    if (standing.holding.role != Role::kInference || std::ranges::find(holders, service) == holders.end()) continue;
    const GpuModel& model = given_.model_of(standing.holding.slice.gpu);
    if (model.name != state.kept.memory.gpu) continue;
    const ProfileId profile = standing.holding.slice.profile;
    const auto [rate, is_new] = rates.try_emplace({model.name, profile}, 0);
    if (is_new) rate->second = planner::planned_rate(given_, *state.rows, model, profile);
    sum += rate->second / static_cast<double>(holders.size());
  }
  return sum;
}

std::optional<TierChoice> Enforcement::choose_for(ServiceId service, State& state, const Snapshot& snapshot) const {
  const ServiceSpec& given = spec(service);
  if (!given.tier.is_auto || given_.fleet.empty()) return std::nullopt;
  if (state.offers.empty()) state.offers = offers_of(service, state);
  if (state.kept.memory.gpu.empty() && snapshot.is_before_first_layout()) {
    state.kept.memory.gpu = model_in_layout(given_, service);
  }
  const std::vector<double> rates = minute_rates(snapshot.services[service.index], given, snapshot.now);
  tier::TierQuestion question{
      .tiers = state.offers, .rates = rates, .sure = sure_enough(given_), .now = snapshot.now, .is_short = false};
  if (!state.kept.memory.gpu.empty() && !snapshot.is_before_first_layout()) {
    question.is_short = rates.back() > slices_carry(service, state, snapshot);
  }
  auto choice = tier::choose_tier(question, state.kept.memory);
  if (!choice) return choice;
  choice->service = service;
  state.kept.last = choice;
  return choice;
}

std::vector<TierChoice> Enforcement::choose(const Snapshot& snapshot) {
  const std::int64_t minute = snapshot.now.second() / kMinuteSeconds;
  const bool is_new_minute = looked_at_minute_ != minute;
  looked_at_minute_ = minute;
  std::vector<TierChoice> choices;
  for (auto& [service, state] : services_) {
    if (!std::exchange(state.is_due, false) && !is_new_minute) continue;
    if (auto choice = choose_for(service, state, snapshot)) choices.push_back(std::move(*choice));
  }
  return choices;
}

const TierChoice* Enforcement::choice_for(ServiceId service) const {
  const auto found = services_.find(service);
  return found == services_.end() || !found->second.kept.last ? nullptr : &*found->second.kept.last;
}

std::string Enforcement::remark_on(ServiceId service) const {
  const auto found = services_.find(service);
  if (found == services_.end()) return {};
  const State& state = found->second;
  const std::string name = service_label(given_, service);
  std::string remark;
  std::string gpu = spec(service).tier.gpu;
  if (state.kept.last) {
    gpu = state.kept.last->gpu;
    remark = fmt::format("; {} is on {}: {} (probability {:.3g})", name, gpu, state.kept.last->reason,
                         state.kept.last->probability);
  }
  const std::vector<std::string> known = known_models(service, state);
  if (!gpu.empty() && !std::ranges::binary_search(known, gpu)) {
    remark += fmt::format("; the rates of {} on {} are predicted", name, gpu);
  }
  return remark;
}

// ---- memory

template <class Archive, class Self>
void Enforcement::archive_services(Archive& archive, Self& self) {
  archive(self.looked_at_minute_);
  std::size_t count = self.services_.size();
  archive(count);
  if (!archive.require(count == self.services_.size())) return;
  for (auto& [service, state] : self.services_) {
    archive(state.is_due, state.kept.measured, state.kept.memory, state.kept.last);
  }
}

void Enforcement::save(ArchiveWriter& archive) const { archive_services(archive, *this); }

void Enforcement::load(ArchiveReader& archive) {
  archive_services(archive, *this);
  if (!archive.require(true)) return;
  for (auto& [service, state] : services_) ask_forest(service, state);
}

}  // namespace berth
