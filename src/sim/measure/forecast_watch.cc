#include "sim/measure/forecast_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/core/ensure.h"

namespace berth::measure {

ForecastWatch::ForecastWatch(const Scenario& scenario, int samples,
                             std::function<std::int64_t(ServiceId, std::int64_t second)> arrivals)
    : seconds_(scenario.simulated_seconds()),
      bins_(timeline_bins(scenario)),
      samples_(static_cast<std::size_t>(samples)),
      arrivals_(std::move(arrivals)),
      services_(std::min(scenario.services.size(), kForecastServicesMax)) {
  ENSURE(samples >= 3 && samples % 2 == 1);
  for (WatchedService& watched : services_) {
    for (LeadTally& tally : watched.by_lead) tally.bins.resize(bins_.count);
  }
}

void ForecastWatch::note(ServiceId service, const Stretch& stretch, const std::vector<double>& loads) {
  if (service.index >= services_.size()) return;
  ENSURE(loads.size() >= static_cast<std::size_t>(stretch.seconds) * samples_);
  settle(service, stretch.from_second);
  WatchedService& watched = services_[service.index];
  watched.from_second = stretch.from_second;
  watched.latest.clear();
  watched.latest.reserve(static_cast<std::size_t>(stretch.seconds));
  for (std::size_t at = 0; at < static_cast<std::size_t>(stretch.seconds) * samples_; at += samples_) {
    watched.latest.push_back({.low = loads[at], .median = loads[at + samples_ / 2], .high = loads[at + samples_ - 1]});
  }
}

void ForecastWatch::settle(ServiceId service, std::int64_t next) {
  WatchedService& watched = services_[service.index];
  ENSURE(watched.latest.empty() || next >= watched.from_second);
  const std::int64_t end = watched.from_second + static_cast<std::int64_t>(watched.latest.size());
  for (std::size_t lead = 0; lead < kForecastLeads.size(); ++lead) {
    const std::int64_t until = std::min({end, next + kForecastLeads[lead], seconds_});
    for (std::int64_t second = watched.from_second + kForecastLeads[lead]; second < until; ++second) {
      const Band& band = watched.latest[static_cast<std::size_t>(second - watched.from_second)];
      judge(service, second, band, watched.by_lead[lead]);
    }
  }
}

void ForecastWatch::judge(ServiceId service, std::int64_t second, const Band& band, LeadTally& tally) const {
  Bin& bin = tally.bins[static_cast<std::size_t>(second / bins_.bin_seconds)];
  bin.sum.low += band.low;
  bin.sum.median += band.median;
  bin.sum.high += band.high;
  ++bin.seconds;
  const auto arrived = static_cast<double>(arrivals_(service, second));
  ++tally.judged;
  if (band.low <= arrived && arrived <= band.high) ++tally.inside;
  tally.arrived += arrived;
  tally.error += std::abs(arrived - band.median);
}

ServiceForecast ForecastWatch::result_of(const LeadTally& tally) const {
  ServiceForecast forecast;
  forecast.low.resize(bins_.count);
  forecast.median.resize(bins_.count);
  forecast.high.resize(bins_.count);
  for (std::size_t index = 0; index < bins_.count; ++index) {
    const Bin& bin = tally.bins[index];
    const std::int64_t begin = static_cast<std::int64_t>(index) * bins_.bin_seconds;
    if (bin.seconds < std::min(bins_.bin_seconds, seconds_ - begin)) continue;
    const auto count = static_cast<double>(bin.seconds);
    forecast.low[index] = bin.sum.low / count;
    forecast.median[index] = bin.sum.median / count;
    forecast.high[index] = bin.sum.high / count;
  }
  forecast.judged_seconds = tally.judged;
  if (tally.judged > 0) {
    forecast.inside_share = static_cast<double>(tally.inside) / static_cast<double>(tally.judged);
  }
  if (tally.arrived > 0) forecast.wape = tally.error / tally.arrived;
  return forecast;
}

void ForecastWatch::finish_into(Insight& insight) {
  insight.band_share = 1 - 1 / static_cast<double>(samples_);
  for (std::uint32_t index = 0; index < services_.size(); ++index) {
    settle({index}, seconds_);
    services_[index].latest.clear();
  }
  for (std::size_t lead = 0; lead < kForecastLeads.size(); ++lead) {
    LeadForecast forecast{.lead_seconds = kForecastLeads[lead], .services = {}};
    forecast.services.reserve(services_.size());
    bool is_any = false;
    for (const WatchedService& watched : services_) {
      forecast.services.push_back(result_of(watched.by_lead[lead]));
      is_any = is_any || forecast.services.back().judged_seconds > 0;
    }
    if (is_any) insight.forecasts.push_back(std::move(forecast));
  }
}

OutlookSource watched_outlook(OutlookSource source, ForecastWatch& watch) {
  OutlookSource reported = source;
  reported.ask = [ask = std::move(source.ask), &watch] {
    return [expect = ask(), &watch](ServiceId service, const Stretch& stretch) {
      Expected expected = expect(service, stretch);
      watch.note(service, stretch, expected.loads);
      return expected;
    };
  };
  return reported;
}

}  // namespace berth::measure
