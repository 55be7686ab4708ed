/// Connections whose client has not sent a whole request yet: how long, and who has to make room.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

#include "base/core/instant.h"

namespace berth::edges::detail {

/// A client that sends a byte now and then would hold its connection for ever, as the library counts the time since the
/// last byte. Thread-safe. A connection is ended by shutting its socket down; its thread then closes it.
class WaitingConnections {
 public:
  struct Connection {
    int socket = -1;
    bool is_surplus = false;  ///< beyond the limit of the server
    bool is_waiting = true;   ///< for a request
    bool is_ended = false;    ///< its socket is shut down, and the library closes it soon
    std::chrono::steady_clock::time_point since;
  };

  /// Nothing: only counts, and ends none.
  WaitingConnections(std::optional<Micros> longest, unsigned count_max);
  WaitingConnections(const WaitingConnections&) = delete;
  WaitingConnections& operator=(const WaitingConnections&) = delete;
  ~WaitingConnections() { stop(); }

  /// Before its socket is closed `remove` must be called. The result is valid until then.
  [[nodiscard]] Connection* add(int socket);
  void remove(Connection* connection);  ///< null: does nothing
  /// A whole request is there; or an answer is complete, and the next request may come.
  void note_request(Connection* connection);
  void note_answer(Connection* connection);

  /// Ends the thread. A second call does nothing.
  void stop();

 private:
  void run();
  void make_room();
  void end(Connection& connection);

  const std::optional<Micros> longest_;
  const unsigned count_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Connection> connections_;  ///< addresses stay
  unsigned count_ = 0;                 ///< of those that are not ended
  bool is_stopped_ = false;
  std::thread thread_;
};

}  // namespace berth::edges::detail
