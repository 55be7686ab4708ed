/// Resumes suspended connections.
#pragma once

#include <microhttpd.h>

#include <atomic>
#include <thread>

namespace berth::edges::detail {

/// libmicrohttpd wakes its own threads for a connection that is resumed. Where it has none, this wakes the thread that
/// turns the server. Any thread may call `resume`.
class Resumer {
 public:
  /// For a server with threads of its own.
  Resumer() = default;
  Resumer(const Resumer&) = delete;
  Resumer& operator=(const Resumer&) = delete;
  ~Resumer();

  /// Before the first connection: the server has no threads, and this descriptor (epoll) of its own. False if the
  /// system has no descriptors left.
  [[nodiscard]] bool wake_whoever_turns(int server_descriptor);
  /// Readable if the server has something to do, or a connection was resumed by another thread than the one that turns.
  [[nodiscard]] int descriptor() const { return waited_; }
  /// A turn begins, on this thread.
  void begin_turn();

  void resume(MHD_Connection& connection);

 private:
  int waited_ = -1;  ///< epoll: the server's descriptor, and the next one
  int wake_ = -1;    ///< eventfd; -1: nobody turns the server
  std::atomic<bool> is_woken_ = false;
  std::atomic<std::thread::id> turning_ = {};
};

}  // namespace berth::edges::detail
