/// The trace of a client's write, as those see it who record the write and make plans after it.
#pragma once

#include <cstdint>
#include <optional>

#include "domain/tracing/trace_context.h"
#include "live/session/event_log.h"

namespace berth::live {

/// When something was recorded: wall time in microseconds since 1970.
struct CommitTimes {
  std::int64_t begin_us = 0;
  std::int64_t end_us = 0;
};

struct WriteTrace {
  TraceContext context;                    ///< of the span of the write
  std::optional<ObjectName> object;        ///< the service, GPU or node that it is about; absent: none of them
  std::optional<CommitTimes> commit = {};  ///< of its orders; absent: they are not recorded, or it has none
};

}  // namespace berth::live
