/// Signals that ask the program to stop, in a form that long-running work polls.
#pragma once

#include "base/core/result.h"

namespace berth::cli {

/// While it exists, SIGINT, SIGTERM and SIGHUP do not kill the program in the middle of a write. Before `defer()`, the
/// first signal ends the program at once with a message and status 130: nothing was written yet. After `defer()`, it is
/// recorded, so that the work can stop cleanly; a second one ends the program at once. An ignored SIGHUP (nohup) stays
/// ignored. At most one object exists at a time.
class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();

  void defer();
  [[nodiscard]] bool is_interrupted() const;
};

/// The error with which an interrupted verb ends.
[[nodiscard]] Error interrupted_error();

}  // namespace berth::cli
