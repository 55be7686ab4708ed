#include "surface/cli/shared/expected_duration.h"

namespace berth::cli {

double expected_replay_duration(const policy::Policy& policy, const policy::Settings& settings) {
  constexpr double kOfSearch = 30;
  constexpr double kOfPlanning = 30;
  if (policy.replans(settings)) return kOfPlanning;
  return policy.searches_by_replay ? kOfSearch : 1;
}

}  // namespace berth::cli
