/// Lines of the log about requests of clients.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <utility>

#include "apps/up/wall_clock.h"
#include "domain/tracing/sampling.h"
#include "surface/api/request_watch.h"

namespace berth::up {

/// {"event": "request", ...} for each write, and for each request that is refused. At most kLinesPerSecond, and none
/// while stderr would make a client wait; the others are counted: {"event": "requests_unlogged", "count": N}. Any
/// thread may call its functions.
class RequestLog {
 public:
  static constexpr std::int64_t kLinesPerSecond = 200;

  /// `wall_us`: the clock whose seconds count.
  explicit RequestLog(std::FILE* err, std::function<std::int64_t()> wall_us = wall_us_now)
      : err_(err), wall_us_(std::move(wall_us)) {}

  void add(const api::AnsweredRequest& request);
  /// Reports those that have no line, if some were counted in a second that is over. To be called from time to time.
  void report_unlogged();

 private:
  void report_unlogged_before(std::int64_t second);

  std::FILE* err_;
  std::function<std::int64_t()> wall_us_;
  std::mutex lock_;
  RateLimit limit_{kLinesPerSecond};
  std::int64_t unlogged_count_ = 0;
  std::int64_t unlogged_second_ = 0;  ///< of the latest of them
};

}  // namespace berth::up
