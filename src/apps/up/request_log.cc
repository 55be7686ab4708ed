#include "apps/up/request_log.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "apps/up/up_log.h"

namespace berth::up {
namespace {

constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr int kServerFault = 500;

/// Whether a line can be written without waiting: a pipe that nobody reads has no room.
bool has_room(std::FILE* file) {
  pollfd polled{.fd = ::fileno(file), .events = POLLOUT, .revents = 0};
  return polled.fd < 0 || ::poll(&polled, 1, 0) > 0;
}

}  // namespace

void RequestLog::add(const api::AnsweredRequest& request) {
  if (!request.is_write() && !request.is_refused()) return;
  // A gateway sends its records each second.
  const bool is_routine = request.route == "/v1/gateway/records" && !request.is_refused();
  if (is_routine) return;
  const std::int64_t now_us = wall_us_();
  const std::scoped_lock hold(lock_);
  report_unlogged_before(now_us / kMicrosPerSecond);
  if (!limit_.take(now_us) || !has_room(err_)) {
    ++unlogged_count_;
    unlogged_second_ = now_us / kMicrosPerSecond;
    return;
  }
  const LogLevel level = request.status >= kServerFault ? LogLevel::kWarning : LogLevel::kInfo;
  log_fields(err_, level, "request", [&](json::Writer& json) {
    json.member("request_id", request.id);
    json.key("trace_id");
    request.trace ? json.value(hex_of(*request.trace)) : json.value(nullptr);
    json.key("method");
    request.method.empty() ? json.value(nullptr) : json.value(request.method);
    json.member("route", request.route).member("status", request.status);
    json.member("ms", static_cast<double>(request.took.count()) / 1000).key("peer");
    request.peer.empty() ? json.value(nullptr) : json.value(request.peer);
  });
}

void RequestLog::report_unlogged() {
  const std::scoped_lock hold(lock_);
  report_unlogged_before(wall_us_() / kMicrosPerSecond);
}

void RequestLog::report_unlogged_before(std::int64_t second) {
  if (unlogged_count_ == 0 || unlogged_second_ >= second || !has_room(err_)) return;
  log_fields(err_, LogLevel::kInfo, "requests_unlogged",
             [&](json::Writer& json) { json.member("count", std::exchange(unlogged_count_, 0)); });
}

}  // namespace berth::up
