// For any arrivals and any gaps: forecasts are quantiles, finite, the same for the same history.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/core/archive.h"
#include "domain/forecast/forecaster.h"

namespace berth::forecast {
namespace {

struct Observation {
  std::int64_t gap = 1;
  std::int64_t requests = 0;
};

std::vector<Observation> any_history() {
  const auto lengths = *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 400));
  std::vector<Observation> history;
  for (const int length : lengths) {
    // A run of similar counts, from none to the limit of a second.
    const std::int64_t magnitude = *rc::gen::element<std::int64_t>(0, 1, 4, 60, 5'000, 10'000'000);
    const std::int64_t gap = *rc::gen::element<std::int64_t>(1, 1, 1, 2, 50, 4'000, 200'000);
    for (int i = 0; i < length; ++i) {
      history.push_back({.gap = i == 0 ? gap : 1, .requests = magnitude == 0 ? 0 : (i * 7'919) % (magnitude + 1)});
    }
  }
  return history;
}

void check_quantiles(const std::vector<Quantiles>& forecast) {
  for (const Quantiles& quantiles : forecast) {
    RC_ASSERT(quantiles.front() >= 0);
    RC_ASSERT(std::is_sorted(quantiles.begin(), quantiles.end()));
    for (const double quantile : quantiles) RC_ASSERT(std::isfinite(quantile) && quantile == std::floor(quantile));
  }
}

RC_GTEST_PROP(ForecasterProperty, AnyHistoryGivesQuantiles, ()) {
  const Model model = *rc::gen::elementOf(std::vector<Model>(kModels.begin(), kModels.end()));
  const std::vector<Observation> history = any_history();
  Forecaster forecaster(model);
  Forecaster again(model);
  std::int64_t second = *rc::gen::inRange<std::int64_t>(-200'000, 200'000);
  for (const Observation& observation : history) {
    second += observation.gap;
    forecaster.observe(second, observation.requests);
    again.observe(second, observation.requests);
  }
  const std::int64_t wait = *rc::gen::element<std::int64_t>(1, 2, 100, 100'000);
  const std::vector<Quantiles> forecast = forecaster.predict(second + wait, 120);
  check_quantiles(forecast);
  RC_ASSERT(forecast == again.predict(second + wait, 120));
  for (const double mean : forecaster.means(second + wait, 120)) RC_ASSERT(std::isfinite(mean) && mean >= 0);
  // One second of a longer forecast is the same as that second alone.
  RC_ASSERT(forecaster.predict(second + wait + 60, 1).at(0) == forecast.at(60));
}

RC_GTEST_PROP(ForecasterProperty, OneThatIsReadFromBytesGoesOnAsTheOther, ()) {
  const Model model = *rc::gen::elementOf(std::vector<Model>(kModels.begin(), kModels.end()));
  const std::vector<Observation> history = any_history();
  const auto saved_at = *rc::gen::inRange<std::size_t>(0, history.size() + 1);
  Forecaster straight(model);
  Forecaster saved(model);
  std::int64_t second = *rc::gen::inRange<std::int64_t>(-200'000, 200'000);
  for (std::size_t at = 0; at <= history.size(); ++at) {
    if (at == saved_at) {
      const std::string bytes = bytes_of(saved);
      saved = from_bytes<Forecaster>(bytes).value();
      RC_ASSERT(bytes_of(saved) == bytes);
    }
    if (at == history.size()) break;
    second += history[at].gap;
    straight.observe(second, history[at].requests);
    saved.observe(second, history[at].requests);
  }
  RC_ASSERT(saved.predict(second + 1, 300) == straight.predict(second + 1, 300));
  RC_ASSERT(saved.means(second + 1, 300) == straight.means(second + 1, 300));
  RC_ASSERT(bytes_of(saved) == bytes_of(straight));
}

}  // namespace
}  // namespace berth::forecast
