#include "surface/up_metrics/up_families.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/core/nearest_double.h"
#include "domain/values/gpu.h"
#include "live/session/object_names.h"
#include "live/session/plan_log.h"
#include "live/session/promise_book.h"
#include "live/session/usage_text.h"

namespace berth::metrics {
namespace {

constexpr double kMicrosPerUnit = 1e6;
/// The states of GPUs that a live fleet has: health and scheduling.
constexpr std::array kHealths = {GpuHealth::kOk, GpuHealth::kLost};
constexpr std::array kSchedulings = {GpuScheduling::kOpen, GpuScheduling::kCordoned, GpuScheduling::kDraining};

/// More than all series that do not grow with the fleet, the services or the routes: 3 histograms of times, plans and
/// their actions, the process, a collector's items, unowned cost, the sums of the rest.
constexpr std::size_t kFixedSeries = 200;

std::string_view word(GpuHealth health) { return health == GpuHealth::kOk ? "ok" : "lost"; }

double number(std::int64_t count) { return static_cast<double>(count); }
double number(bool is_so) { return is_so ? 1 : 0; }

// ---- planner and process

void put_planner(FamilySet& out, const MetricsView& view, const ProcessFigures& process) {
  for (std::size_t phase = 0; phase < view.plans.plans.size(); ++phase) {
    out.add(Metric::kPlans, {live::word(static_cast<live::PlanPhase>(phase))}, number(view.plans.plans[phase]));
  }
  out.add(Metric::kPlanSolve, {}, process.solves);
  if (view.plan_gap) out.add(Metric::kPlanGap, {}, *view.plan_gap);
  if (view.planned_at && view.service_count > 0) {
    out.add(Metric::kPlanAge, {}, std::max(0.0, (view.now - *view.planned_at).to_seconds()));
  }
  constexpr std::array<std::string_view, std::variant_size_v<SliceChange>> kKinds = {"create", "destroy", "assign"};
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
    for (const auto phase : {live::ActionPhase::kDone, live::ActionPhase::kFailed, live::ActionPhase::kDropped}) {
      const std::int64_t count = view.plans.actions[kind][static_cast<std::size_t>(phase)];
      out.add(Metric::kPlanActions, {kKinds[kind], live::word(phase)}, number(count));
    }
  }
  out.add(Metric::kPlanGain, {"promised"}, view.last_day.promised);
  out.add(Metric::kPlanGain, {"achieved"}, view.last_day.achieved);
  const auto& pause = view.snapshot.pause;
  const bool is_failed = pause && pause->reason == live::kPromisesFailed;
  out.add(Metric::kPlanningPaused, {"operator"}, number(pause.has_value() && !is_failed));
  out.add(Metric::kPlanningPaused, {"promises_failed"}, number(is_failed));
}

void put_process(FamilySet& out, const MetricsView& view, const ProcessFigures& process) {
  out.add(Metric::kWorldSecond, {}, number(view.world_second));
  out.add(Metric::kStep, {}, process.steps);
  out.add(Metric::kJournalCommit, {}, process.commits);
  out.add(Metric::kReadOnly, {}, number(process.is_read_only));
  for (const MetricSample& sample : process.http) out.add(Metric::kHttpRequest, sample);
  for (const OtlpCount& count : process.otlp) {
    out.add(Metric::kOtlpItems, {count.signal, count.outcome}, number(count.items));
  }
  out.add(Metric::kBuildInfo, {process.version}, 1.0);
  if (!process.process) return;
  const OwnProcess& own = *process.process;
  out.add(Metric::kProcessCpu, {}, own.cpu_seconds);
  out.add(Metric::kProcessResident, {}, own.resident_bytes);
  out.add(Metric::kProcessVirtual, {}, own.virtual_bytes);
  out.add(Metric::kProcessStart, {}, own.start_seconds);
  out.add(Metric::kProcessOpenFiles, {}, own.open_files);
  if (own.max_files) out.add(Metric::kProcessMaxFiles, {}, *own.max_files);
}

// ---- services

/// Adds samples of one service, or of the rest of them.
class ServiceSamples {
 public:
  /// `name`: absent for the rest.
  ServiceSamples(FamilySet& out, const live::ServiceName* name) : out_(out), name_(name) {}

  template <class Value>
  void put(Metric metric, Value value) {
    if (name_ == nullptr) return out_.add_rest(metric, {"", ""}, std::move(value));
    out_.add(metric, {name_->tenant, name_->name}, std::move(value));
  }
  template <class Value>
  void put(Metric metric, std::string_view label, Value value) {
    if (name_ == nullptr) return out_.add_rest(metric, {"", "", label}, std::move(value));
    out_.add(metric, {name_->tenant, name_->name, label}, std::move(value));
  }

