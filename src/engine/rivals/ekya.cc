#include "engine/rivals/ekya.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/core/archive.h"
#include "base/core/instant.h"
#include "engine/rivals/detail/even_search.h"
#include "engine/rivals/detail/fleet_search.h"
#include "engine/rivals/detail/fleet_view.h"
#include "engine/rivals/detail/open_gpus.h"
#include "engine/rivals/detail/service_forecasts.h"
#include "engine/rivals/detail/service_now.h"
#include "engine/rivals/detail/thief.h"
#include "engine/rivals/detail/variant_rates.h"

namespace berth::partition {
namespace {

using detail::FleetPlan;
using detail::FleetSearch;
using detail::FleetView;
using detail::JobRates;
using detail::QuantaShare;
using detail::ServiceNow;
using detail::Share;

/// The value to a service of a number of quanta of its model: the best slices for those quanta.
struct QuantaCurve {
  std::vector<double> rate;        ///< [quanta], requests per second
  std::vector<double> retraining;  ///< [quanta], seconds of a whole one; 0: cannot
};

/// The model with the most quanta that can serve the service.
int model_for(const FleetView& fleet, const JobRates& rates, int service) {
  int best = 0;
  double best_quanta = -1;
  for (int model = 0; model < static_cast<int>(fleet.models.size()); ++model) {
    const auto& by_kind = rates.requests_per_second[model];
    const bool serves = std::ranges::any_of(by_kind, [&](const auto& row) { return row[service] > 0; });
    const double quanta = rates.quanta[model].back() * static_cast<double>(fleet.models[model].gpus.size());
    if (!serves || quanta <= best_quanta) continue;
    best = model;
    best_quanta = quanta;
  }
  return best;
}

QuantaCurve curve_of(const FleetView& fleet, const JobRates& rates, int service, int quanta_max, double quantum) {
  const int model = model_for(fleet, rates, service);
  QuantaCurve curve{std::vector<double>(quanta_max + 1, 0), std::vector<double>(quanta_max + 1, 0)};
  for (int quanta = 1; quanta <= quanta_max; ++quanta) {
    curve.rate[quanta] = curve.rate[quanta - 1];
    curve.retraining[quanta] = curve.retraining[quanta - 1];
    for (std::size_t kind = 0; kind < fleet.models[model].map.kinds.size(); ++kind) {
      const int needed = std::max(1, static_cast<int>(std::lround(rates.quanta[model][kind] / quantum)));
      if (needed > quanta) continue;
      const double rate = rates.requests_per_second[model][kind][service];
      curve.rate[quanta] = std::max(curve.rate[quanta], curve.rate[quanta - needed] + rate);
      const double seconds = rates.retraining_seconds[model][kind][service];
      if (seconds > 0 && (curve.retraining[quanta] <= 0 || seconds < curve.retraining[quanta])) {
        curve.retraining[quanta] = seconds;
      }
    }
  }
  return curve;
}

double quanta_in(const FleetView& fleet, const JobRates& rates) {
  double quanta = 0;
  for (std::size_t model = 0; model < fleet.models.size(); ++model) {
    quanta += rates.quanta[model].back() * static_cast<double>(fleet.models[model].gpus.size());
  }
  return quanta;
}

/// The thief's decision: quanta in compute slices, and each service's variant.
struct StolenQuanta {
  double fleet_quanta = 0;
  std::vector<double> inference;
  std::vector<double> retraining;
  std::vector<int> variants;
};

struct ThiefTerms {
  double horizon_seconds = 200;
  int quanta_max = 1;
};

/// The thief and its choice of configurations: for the quanta of a service the best variant.
class ThiefScheduler {
 public:
  ThiefScheduler(const FleetView& fleet, const std::vector<JobRates>& rates, const std::vector<ServiceNow>& services,
                 const std::vector<int>& variants_now, const ThiefTerms& terms)
      : fleet_(fleet),
        rates_(rates),
        services_(services),
        variants_now_(variants_now),
        horizon_seconds_(terms.horizon_seconds) {
    const double quanta = quanta_in(fleet, rates.front());
    quantum_ = std::max(1.0, quanta / terms.quanta_max);
    quanta_ = static_cast<int>(std::lround(quanta / quantum_));
    curves_.resize(rates.size());
    for (std::size_t variant = 0; variant < rates.size(); ++variant) {
      for (int service = 0; service < fleet.service_count; ++service) {
        curves_[variant].push_back(curve_of(fleet, rates[variant], service, quanta_, quantum_));
      }
    }
  }

