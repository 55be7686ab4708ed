/// Session: what was measured corrects what is decided, and forecasts are judged.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "domain/values/event.h"
#include "domain/values/snapshot.h"
#include "engine/loop/engine.h"
#include "live/session/forecast_book.h"
#include "live/session/object_names.h"
#include "live/session/series_feed.h"
#include "live/session/session.h"
#include "live/session/session_log.h"
#include "live/session/session_options.h"
#include "live/session/speed_estimator.h"
#include "sim/world/loop.h"

namespace berth::live {

const SpeedEstimator& Session::measured_speeds() const { return *measured_speeds_; }
const ForecastBook& Session::forecasts() const { return *forecasts_; }

void Session::learn_speeds() {
  if (is_over() || awaits_answer()) return;
  std::vector<SpeedMeasured> news = measured_speeds_->find_news(scenario_->speeds, now(), options_->learns_speed);
  // An earlier process may have had another option.
  for (const auto& [place, speed] : scenario_->speeds) {
    if (speed.is_used == options_->learns_speed) continue;
    news.push_back(
        {.place = place, .factor = speed.factor, .batches = speed.batches, .is_used = options_->learns_speed});
  }
  for (SpeedMeasured& measured : news) {
    // If it cannot be recorded, a later second tries again.
    if (!order_event({.at = now(), .what = std::move(measured)})) return;
  }
}

void Session::resume_calibration() {
  measured_speeds_->begin(now());
  forecasts_->begin_totals();
}

void Session::read_speed(ServiceId service) { series_->figures().read_spec(service); }

void Session::keep_forecasts() {
  constexpr std::int64_t kForecastEvery = 60;
  const std::int64_t minute = now().second() / kForecastEvery;
  if (minute == forecast_minute_ || is_solving()) return;
  const std::int64_t second = now().second() + kForecastAhead;
  bool is_any = false;
  for (std::uint32_t index = 0; index < snapshot().services.size(); ++index) {
    if (snapshot().services[index].is_absent) continue;
    const auto bands = loop_->engine().forecast({index}, second);
    if (!bands) continue;
    is_any = true;
    forecasts_->keep({index}, second, *bands);
  }
  if (is_any) forecast_minute_ = minute;
}

void Session::judge_forecast(const ServiceSecond& seen) {
  if (!forecasts_->note(seen)) return;
  const ForecastSums sums = forecasts_->recent(seen.service);
  log_->append(now(), EventKind::kForecastOff, service_object(std::as_const(scenario_->services)[seen.service.index]),
               fmt::format("{:.0f} of {} forecasts of the last 6 hours were within their 80 % band", sums.inside_80,
                           sums.judged));
}

}  // namespace berth::live
