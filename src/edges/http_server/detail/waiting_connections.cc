#include "edges/http_server/detail/waiting_connections.h"

#include <sys/socket.h>

#include <algorithm>

namespace berth::edges::detail {
namespace {

constexpr std::chrono::milliseconds kLookPause{250};

}  // namespace

WaitingConnections::WaitingConnections(std::optional<Micros> longest, unsigned count_max)
    : longest_(longest), count_max_(count_max) {
  if (longest_) thread_ = std::thread([this] { run(); });
}

WaitingConnections::Connection* WaitingConnections::add(int socket) {
  const std::scoped_lock lock(mutex_);
  if (longest_ && count_ >= count_max_ - count_max_ / 8) make_room();
  const bool is_surplus = count_++ >= count_max_;
  connections_.push_back({.socket = socket, .is_surplus = is_surplus, .since = std::chrono::steady_clock::now()});
  return &connections_.back();
}

void WaitingConnections::make_room() {
  const auto oldest = std::ranges::min_element(connections_, {}, [](const Connection& each) {
    return each.is_waiting ? each.since : std::chrono::steady_clock::time_point::max();
  });
  if (oldest != connections_.end() && oldest->is_waiting) end(*oldest);
}

/// The client learns it at once; the library closes the socket itself.
void WaitingConnections::end(Connection& connection) {
  connection.is_waiting = false;
  connection.is_ended = true;
  --count_;
  ::shutdown(connection.socket, SHUT_RDWR);
}

void WaitingConnections::remove(Connection* connection) {
  if (connection == nullptr) return;
  const std::scoped_lock lock(mutex_);
  if (!connection->is_ended) --count_;
  connections_.remove_if([connection](const Connection& each) { return &each == connection; });
}

void WaitingConnections::note_request(Connection* connection) {
  const std::scoped_lock lock(mutex_);
  connection->is_waiting = false;
}

void WaitingConnections::note_answer(Connection* connection) {
  const std::scoped_lock lock(mutex_);
  connection->is_waiting = !connection->is_ended;
  connection->since = std::chrono::steady_clock::now();
}

void WaitingConnections::stop() {
  {
    const std::scoped_lock lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void WaitingConnections::run() {
  std::unique_lock lock(mutex_);
  const auto longest = std::chrono::microseconds(longest_->count());
  while (!is_stopped_) {
    const auto now = std::chrono::steady_clock::now();
    for (Connection& each : connections_) {
      if (each.is_waiting && now - each.since > longest) end(each);
    }
    changed_.wait_for(lock, kLookPause, [this] { return is_stopped_; });
  }
}

}  // namespace berth::edges::detail