  void put_totals(const ServiceTotals& totals, std::int64_t world_second) {
    put(Metric::kServiceRequests, number(totals.requests));
    put(Metric::kServiceAnswers, "in_time", number(totals.in_time));
    put(Metric::kServiceAnswers, "late", number(totals.late));
    put(Metric::kServiceAnswers, "dropped", number(totals.dropped));
    put(Metric::kServiceAccuracy, number(totals.accuracy_sum_micro) / kMicrosPerUnit);
    if (totals.knows_batches) put(Metric::kServiceBatches, number(totals.batches));
    put(Metric::kServiceLatency, totals.histogram());
    if (totals.second == world_second - 1) put(Metric::kServiceQueue, number(totals.queued));
  }
  void put_forecasts(const std::optional<live::ForecastSums>& forecasts) {
    if (!forecasts) return;
    put(Metric::kForecastJudged, number(forecasts->judged));
    put(Metric::kForecastInside, "0.8", forecasts->inside_80);
    put(Metric::kForecastInside, "0.95", forecasts->inside_95);
  }

 private:
  FamilySet& out_;
  const live::ServiceName* name_;
};

void put_listed(FamilySet& out, const ListedService& service) {
  const live::ServiceName& name = service.name;
  ServiceSamples samples(out, &name);
  if (service.capacity) samples.put(Metric::kServiceCapacity, *service.capacity);
  if (service.objective) samples.put(Metric::kServiceObjective, *service.objective);
  if (service.waits) samples.put(Metric::kServiceWaiting, *service.waits, 1.0);
  for (const PlaceFactor& each : service.calibration.factors) {
    out.add(Metric::kServiceSpeedFactor, {name.tenant, name.name, each.model, each.profile}, each.factor);
  }
  samples.put_forecasts(service.calibration.forecasts);
}

/// The label sets that gpus and slices of a fleet can have.
std::size_t fleet_series(const Scenario& fleet) {
  std::map<std::string_view, std::size_t> profiles;
  for (const FleetEntry& entry : fleet.fleet) profiles[entry.model.name] = entry.model.profiles.size() + 1;
  std::size_t series = 0;
  for (const auto& [model, count] : profiles) series += kHealths.size() * kSchedulings.size() + count * kSliceStates;
  return series;
}

Scenario fleet_of(Scenario scenario) {
  scenario.services.clear();
  scenario.layout.reset();
  return scenario;
}

}  // namespace

SeriesShares SeriesShares::of(std::size_t series_max, const Scenario& fleet) {
  constexpr std::size_t kHttpPart = 8;
  constexpr std::size_t kFleetPart = 4;
  SeriesShares shares{.http = series_max / kHttpPart, .fleet = std::min(series_max / kFleetPart, fleet_series(fleet))};
  shares.services = series_max - kFixedSeries - shares.http - shares.fleet;
  return shares;
}

UpFamilies::UpFamilies(const Scenario& scenario, bool knows_load, std::size_t fleet_series_max)
    : scenario_(fleet_of(scenario)), knows_load_(knows_load), fleet_budget_(fleet_series_max), costs_(scenario_) {}

std::vector<MetricFamily> UpFamilies::make(const MetricsView& view, const ProcessFigures& process) {
  FamilySet out;
  scenario_.services = view.services;
  put_gpus(out, view);
  put_slices(out, view);
  put_time(out, view);
  put_cost(out, view);
  put_services(out, view);
  put_planner(out, view, process);
  put_process(out, view, process);
  scenario_.services.clear();  // else it holds tables of services that are gone
  return out.take();
}

// ---- the fleet

void UpFamilies::put_limited(FamilySet& out, Metric metric, std::vector<std::string> labels, double value,
                             double& rest) {
  const std::pair key{metric, std::move(labels)};
  if (!fleet_labels_.admit(key, fleet_budget_, 1)) {
    rest += value;
    return;
  }
  out.add(metric, {key.second[0], key.second[1], key.second[2]}, value);
}

void UpFamilies::put_gpus(FamilySet& out, const MetricsView& view) {
  std::map<std::string, std::array<std::array<std::int64_t, kSchedulings.size()>, kHealths.size()>> counts;
  std::uint32_t gpu = 0;
  for (const FleetEntry& entry : scenario_.fleet) {
    auto& of_model = counts[entry.model.name];
    for (std::int64_t i = 0; i < entry.count; ++i, ++gpu) {
      const bool is_known = gpu < view.snapshot.gpus.size();
      const GpuHealth health = is_known ? view.snapshot.gpus[gpu].health : GpuHealth::kOk;
      const GpuScheduling scheduling = is_known ? view.snapshot.gpus[gpu].scheduling : GpuScheduling::kOpen;
      const auto place = static_cast<std::size_t>(scheduling);
      if (place < kSchedulings.size()) ++of_model[static_cast<std::size_t>(health)][place];
    }
  }
  double rest = 0;
  for (const auto& [model, of_model] : counts) {
    for (const GpuHealth health : kHealths) {
      for (const GpuScheduling scheduling : kSchedulings) {
        const std::int64_t count = of_model[static_cast<std::size_t>(health)][static_cast<std::size_t>(scheduling)];
        put_limited(out, Metric::kGpus, {model, std::string(word(health)), std::string(live::word(scheduling))},
                    number(count), rest);
      }
    }
  }
  if (rest > 0) out.add_rest(Metric::kGpus, {"", "", ""}, rest);
}

