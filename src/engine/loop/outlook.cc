#include "engine/loop/outlook.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "base/core/archive.h"
#include "base/core/ensure.h"
#include "domain/forecast/forecaster.h"

namespace berth {
namespace {

/// The levels of a forecast that are used as samples: the middles of five equal parts.
using SampleLevels = std::array<std::size_t, 5>;
constexpr SampleLevels kSampleLevels = {1, 3, 5, 7, 9};
/// Those of a service whose late requests are answered, too. They keep its slices busy, so a second with too little
/// capacity makes requests of the seconds after it late, which the model of a window does not know.
constexpr SampleLevels kLevelsOfLateAnswers = {3, 5, 7, 9, 10};
constexpr double kMeanRateMin = 0.001;

/// Time constant with which past seconds of the run fade from a service's mean rate. It is long compared with a window,
/// as the figures of a replay count all of it; endless runs need it, as their weights would otherwise be dominated by
/// the distant past.
constexpr double kPastFadeSeconds = 3600;
/// Time constant with which a mean rate follows its estimate: forecasts of a burst come and go within seconds, and each
/// jump in the value of an answer would move slices.
constexpr double kFollowSeconds = 20;

/// Seconds of a service that must be seen before its load is forecast, if its owner says what to expect.
constexpr std::int64_t kExpectedSeconds = 100;

/// The share of a quantity that is left after `seconds`.
double fade(std::int64_t seconds, double time_constant_seconds) {
  return std::exp(-static_cast<double>(seconds) / time_constant_seconds);
}

/// The requests per second of one service over the time on which plans are judged: the past seconds of the run, fading,
/// and those that a plan looks at. History from before second 0 is not part of it.
class JudgedRate {
 public:
  /// Requires: seconds increase; those below 0 are history.
  void observe(std::int64_t second, std::int64_t requests) {
    ++seen_seconds_;
    if (second < 0) return;
    const double kept = fade(second - last_second_, kPastFadeSeconds);
    past_requests_ = past_requests_ * kept + static_cast<double>(requests);
    past_seconds_ = past_seconds_ * kept + 1;
    last_second_ = second;
  }

  /// The rate for a plan that begins at `from_second` and expects `requests` in its `seconds`. It moves from the
  /// previous plan's rate towards the estimate, by an exponential filter of the logarithm with time constant
  /// kFollowSeconds; a plan for the same second gets the same rate. At least one request is assumed, so that no answer
  /// is worth more than the whole value of the service. Requires: requests >= 0, seconds > 0.
  [[nodiscard]] double next(std::int64_t from_second, double requests, double seconds) const {
    ENSURE(requests >= 0 && seconds > 0);
    const std::int64_t passed = from_second - asked_second_;
    if (rate_ > 0 && passed <= 0) return rate_;
    const double estimate = std::max(1.0, past_requests_ + requests) / (past_seconds_ + seconds);
    // The first forecasts of a service without history carry no information: the rate need not stay near them.
    const bool is_known = rate_ > 0 && static_cast<double>(seen_seconds_) >= kFollowSeconds;
    const double kept = is_known ? fade(passed, kFollowSeconds) : 0;
    return kept > 0 ? estimate * std::pow(rate_ / estimate, kept) : estimate;
  }

  /// `rate` is that of the plan that begins at `from_second`.
  void follow(std::int64_t from_second, double rate) {
    asked_second_ = rate_ > 0 ? std::max(asked_second_, from_second) : from_second;
    rate_ = rate;
  }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.seen_seconds_, self.past_requests_, self.past_seconds_, self.last_second_, self.rate_,
            self.asked_second_);
  }

 private:
  std::int64_t seen_seconds_ = 0;  ///< history included
  double past_requests_ = 0;       ///< of the run, faded, as are its seconds
  double past_seconds_ = 0;
  std::int64_t last_second_ = 0;
  double rate_ = 0;  ///< of the previous plan; 0: there was none
  std::int64_t asked_second_ = 0;
};

