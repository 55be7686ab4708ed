/// Lets a writer record without the session's lock.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "base/locks/fair_mutex.h"
#include "edges/live_driver/recorder.h"
#include "live/session/session.h"
#include "live/session/usage_book.h"

namespace berth::edges {

/// After this, readers have nothing to record: until the session changes they do not use the recorder. On failure
/// returns the reason. Requires: the turn is held, the lock is not.
[[nodiscard]] inline std::optional<std::string> quiesce(live::Session& session, FairMutex& lock, Recorder& recorder) {
  const std::scoped_lock hold(lock);
  session.refresh();
  return recorder.pending_usage().empty() ? std::nullopt : recorder.flush();
}

}  // namespace berth::edges
