#include "engine/rivals/astraea.h"

#include <algorithm>
#include <utility>

#include "base/core/archive.h"
#include "base/core/instant.h"
#include "engine/rivals/detail/even_search.h"
#include "engine/rivals/detail/fleet_search.h"
#include "engine/rivals/detail/fleet_view.h"
#include "engine/rivals/detail/open_gpus.h"
#include "engine/rivals/detail/service_forecasts.h"
#include "engine/rivals/detail/service_now.h"
#include "engine/rivals/detail/variant_rates.h"
#include "engine/rivals/retraining_rule.h"

namespace berth::partition {
namespace {

using detail::FleetPlan;
using detail::FleetSearch;
using detail::kNoOwner;
using detail::ServiceNow;
using detail::Share;

/// The cost of slices beyond the need, as a share of the objective for the whole fleet: the smallest sufficient ones
/// win.
constexpr double kThriftWeight = 0.002;
/// A running retraining is not stopped for a target that is missed by at most this.
constexpr double kRunningWeight = 4;

/// The requests per second that each service's slices must be able to serve.
std::vector<double> needs_of(const std::vector<ServiceNow>& services, double level) {
  std::vector<double> needs;
  needs.reserve(services.size());
  for (const ServiceNow& service : services) {
    needs.push_back(std::max(service.demand.quantile(level), service.demand.mean()) + service.backlog_rate);
  }
  return needs;
}

/// The gain of a finished retraining until the next due time, as a share of the service's worth.
double retraining_gain(const ServiceNow& service, const Share& share) {
  const double done = detail::retraining_done_seconds(service, share);
  if (done >= service.next_due_seconds) return 0;
  const ServiceNow::Accuracies& accuracy = service.accuracies.front();
  return (accuracy.after - accuracy.before) * (1 - done / service.next_due_seconds);
}

double sms_of(const detail::FleetView& fleet) {
  double sms = 0;
  for (const detail::ModelView& view : fleet.models) {
    sms += static_cast<double>(view.model->sms) * static_cast<double>(view.gpus.size());
  }
  return sms;
}

/// For each service, whether it holds a slice for its retraining.
std::vector<char> running_retrainings(const Snapshot& snapshot) {
  std::vector<char> runs(snapshot.services.size(), 0);
  for (const StandingSlice& standing : snapshot.slices) {
    if (standing.holding.role == Role::kRetraining) runs[standing.holding.services.front().index] = 1;
  }
  return runs;
}

bool retrains_in(const detail::FleetView& fleet, const FleetPlan& plan, int service) {
  return std::ranges::any_of(plan, [&](const detail::GpuPlan& gpu) {
    return std::ranges::find(gpu.owners, retraining_owner(fleet, service)) != gpu.owners.end();
  });
}

}  // namespace

class Astraea::Deciding {
 public:
  Deciding(const Scenario& scenario, const AstraeaOptions& options);

  [[nodiscard]] Decision decide(const Sight& sight);

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.forecasts_, self.next_at_, self.was_due_);
  }

 private:
  [[nodiscard]] bool has_retraining_news(const Snapshot& snapshot);
  [[nodiscard]] Decision decide_now(const Sight& sight, bool is_news);
  [[nodiscard]] bool is_at_risk(const std::vector<detail::Share>& shares, const std::vector<double>& needs) const;
  void give_spare(detail::FleetPlan& plan, const detail::FleetSearch& search,
                  const std::vector<detail::ServiceNow>& services) const;
  /// The expected objective over a window.
  [[nodiscard]] double predicted(const std::vector<detail::ServiceNow>& services,
                                 const std::vector<detail::Share>& shares) const;
  /// For each plan, adds one in which retrainings without a slice borrow one.
  void add_lending(std::vector<detail::FleetPlan>& plans, const std::vector<detail::ServiceNow>& services) const;
  void lend(detail::FleetPlan& plan, const std::vector<detail::ServiceNow>& services) const;

  const Scenario& scenario_;
  AstraeaOptions options_;
  detail::FleetView fleet_;
  detail::ServiceForecasts forecasts_;
  detail::JobRates rates_;
  Instant next_at_;
  std::vector<char> was_due_;
};

Astraea::Astraea(const Scenario& scenario, const AstraeaOptions& options)
    : deciding_(std::make_unique<Deciding>(scenario, options)) {}

Astraea::~Astraea() = default;

Decision Astraea::decide(const Sight& sight) { return deciding_->decide(sight); }

void Astraea::archive_fields(ArchiveWriter& archive, const Astraea& astraea) {
  archive(std::as_const(*astraea.deciding_));
}

void Astraea::archive_fields(ArchiveReader& archive, Astraea& astraea) { archive(*astraea.deciding_); }

Astraea::Deciding::Deciding(const Scenario& scenario, const AstraeaOptions& options)
    : scenario_(scenario),
      options_(options),
      fleet_(detail::view_fleet(scenario)),
      forecasts_(scenario.services.size()),
      rates_(detail::rates_by_variant(fleet_, options.capacity_factor).front()),
      was_due_(scenario.services.size(), 0) {}

bool Astraea::Deciding::has_retraining_news(const Snapshot& snapshot) {
  std::vector<char> is_due;
  is_due.reserve(was_due_.size());
  for (const ServiceState& service : snapshot.services) is_due.push_back(service.is_retraining_due ? 1 : 0);
  const bool has_news = is_due != was_due_;
  was_due_ = std::move(is_due);
  return has_news;
}

Decision Astraea::Deciding::decide(const Sight& sight) {
  if (const auto unservable = detail::find_unservable(fleet_, /*only_whole=*/false)) return *unservable;
  forecasts_.observe(sight.snapshot);
  const bool is_news = has_retraining_news(sight.snapshot);
  if (!is_news && sight.snapshot.now < next_at_) return {};
  next_at_ = sight.snapshot.now + Micros::seconds(options_.period_seconds);
  return decide_now(sight, is_news);
}

