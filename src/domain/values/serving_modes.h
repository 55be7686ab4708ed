/// How requests reach the replicas of a service, and how services share a GPU that is not partitioned.
#pragma once

namespace berth {

/// How services that share a whole GPU slow each other down.
enum class Sharing { kTimeSlices, kMps };

/// How a request reaches a replica: replicas pull it from the service's queue, or the router pushes it to one on
/// arrival.
enum class Dispatch { kPull, kPush };

}  // namespace berth
