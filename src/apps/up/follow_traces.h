/// Connects the session and the queue of writes of a running `berth up` to the spans of plans.
#pragma once

#include "edges/live_driver/write_queue.h"
#include "live/session/session_listener.h"

namespace berth::up {

struct UpParts;

/// Makes the spans of plans, if spans are sent.
void make_traces(UpParts& parts);
/// Passes on what the spans of plans need, if there are any. To be called with a listener that is complete otherwise.
void follow_plans(UpParts& parts, live::SessionListener& listener);
/// Likewise for the queue of writes.
[[nodiscard]] edges::WriteTracing write_tracing(UpParts& parts);

}  // namespace berth::up