void UpFamilies::put_slices(FamilySet& out, const MetricsView& view) {
  std::map<std::pair<std::string, std::string>, SliceCounts> counts;
  for (std::size_t entry = 0; entry < scenario_.fleet.size(); ++entry) {
    const GpuModel& model = scenario_.fleet[entry].model;
    for (std::size_t place = 0; place < view.slices[entry].size(); ++place) {
      const bool is_full = place == model.profiles.size();
      const ProfileId profile = is_full ? ProfileId::full() : ProfileId{static_cast<std::uint16_t>(place)};
      SliceCounts& sum = counts[{model.name, profile_name(model, profile)}];
      for (std::size_t state = 0; state < sum.size(); ++state) sum[state] += view.slices[entry][place][state];
    }
  }
  double rest = 0;
  for (const auto& [key, states] : counts) {
    for (std::size_t state = 0; state < states.size(); ++state) {
      if (states[state] == 0) continue;
      const std::string_view state_word = live::word(static_cast<live::SliceState>(state));
      put_limited(out, Metric::kSlices, {key.first, key.second, std::string(state_word)}, number(states[state]), rest);
    }
  }
  if (rest > 0) out.add_rest(Metric::kSlices, {"", "", ""}, rest);
}

void UpFamilies::put_time(FamilySet& out, const MetricsView& view) const {
  out.add(Metric::kSmSeconds, {"available"}, view.sm_time.available_us / kMicrosPerUnit);
  out.add(Metric::kSmSeconds, {"allocated"}, view.sm_time.allocated_us / kMicrosPerUnit);
  if (knows_load_) {
    out.add(Metric::kSmSeconds, {"busy"}, view.sm_time.busy_us / kMicrosPerUnit);
    out.add(Metric::kSmSeconds, {"effective"}, view.sm_time.effective_us / kMicrosPerUnit);
  }
  for (std::size_t state = 0; state < view.gpu_seconds.size(); ++state) {
    out.add(Metric::kGpuSeconds, {live::usage_word(static_cast<live::UsageState>(state))}, view.gpu_seconds[state]);
  }
}

void UpFamilies::put_cost(FamilySet& out, const MetricsView& view) {
  using Key = std::pair<std::string_view, ledger::Role>;  // a tenant; empty: unowned
  std::map<Key, double> costs;
  std::map<ledger::Role, double> rest;
  std::set<std::string, std::less<>> owners = view.tenants;
  owners.insert({"", "foreign"});
  std::uint32_t gpu = 0;
  for (const FleetEntry& entry : scenario_.fleet) {
    if (!entry.usd_per_gpu_hour) return;
    const double usd = nearest_double(*entry.usd_per_gpu_hour);
    for (std::int64_t i = 0; i < entry.count; ++i, ++gpu) {
      const auto parts = live::usage_parts(view.snapshot, scenario_, {gpu}, view.foreign);
      for (const ledger::CostShare& share : costs_.of({gpu}, parts)) {
        const auto owner = owners.find(ledger::CostShares::payer(share, parts));
        double& sum = owner == owners.end() ? rest[share.role] : costs[{*owner, share.role}];
        sum += usd * number(share.weight) / number(share.whole);
      }
    }
  }
  for (const auto& [key, usd] : costs) out.add(Metric::kCost, {key.first, ledger::name_of(key.second)}, usd);
  for (const auto& [role, usd] : rest) out.add_rest(Metric::kCost, {"", ledger::name_of(role)}, usd);
}

void UpFamilies::put_services(FamilySet& out, const MetricsView& view) const {
  for (const ListedService& service : view.listed) {
    if (knows_load_) ServiceSamples(out, &service.name).put_totals(service.totals, view.world_second);
    put_listed(out, service);
  }
  if (!view.rest) return;
  ServiceSamples rest(out, nullptr);
  if (knows_load_) rest.put_totals(view.rest->totals, view.world_second);
  rest.put(Metric::kServiceCapacity, view.rest->capacity);
  rest.put_forecasts(view.rest->forecasts);
}

}  // namespace berth::metrics
