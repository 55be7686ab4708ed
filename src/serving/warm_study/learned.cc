#include "serving/warm_study/learned.h"

#include <cstddef>

#include "base/core/ensure.h"
#include "serving/warm/predictor.h"
#include "serving/warm/worth.h"
#include "serving/warm_study/by_minute.h"

namespace berth::warm {
namespace {

/// Tells the predictor each minute up to the last but one, and calls `decide` with the minute after it.
template <class Decide>
void follow_trace(const AppTrace& trace, Predictor& predictor, Decide decide) {
  const ByMinute minutes(trace);
  std::vector<Invoked> invoked;
  for (std::int64_t minute = 0; minute + 1 < trace.minutes; ++minute) {
    invoked.clear();
    for (const InvokedApp& each : minutes.at(minute)) invoked.push_back({.key = each.app, .count = each.invocations});
    predictor.finish_minute(minute, invoked);
    decide(minute + 1);
  }
}

double weight_of(const Problem& problem, const KeyHistory& history) {
  return problem.weigh == Weigh::kApps ? weight_of_app(history.invocations) : 1;
}

}  // namespace

std::vector<std::vector<LoadedMinutes>> loaded_where_worth(const Problem& problem,
                                                           std::span<const std::int64_t> cold_minutes) {
  const AppTrace& trace = *problem.trace;
  std::vector<std::vector<LoadedMinutes>> loaded(cold_minutes.size(), std::vector<LoadedMinutes>(trace.apps.size()));
  Predictor predictor(trace.apps.size());
  follow_trace(trace, predictor, [&](std::int64_t minute) {
    for (std::size_t app = 0; app < trace.apps.size(); ++app) {
      const auto probability = predictor.probability(app);
      if (!probability) continue;
      const double weight = weight_of(problem, predictor.history(app));
      for (std::size_t i = 0; i < cold_minutes.size(); ++i) {
        if (!is_worth_loading(*probability, weight * static_cast<double>(cold_minutes[i]))) continue;
        loaded[i][app].add({.from = minute, .to = minute + 1});
      }
    }
  });
  return loaded;
}

std::vector<LoadedMinutes> loaded_by_value(const Problem& problem) {
  ENSURE(problem.memory.has_value());
  const AppTrace& trace = *problem.trace;
  std::vector<LoadedMinutes> loaded(trace.apps.size());
  std::vector<Loadable> candidates;
  Predictor predictor(trace.apps.size());
  follow_trace(trace, predictor, [&](std::int64_t minute) {
    candidates.clear();
    for (std::size_t app = 0; app < trace.apps.size(); ++app) {
      const auto probability = predictor.probability(app);
      if (!probability) continue;
      candidates.push_back({.key = app,
                            .value = *probability * weight_of(problem, predictor.history(app)),
                            .size = problem.memory->app_mib[app]});
    }
    for (const std::size_t app : most_valuable(candidates, problem.memory->mib)) {
      loaded[app].add({.from = minute, .to = minute + 1});
    }
  });
  return loaded;
}

}  // namespace berth::warm