bool Astraea::Deciding::is_at_risk(const std::vector<Share>& shares, const std::vector<double>& needs) const {
  for (std::size_t service = 0; service < needs.size(); ++service) {
    if (shares[service].rate_total() < needs[service]) return true;
  }
  return false;
}

Decision Astraea::Deciding::decide_now(const Sight& sight, bool is_news) {
  const auto services = detail::services_now(scenario_, sight, forecasts_, options_.horizon_seconds);
  const std::vector<double> needs = needs_of(services, options_.target_level);
  const std::vector<char> runs = running_retrainings(sight.snapshot);
  const double fleet_sms = sms_of(fleet_);
  const auto sufficiency = [&](int service, const Share& share) {
    const ServiceNow& now = services[service];
    const double worth = now.worth * now.demand.mean();
    const double met = needs[service] > 0 ? std::min(1.0, share.rate_total() / needs[service]) : 1;
    const double retraining_weight = options_.retraining_weight * (runs[service] != 0 ? kRunningWeight : 1);
    return worth * (met + retraining_weight * retraining_gain(now, share)) - kThriftWeight * share.sms / fleet_sms;
  };
  const std::vector<char> due = detail::due_services(services);
  const FleetSearch search(fleet_, rates_, sight.snapshot, sufficiency, due, {});
  const bool is_first = sight.snapshot.slices.empty();
  const std::vector<Share> standing = search.shares_of(search.standing());
  if (!is_first && !is_news && !is_at_risk(standing, needs)) return {};

  std::vector<FleetPlan> starts;
  if (is_first) {
    auto even = detail::even_plan(fleet_);
    if (!even) return detail::no_room(fleet_);
    starts.push_back(std::move(*even));
  }
  std::vector<FleetPlan> plans = {search.best(starts)};
  give_spare(plans.front(), search, services);
  if (!is_first) plans.push_back(search.standing());
  add_lending(plans, services);
  const double before = predicted(services, standing);
  double after = is_first ? -1 : before + options_.gain_min;
  const FleetPlan* best = nullptr;
  for (const FleetPlan& plan : plans) {
    const double promised = predicted(services, search.shares_of(plan));
    if (promised < after) continue;
    after = promised;
    best = &plan;
  }
  if (best == nullptr) return {};
  Target target = detail::target_of(fleet_, *best, sight.snapshot,
                                    [](const Slice&, ServiceId) { return std::optional<PointChoice>(); });
  target.reason = {.text = "least sufficient slices: predicted objective",
                   .numbers = {{"before", before}, {"after", after}}};
  return target;
}

double Astraea::Deciding::predicted(const std::vector<ServiceNow>& services, const std::vector<Share>& shares) const {
  double sum = 0;
  for (std::size_t service = 0; service < shares.size(); ++service) {
    sum += detail::expected_value(services[service], shares[service], static_cast<double>(scenario_.window_seconds));
  }
  return sum;
}

void Astraea::Deciding::give_spare(FleetPlan& plan, const FleetSearch& search,
                                   const std::vector<ServiceNow>& services) const {
  const auto horizon = static_cast<double>(scenario_.window_seconds);
  std::vector<Share> shares = search.shares_of(plan);
  for (int gpu = 0; gpu < fleet_.gpu_count(); ++gpu) {
    const std::vector<mig::Site>& pieces = fleet_.of_gpu(gpu).partitions[plan[gpu].partition].pieces;
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
      if (plan[gpu].owners[piece] != kNoOwner) continue;
      double best_gain = 0;
      for (int service = 0; service < fleet_.service_count; ++service) {
        if (rates_.requests_per_second[fleet_.model_of[gpu]][pieces[piece].kind][service] <= 0) continue;
        const Share more = search.with_piece(shares[service], gpu, pieces[piece], service);
        const double gain = detail::expected_value(services[service], more, horizon) -
                            detail::expected_value(services[service], shares[service], horizon);
        if (gain <= best_gain) continue;
        best_gain = gain;
        plan[gpu].owners[piece] = service;
      }
      const int owner = plan[gpu].owners[piece];
      if (owner != kNoOwner) shares[owner] = search.with_piece(shares[owner], gpu, pieces[piece], owner);
    }
  }
}

void Astraea::Deciding::add_lending(std::vector<FleetPlan>& plans, const std::vector<ServiceNow>& services) const {
  const std::size_t count = plans.size();
  for (std::size_t i = 0; i < count; ++i) {
    FleetPlan lending = plans[i];
    lend(lending, services);
    if (lending != plans[i]) plans.push_back(std::move(lending));
  }
}

void Astraea::Deciding::lend(FleetPlan& plan, const std::vector<ServiceNow>& services) const {
  for (int service = 0; service < fleet_.service_count; ++service) {
    if (!services[service].is_due || retrains_in(fleet_, plan, service)) continue;
    Layout serving;
    for (const Holding& holding : detail::layout_of(fleet_, plan)) {
      if (holding.services.front().index == static_cast<std::uint32_t>(service)) serving.push_back(holding);
    }
    const auto slice = slice_to_lend(scenario_, serving, {static_cast<std::uint32_t>(service)});
    if (!slice) continue;
    const int gpu = static_cast<int>(slice->gpu.index);
    const auto& pieces = fleet_.of_gpu(gpu).partitions[plan[gpu].partition].pieces;
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
      if (pieces[piece].start == slice->start) plan[gpu].owners[piece] = retraining_owner(fleet_, service);
    }
  }
}

}  // namespace berth::partition