/// The requests of a second.
struct SeenSecond {
  std::int64_t second = 0;
  std::int64_t requests = 0;
};

/// A forecaster, and the last second that it has observed.
struct Learned {
  forecast::Forecaster forecaster;
  std::int64_t until = INT64_MIN;  ///< the last second that it observed

  /// Skips seconds observed before.
  void observe(const SeenSecond& seen) {
    if (seen.second <= until) return;
    forecaster.observe(seen.second, seen.requests);
    until = seen.second;
  }
};

/// The knowledge about a service when a question is posed.
struct AskedService {
  std::shared_ptr<Learned> learned;
  std::vector<SeenSecond> news;  ///< still to be learned
  JudgedRate judged;
  std::optional<double> stated;  ///< requests per second stated by its owner, while these are used
  StatedLoad stated_load = StatedLoad::kAtLeast;
  SampleLevels levels = kSampleLevels;
};

bool answers_late(const ServiceSpec& service) {
  return service.drop == DropRule::kNever || service.ready.answer.value_or(service.target) > service.target;
}

/// The quantiles to plan for in each of the seconds. Of a service that is new, forecasts have a very wide spread, but
/// their mean soon shows that more comes than its owner expected.
std::vector<forecast::Quantiles> quantiles_of(const AskedService& service, std::int64_t from_second,
                                              std::int64_t seconds) {
  const forecast::Forecaster& forecaster = service.learned->forecaster;
  if (!service.stated) return forecaster.predict(from_second, seconds);
  std::vector<forecast::Quantiles> quantiles;
  quantiles.reserve(static_cast<std::size_t>(seconds));
  if (service.stated_load == StatedLoad::kConstant) {
    quantiles.resize(static_cast<std::size_t>(seconds));
    for (forecast::Quantiles& each : quantiles) each.fill(*service.stated);
    return quantiles;
  }
  const bool is_seen = service.learned->until != INT64_MIN;
  for (const double mean : forecaster.means(from_second, seconds)) {
    const double expected = is_seen ? std::max(*service.stated, mean) : *service.stated;
    forecast::Quantiles& each = quantiles.emplace_back(forecast::poisson_quantiles(expected));
    // A load of less than one request in most seconds is a load, too.
    for (std::size_t level = forecast::kMedianIndex; level < each.size(); ++level) {
      each[level] = std::max(each[level], expected);
    }
  }
  return quantiles;
}

Expected expect_of(const AskedService& service, const Stretch& stretch) {
  for (const SeenSecond& seen : service.news) service.learned->observe(seen);
  const auto tail_seconds = static_cast<double>(stretch.tail_seconds);
  Expected expected;
  expected.is_guess = !service.stated && service.learned->until == INT64_MIN;
  expected.loads.reserve(static_cast<std::size_t>(stretch.seconds + 1) * kSampleLevels.size());
  double sum = 0;
  double raised_sum = 0;
  std::int64_t second = 0;
  // The second after the window represents the tail.
  for (const forecast::Quantiles& each : quantiles_of(service, stretch.from_second, stretch.seconds + 1)) {
    const double weight = second++ < stretch.seconds ? 1 : tail_seconds;
    for (const std::size_t level : service.levels) {
      expected.loads.push_back(each[level]);
      raised_sum += weight * each[level];
    }
    for (const std::size_t level : kSampleLevels) sum += weight * each[level];
  }
  if (sum > 0) expected.raised = raised_sum / sum;
  expected.mean_rate = service.judged.next(stretch.from_second, sum / kSampleLevels.size(),
                                           static_cast<double>(stretch.seconds) + tail_seconds);
  return expected;
}

/// The forecasts of all services. Seconds are recorded as they are seen, and learned when a question is answered,
/// because with thousands of services learning takes a large part of a step.
class Forecasts {
 public:
  Forecasts(const Scenario& scenario, StatedLoad stated_load)
      : scenario_(scenario), stated_load_(stated_load), services_(scenario.services.size()) {}

