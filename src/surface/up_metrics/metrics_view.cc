#include "surface/up_metrics/metrics_view.h"

#include <algorithm>
#include <utility>

#include "base/core/nearest_double.h"
#include "live/session/live_figures.h"
#include "live/session/lost_slices.h"
#include "live/session/plan_log.h"
#include "live/session/session.h"

namespace berth::metrics {
namespace {

constexpr Micros kDay = Micros::seconds(std::int64_t{24} * 3600);

/// Requests per second of slices of one service: neighbours are mostly alike, and then nothing is looked up.
class RateMemory {
 public:
  explicit RateMemory(const live::Session& session) : figures_(session.figures()) {}

  [[nodiscard]] double rate_on(ServiceId service, std::size_t entry, const StandingSlice& slice) {
    if (service.index >= latest_.size()) latest_.resize(service.index + std::size_t{1});
    Latest& latest = latest_[service.index];
    const bool is_same = latest.entry == entry && latest.profile == slice.holding.slice.profile &&
                         latest.point == slice.point && latest.holders == slice.holding.services.size();
    if (is_same) return latest.rate;
    latest = {.entry = entry,
              .profile = slice.holding.slice.profile,
              .point = slice.point,
              .holders = slice.holding.services.size(),
              .rate = figures_.rate_on(service, slice)};
    return latest.rate;
  }

 private:
  struct Latest {
    std::size_t entry = SIZE_MAX;
    ProfileId profile;
    std::optional<PointChoice> point;
    std::size_t holders = 0;
    double rate = 0;
  };
  const live::LiveFigures& figures_;
  std::vector<Latest> latest_;  ///< by ServiceId
};

/// The entries of the fleet by GPU, for GPUs that ascend.
class EntryOfGpu {
 public:
  explicit EntryOfGpu(const Scenario& fleet) : fleet_(fleet) {}
  [[nodiscard]] std::size_t operator()(GpuId gpu) {
    while (static_cast<std::int64_t>(gpu.index) >= first_ + fleet_.fleet[entry_].count) {
      first_ += fleet_.fleet[entry_++].count;
    }
    return entry_;
  }

 private:
  const Scenario& fleet_;
  std::size_t entry_ = 0;
  std::int64_t first_ = 0;  ///< the first GPU of the entry
};

void count_slice(MetricsView& view, std::size_t entry, ProfileId profile, live::SliceState state) {
  std::vector<SliceCounts>& profiles = view.slices[entry];
  const std::size_t place = profile.is_full() ? profiles.size() - 1 : profile.index;
  ++profiles[place][static_cast<std::size_t>(state)];
}

/// Counts the slices; returns what those that serve can answer, by service.
std::vector<double> read_slices(const live::Session& session, MetricsView& view) {
  const Scenario& scenario = session.scenario();
  for (const FleetEntry& entry : scenario.fleet) view.slices.emplace_back(entry.model.profiles.size() + 1);
  std::vector<double> capacities(scenario.services.size());
  RateMemory rates(session);
  EntryOfGpu entry_of(scenario);
  const auto& slices = session.snapshot().slices;
  for (auto it = slices.begin(); it != slices.end(); ++it) {
    const Holding& holding = it->holding;
    const std::size_t entry = entry_of(holding.slice.gpu);
    count_slice(view, entry, holding.slice.profile, session.slice_state(it.index()));
    if (it->is_leaving || !it->is_ready || holding.role != Role::kInference) continue;
    for (const ServiceId service : holding.services) {
      if (service.index < capacities.size()) capacities[service.index] += rates.rate_on(service, entry, *it);
    }
  }
  EntryOfGpu lost_entry_of(scenario);
  for (const live::LostSlice* lost : session.lost_slices().all(session.snapshot())) {
    const Slice& slice = lost->slice.holding.slice;
    count_slice(view, lost_entry_of(slice.gpu), slice.profile, live::SliceState::kLost);
  }
  return capacities;
}

void add_forecasts(std::optional<live::ForecastSums>& sum, const std::optional<live::ForecastSums>& more) {
  if (!more) return;
  if (!sum) sum.emplace();
  sum->judged += more->judged;
  sum->inside_80 += more->inside_80;
  sum->inside_95 += more->inside_95;
}

void read_services(const live::Session& session, MetricsBook& book, const std::vector<double>& capacities,
                   MetricsView& view) {
  view.listed.reserve(book.listed().size());
  for (const MetricsBook::Listed& each : book.listed()) {
    view.listed.push_back({.name = each.name, .totals = each.totals});
  }
  if (book.rest()) view.rest = RestOfServices{.totals = *book.rest()};
  for (const auto& [name, service] : session.catalog().services) {
    const auto place = book.place_of(name);
    Calibration calibration = calibration_of(session, service.id);
    if (!place) {
      view.rest->capacity += capacities[service.id.index];
      add_forecasts(view.rest->forecasts, calibration.forecasts);
      continue;
    }
    ListedService& listed = view.listed[*place];
    listed.capacity = capacities[service.id.index];
    const auto& agreed = session.scenario().services[service.id.index].agreed.attainment;
    if (agreed) listed.objective = nearest_double(*agreed);
    listed.waits = session.watch().waits_because(service.id);
    std::erase_if(calibration.factors,
                  [&](const PlaceFactor& each) { return !book.admit_factor(name, each.model, each.profile); });
    listed.calibration = std::move(calibration);
  }
}

void read_plans(const live::Session& session, MetricsView& view) {
  view.plans = session.plans().counts();
  const auto& plans = session.plans().plans();
  if (!plans.empty()) view.plan_gap = live::gap_of(*plans.back().plan);
  view.planned_at = session.planned_at();
  view.last_day = session.promises().sums(session.now(), kDay);
}

}  // namespace

Calibration calibration_of(const live::Session& session, ServiceId service) {
  Calibration calibration;
  const SpeedFactors& speeds = session.scenario().speeds;
  for (auto it = speeds.lower_bound({.service = service, .gpu = {}, .profile = {}});
       it != speeds.end() && it->first.service == service; ++it) {
    const auto& [place, speed] = *it;
    calibration.factors.push_back(
        {.model = place.gpu, .profile = place.profile, .factor = nearest_double(speed.factor)});
  }
  const live::ForecastSums forecasts = session.forecasts().totals(service);
  if (forecasts.judged > 0) calibration.forecasts = forecasts;
  return calibration;
}

MetricsView read_metrics_view(const live::Session& session, MetricsBook& book) {
  book.admit(session);
  MetricsView view{.world_second = session.figured_second(), .now = session.now(), .snapshot = session.snapshot()};
  view.foreign = session.usage().foreign();
  view.services = session.scenario().services;
  view.service_count = session.catalog().services.size();
  read_services(session, book, read_slices(session, view), view);
  view.sm_time = book.fleet();
  view.gpu_seconds = book.gpu_seconds(session.usage(), view.world_second);
  view.tenants = book.tenants();
  read_plans(session, view);
  return view;
}

}  // namespace berth::metrics
