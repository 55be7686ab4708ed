#include "gpu/nvml_sim/event_ring.h"

namespace berth::nvml_sim {

void post(EventRing& ring, const EventRecord& event) {
  ring.events[ring.posted % kEventsMax] = event;
  ++ring.posted;
}

}  // namespace berth::nvml_sim