  [[nodiscard]] StolenQuanta run() const {
    detail::ThiefProblem problem;
    problem.quanta = quanta_;
    problem.may_retrain = detail::due_services(services_);
    problem.value = [this](int service, const QuantaShare& share) { return pick(service, share).value; };
    const std::vector<QuantaShare> shares = detail::steal_quanta(problem);
    StolenQuanta stolen{
        .fleet_quanta = quanta_in(fleet_, rates_.front()), .inference = {}, .retraining = {}, .variants = {}};
    for (int service = 0; service < fleet_.service_count; ++service) {
      stolen.inference.push_back(shares[service].inference * quantum_);
      stolen.retraining.push_back(shares[service].retraining * quantum_);
      stolen.variants.push_back(pick(service, shares[service]).variant);
    }
    return stolen;
  }

 private:
  struct Pick {
    double value = 0;
    int variant = 0;
  };

  /// The share of the horizon in which slices restart when a service changes its variant.
  [[nodiscard]] double restart_share(int service) const {
    return std::min(1.0, fleet_.scenario->services[service].start.to_seconds() / horizon_seconds_);
  }

  [[nodiscard]] Pick pick(int service, const QuantaShare& quanta) const {
    Pick best;
    for (int variant = 0; variant < std::ssize(services_[service].accuracies); ++variant) {
      const QuantaCurve& curve = curves_[variant][service];
      Share share;
      share.rate = curve.rate[quanta.inference];
      share.retrains = quanta.retraining > 0 && curve.retraining[quanta.retraining] > 0;
      share.retraining_seconds = curve.retraining[quanta.retraining];
      share.retraining_rate =
          curve.rate[std::min(quanta_, quanta.inference + quanta.retraining)] - curve.rate[quanta.inference];
      double value = detail::expected_value(services_[service], share, horizon_seconds_, variant);
      if (variant != variants_now_[service]) value *= 1 - restart_share(service);
      if (variant == 0 || value > best.value) best = {value, variant};
    }
    return best;
  }

  const FleetView& fleet_;
  const std::vector<JobRates>& rates_;
  const std::vector<ServiceNow>& services_;
  const std::vector<int>& variants_now_;
  double horizon_seconds_;
  double quantum_ = 1;  ///< compute slices
  int quanta_ = 0;
  std::vector<std::vector<QuantaCurve>> curves_;  ///< [variant][service]
};

double sum_over(const detail::ShareValue& value, const std::vector<Share>& shares) {
  double sum = 0;
  for (int service = 0; service < std::ssize(shares); ++service) sum += value(service, shares[service]);
  return sum;
}

/// The rates of each service's chosen variant.
JobRates chosen_rates(const std::vector<JobRates>& rates, const std::vector<int>& variants) {
  JobRates chosen = rates.front();
  for (std::size_t model = 0; model < chosen.requests_per_second.size(); ++model) {
    for (std::size_t kind = 0; kind < chosen.requests_per_second[model].size(); ++kind) {
      for (std::size_t service = 0; service < variants.size(); ++service) {
        chosen.requests_per_second[model][kind][service] =
            rates[variants[service]].requests_per_second[model][kind][service];
      }
    }
  }
  return chosen;
}

}  // namespace

class Ekya::Deciding {
 public:
  Deciding(const Scenario& scenario, const EkyaOptions& options);

  [[nodiscard]] Decision decide(const Sight& sight);

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.forecasts_, self.variants_, self.next_at_, self.was_due_);
    archive.require(self.variants_.size() == self.scenario_.services.size());
  }

 private:
  [[nodiscard]] bool is_time(const Sight& sight);
  [[nodiscard]] Decision rounded(const Sight& sight);

  const Scenario& scenario_;
  EkyaOptions options_;
  detail::FleetView fleet_;
  detail::ServiceForecasts forecasts_;
  std::vector<detail::JobRates> rates_by_variant_;  ///< [variant], as many as the service with the most has
  std::vector<int> variants_;                       ///< [service], as last chosen
  Instant next_at_;
  std::vector<char> was_due_;
};