  void observe(const Snapshot& snapshot) {
    services_.resize(snapshot.services.size());
    for (std::size_t index = 0; index < services_.size(); ++index) {
      const ServiceState& state = snapshot.services[index];
      Service& service = services_[index];
      if (state.number != service.number) {
        service = Service();
        service.number = state.number;
      }
      auto it = state.seconds.end();
      while (it != state.seconds.begin() && std::prev(it)->second > service.seen_until) --it;
      for (; it != state.seconds.end(); ++it) service.see({.second = it->second, .requests = it->arrivals});
      if (!is_asked_) service.learn_overdue();
    }
  }

  [[nodiscard]] Expect ask() {
    is_asked_ = true;
    auto asked = std::make_shared<std::vector<AskedService>>();
    asked->reserve(services_.size());
    for (std::uint32_t index = 0; index < services_.size(); ++index) {
      Service& service = services_[index];
      service.is_asked = true;
      asked->push_back({.learned = service.learned,
                        .news = {service.news.begin(), service.news.end()},
                        .judged = service.judged,
                        .stated = stated_rate({index}),
                        .stated_load = stated_load_,
                        .levels = answers_late(scenario_.services[index]) ? kLevelsOfLateAnswers : kSampleLevels});
    }
    return [asked](ServiceId service, const Stretch& stretch) { return expect_of((*asked)[service.index], stretch); };
  }

  void learn(std::int64_t from_second, const std::vector<double>& mean_rates) {
    is_asked_ = false;
    for (std::size_t index = 0; index < services_.size(); ++index) {
      Service& service = services_[index];
      // Another service may have taken this index since.
      if (std::exchange(service.is_asked, false) && index < mean_rates.size()) {
        service.judged.follow(from_second, mean_rates[index]);
      }
      service.forget_learned();
    }
  }

  [[nodiscard]] std::optional<forecast::Bands> bands(ServiceId id, std::int64_t second) {
    // The solver of an open question uses the forecasters, perhaps in another thread.
    if (is_asked_ || id.index >= services_.size() || stated_rate(id)) return std::nullopt;
    Service& service = services_[id.index];
    for (const SeenSecond& seen : service.news) service.learned->observe(seen);
    service.forget_learned();
    const std::int64_t until = service.learned->until;
    if (until == INT64_MIN || second <= until) return std::nullopt;
    return service.learned->forecaster.bands(second);
  }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.services_);
    archive.require(self.services_.size() == self.scenario_.services.size());
  }

 private:
  /// Seconds kept until a question; older ones are learned in the steps.
  static constexpr std::size_t kNewsMax = 100;

  struct Service {
    std::uint64_t number = 0;  ///< ServiceState::number; a new service starts empty
    std::int64_t seen_until = INT64_MIN;
    std::int64_t seen_seconds = 0;
    JudgedRate judged;
    /// Used by the solver of a question until `learn`.
    std::shared_ptr<Learned> learned = std::make_shared<Learned>();
    std::deque<SeenSecond> news;  ///< seen, and perhaps not learned yet
    bool is_asked = false;

    void see(const SeenSecond& seen) {
      news.push_back(seen);
      seen_until = seen.second;
      ++seen_seconds;
      judged.observe(seen.second, seen.requests);
    }

    /// Two at a time, as each step may bring a new one.
    void learn_overdue() {
      for (int i = 0; i < 2 && news.size() > kNewsMax; ++i) {
        learned->observe(news.front());
        news.pop_front();
      }
    }

    /// An engine that is rebuilt from its events has not solved the question itself, so it still has all of them to
    /// learn.
    void forget_learned() {
      while (!news.empty() && news.front().second <= learned->until) news.pop_front();
    }

    /// Saved only between questions.
    template <class Archive, class Self>
    static void archive_fields(Archive& archive, Self& self) {
      archive(self.number, self.seen_until, self.seen_seconds, self.judged, *self.learned, self.news);
    }
  };

  /// The rate that the owner expects, until the service has been seen for kExpectedSeconds.
  [[nodiscard]] std::optional<double> stated_rate(ServiceId id) const {
    const auto& expects = scenario_.services[id.index].expects;
    if (!expects || services_[id.index].seen_seconds >= kExpectedSeconds) return std::nullopt;
    return expects->to_double();
  }

  const Scenario& scenario_;
  StatedLoad stated_load_;
  std::vector<Service> services_;
  bool is_asked_ = false;  ///< a question is open
};

