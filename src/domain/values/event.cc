#include "domain/values/event.h"

#include "domain/values/service.h"
#include "domain/values/solution.h"

namespace berth {

bool operator==(const ServiceSet& a, const ServiceSet& b) {
  return a.service == b.service && a.revision == b.revision && *a.spec == *b.spec &&
         a.restarts_arrivals == b.restarts_arrivals && a.restarts_retraining == b.restarts_retraining &&
         a.renumbers_variants == b.renumbers_variants;
}

bool operator==(const SolveFinished& a, const SolveFinished& b) {
  return a.question == b.question && *a.solution == *b.solution;
}

bool operator==(const Event&, const Event&) = default;

void note_speed(SpeedFactors& speeds, const SpeedMeasured& measured, Instant at) {
  if (!measured.factor) {
    speeds.erase(measured.place);
    return;
  }
  speeds[measured.place] = {
      .factor = *measured.factor, .batches = measured.batches, .at = at, .is_used = measured.is_used};
}

}  // namespace berth