Ekya::Ekya(const Scenario& scenario, const EkyaOptions& options)
    : deciding_(std::make_unique<Deciding>(scenario, options)) {}

Ekya::~Ekya() = default;

Decision Ekya::decide(const Sight& sight) { return deciding_->decide(sight); }

void Ekya::archive_fields(ArchiveWriter& archive, const Ekya& ekya) { archive(std::as_const(*ekya.deciding_)); }

void Ekya::archive_fields(ArchiveReader& archive, Ekya& ekya) { archive(*ekya.deciding_); }

Ekya::Deciding::Deciding(const Scenario& scenario, const EkyaOptions& options)
    : scenario_(scenario),
      options_(options),
      fleet_(detail::view_fleet(scenario)),
      forecasts_(scenario.services.size()),
      rates_by_variant_(detail::rates_by_variant(fleet_, options.capacity_factor)),
      variants_(scenario.services.size(), 0),
      was_due_(scenario.services.size(), 0) {}

bool Ekya::Deciding::is_time(const Sight& sight) {
  std::vector<char> is_due;
  is_due.reserve(was_due_.size());
  for (const ServiceState& service : sight.snapshot.services) is_due.push_back(service.is_retraining_due ? 1 : 0);
  const bool has_news = is_due != was_due_;
  was_due_ = std::move(is_due);
  const bool is_window = sight.snapshot.now >= next_at_;
  if (is_window) {
    const std::int64_t period = options_.period_seconds > 0 ? options_.period_seconds : scenario_.window_seconds;
    next_at_ = Instant::at_second((sight.snapshot.now.second() / period + 1) * period);
  }
  return is_window || has_news;
}

Decision Ekya::Deciding::decide(const Sight& sight) {
  if (const auto unservable = detail::find_unservable(fleet_, /*only_whole=*/false)) return *unservable;
  forecasts_.observe(sight.snapshot);
  if (!is_time(sight)) return {};
  return rounded(sight);
}

Decision Ekya::Deciding::rounded(const Sight& sight) {
  const auto horizon = static_cast<double>(scenario_.window_seconds);
  const std::int64_t ahead = options_.horizon_seconds > 0 ? options_.horizon_seconds : scenario_.window_seconds;
  const auto services = detail::services_now(scenario_, sight, forecasts_, ahead);
  const ThiefTerms terms{.horizon_seconds = horizon, .quanta_max = options_.quanta_max};
  const StolenQuanta wanted = ThiefScheduler(fleet_, rates_by_variant_, services, variants_, terms).run();

  const JobRates rates = chosen_rates(rates_by_variant_, wanted.variants);
  const auto predicted = [&](int service, const Share& share) {
    return detail::expected_value(services[service], share, horizon, wanted.variants[service]);
  };
  const auto predicted_nearby = [&](int service, const Share& share) {
    const double away = std::abs(share.quanta - wanted.inference[service]) +
                        std::abs(share.retraining_quanta - wanted.retraining[service]);
    return predicted(service, share) - options_.nearness_weight * away / wanted.fleet_quanta;
  };
  const std::vector<char> due = detail::due_services(services);
  const FleetSearch search(fleet_, rates, sight.snapshot, predicted_nearby, due, {});
  std::vector<FleetPlan> starts;
  const bool is_first = sight.snapshot.slices.empty();
  if (is_first) {
    auto even = detail::even_plan(fleet_);
    if (!even) return detail::no_room(fleet_);
    starts.push_back(std::move(*even));
  }
  const FleetPlan plan = search.best(starts);
  const double before = sum_over(predicted, search.shares_of(search.standing()));
  const double after = sum_over(predicted, search.shares_of(plan));
  if (!is_first && after < before + options_.gain_min) return {};
  variants_ = wanted.variants;
  Target target = detail::target_of(fleet_, plan, sight.snapshot, [&](const Slice& slice, ServiceId service) {
    return detail::point_of_variant(scenario_, slice, service, variants_[service.index]);
  });
  target.reason = {.text = "thief scheduler: predicted objective", .numbers = {{"before", before}, {"after", after}}};
  return target;
}

}  // namespace berth::partition