/// Requests per second of each service over the whole run.
std::vector<double> mean_rates_of_run(const Scenario& scenario,
                                      const std::function<std::int64_t(ServiceId, std::int64_t second)>& arrivals) {
  std::vector<double> rates;
  rates.reserve(scenario.services.size());
  const auto run_seconds = static_cast<double>(scenario.simulated_seconds());
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    double total = 0;
    const std::int64_t seconds = scenario.services[index].arrivals.seconds;
    for (std::int64_t second = 0; second < seconds; ++second) {
      total += static_cast<double>(arrivals(ServiceId{index}, second));
    }
    rates.push_back(std::max(kMeanRateMin, total / run_seconds));
  }
  return rates;
}

}  // namespace

OutlookSource forecast_outlook(const Scenario& scenario, StatedLoad stated) {
  const auto forecasts = std::make_shared<Forecasts>(scenario, stated);
  OutlookSource source;
  source.samples = static_cast<int>(kSampleLevels.size());
  source.observe = [forecasts](const Snapshot& snapshot) { forecasts->observe(snapshot); };
  source.ask = [forecasts] { return forecasts->ask(); };
  source.learn = [forecasts](std::int64_t from_second, const std::vector<double>& mean_rates) {
    forecasts->learn(from_second, mean_rates);
  };
  source.memory = memory_of(forecasts);
  source.forecast = [forecasts](ServiceId service, std::int64_t second) { return forecasts->bands(service, second); };
  return source;
}

OutlookSource known_counts_outlook(const Scenario& scenario,
                                   const std::function<std::int64_t(ServiceId, std::int64_t second)>& arrivals) {
  OutlookSource source = forecast_outlook(scenario, StatedLoad::kConstant);
  const auto rates = std::make_shared<const std::vector<double>>(mean_rates_of_run(scenario, arrivals));
  source.ask = [ask = std::move(source.ask), rates] {
    return [expect = ask(), rates](ServiceId service, const Stretch& stretch) {
      Expected expected = expect(service, stretch);
      expected.mean_rate = (*rates)[service.index];
      return expected;
    };
  };
  return source;
}

OutlookSource known_outlook(const Scenario& scenario,
                            std::function<std::int64_t(ServiceId, std::int64_t second)> arrivals) {
  std::vector<double> means = mean_rates_of_run(scenario, arrivals);
  Expect expect = [arrivals = std::move(arrivals), means = std::move(means)](ServiceId service,
                                                                             const Stretch& stretch) {
    Expected expected;
    expected.mean_rate = means[service.index];
    const std::int64_t end = stretch.from_second + stretch.seconds;
    for (std::int64_t second = stretch.from_second; second < end; ++second) {
      expected.loads.push_back(static_cast<double>(arrivals(service, second)));
    }
    double tail = 0;
    for (std::int64_t second = end; second < end + stretch.tail_seconds; ++second) {
      tail += static_cast<double>(arrivals(service, second));
    }
    expected.loads.push_back(tail / static_cast<double>(stretch.tail_seconds));
    return expected;
  };
  return {.samples = 1, .observe = {}, .ask = [expect] { return expect; }};
}

}  // namespace berth
