/// Signals that ask the program to stop, as a question that long work asks now and then.
#pragma once

#include "base/result.h"

namespace berth::cli {

/// While it lives, SIGINT, SIGTERM and SIGHUP do not kill the program in the middle of a write. Before `defer()` the
/// first one ends it at once with a message and status 130: nothing was written yet. After `defer()` it is noted, so
/// that the work can stop tidily; a second one ends the program at once. An ignored SIGHUP (nohup) stays ignored. At
/// most one at a time.
class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();

  void defer();
  [[nodiscard]] bool is_interrupted() const;
};

/// How a verb that was stopped ends.
[[nodiscard]] Error interrupted_error();

}  // namespace berth::cli
