/// The last events of the machine, for clients that wait for them. Each reader keeps its own position; a reader slower
/// than the ring loses the oldest events, as with the real library.
///
/// The GPUs share one ring, so it has room for the events that a failing GPU posts in seconds, from all of them at once.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

namespace berth::nvml_sim {

inline constexpr std::uint64_t kEventsMax = 32'768;

struct EventRecord {
  std::uint64_t type = 0;    ///< one bit, as NVML's event types
  std::uint64_t number = 0;  ///< the XID, or 0
  std::uint32_t gpu = 0;
  std::uint32_t gpu_instance = 0xFFFFFFFFU;
  std::uint32_t compute_instance = 0xFFFFFFFFU;
  std::uint32_t unused = 0;
};

struct EventRing {
  std::uint64_t posted = 0;  ///< events so far: the position after the last
  EventRecord events[kEventsMax];
};
static_assert(std::is_trivially_copyable_v<EventRing>);

/// Adds an event. If the process dies in between, the event is not added.
void post(EventRing& ring, const EventRecord& event);

/// The first event at or after a position that a reader waits for, and the position after it.
struct NextEvent {
  std::optional<EventRecord> event;
  std::uint64_t position = 0;
};
/// `wanted(event, position)` says whether the reader registered for it. O(events since the position), at most
/// kEventsMax.
template <class Wanted>
[[nodiscard]] NextEvent next_event(const EventRing& ring, std::uint64_t position, Wanted wanted) {
  if (ring.posted > kEventsMax && position < ring.posted - kEventsMax) position = ring.posted - kEventsMax;
  for (; position < ring.posted; ++position) {
    const EventRecord& event = ring.events[position % kEventsMax];
    if (wanted(event, position)) return {event, position + 1};
  }
  return {std::nullopt, position};
}

}  // namespace berth::nvml_sim
